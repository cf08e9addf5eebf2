"""Captions of attention maps."""

WHAT_IT_SHOWS = {
    "cross": (
        "Each row is a word that the model wrote, each column a word of the source. A stronger "
        "cell is a higher attention weight of this head while the row's word was written."
    ),
    "self": (
        "Each row is a word of the text, each column a word that is visible to it. A stronger cell "
        "is a higher attention weight of this head from the row's word to the column's."
    ),
}
NOT_A_REASON = (
    "An attention map shows from where one head mixes information, not why the model answered as "
    "it did. Other heads and layers and the residual stream carry information too; the states that "
    "are attended to already contain information about neighbouring words; and other weights can "
    "lead to the same answer. Before concluding anything from a map, remove a word and see "
    "whether the answer changes."
)
