"""Captions of attention maps."""

_WEIGHT = "A stronger cell is a higher attention weight of this head"
_SOURCE = "Each row is a word that the model wrote, each column a word of the source."
_OWN = f"Each row is a word of the text, each column a word that is visible to it. {_WEIGHT}"
WHAT_IT_SHOWS = {
    "cross": f"{_SOURCE} {_WEIGHT} while the row's word was written.",
    "pointer": (
        f"{_SOURCE} A stronger cell is a higher probability that the row's word is copied from it."
    ),
    "encoder": f"{_OWN} from the row's word to the column's.",
    "decoder": (
        "Each row is a word that the model wrote, each column a word written before it. "
        f"{_WEIGHT} while the row's word was written."
    ),
    "self": f"{_OWN} from the row's word to the column's.",
    "pool": (
        "Each row is a hop of the pooling, each column a word of the text. A stronger cell is a "
        "higher weight of the word in that hop."
    ),
    "words": (
        "Each row is a sentence, each column a word of the text. A stronger cell is a higher "
        "weight of the word in its sentence; words of other sentences have none."
    ),
    "sentences": (
        "The row is the document, each column a sentence. A stronger cell is a higher weight of "
        "the sentence in the document."
    ),
}
NOT_A_REASON = (
    "An attention map shows from where one head mixes information, not why the model answered as "
    "it did. Other heads and layers and the residual stream carry information too; the states that "
    "are attended to already contain information about neighbouring words; and other weights can "
    "lead to the same answer. Before concluding anything from a map, remove a word and see "
    "whether the answer changes."
)
