"""Costs of documents: attention pooling with learned queries, hierarchical networks, copying.

    pooling   tanh(W·h)·q, then Σ α·h: features·w parameters, tokens·w·(features + …) products
    HAN       a body within sentences, pooling of each, a stack across them, pooling of all

Sentences are encoded in batches of about the same length, then pooled in one tensor padded to the
longest. A real batch determines them; without one, sentences are assumed to be of equal length.
"""

from regard.ledger.blocks import bare_stack, embedding, stack
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, mark_as_head, repeat_pass
from regard.ledger.load import Facts, Load, Sentences
from regard.recipe.model import (
    AttentionSettings,
    LearnedSettings,
    ModelSettings,
    RecurrentSettings,
)

SENTENCE = 16
"""Assumed words of a sentence."""


def attention_pooling(
    width: int, seq: Seq, *, hops: int = 1, features: int, biases: bool = True
) -> Entry:
    """Cost of pooling every text by learned queries."""
    return Entry(
        "pooling",
        width * features + features * biases + hops * features,
        seq.tokens * (width * features + hops * (features + width)),
        saved=FLOAT * seq.tokens * (2 * width + features + 2 * hops),
        workspace=FLOAT * seq.tokens * (width + features),
    )


def hops_head(settings: ModelSettings, seq: Seq) -> tuple[Ledger, int]:
    """Return the cost of the structured self-attentive embedding, and its output size."""
    chosen, width = settings.head.hops, settings.ends_in
    hops, rows = chosen.hops, seq.rows
    pooling = attention_pooling(width, seq, hops=hops, features=chosen.features, biases=False)
    overlap = rows * hops * hops * seq.length if chosen.penalty != "none" else 0
    entries = [pooling, Entry("penalty", 0, overlap)]
    if chosen.narrow == "dense":
        size = hops * width * chosen.dense
        entries.append(Entry("pooling", size + chosen.dense, rows * size))
        return mark_as_head(entries), chosen.dense
    if chosen.narrow == "pruned":
        size = hops * width * (chosen.row_features + chosen.column_features)
        entries.append(Entry("pooling", size, rows * size))
        outputs = hops * chosen.row_features + width * chosen.column_features
        return mark_as_head(entries), outputs
    return mark_as_head(entries), hops * width


def hierarchy(settings: ModelSettings, facts: Facts, load: Load) -> Ledger:
    """Cost of words, sentences and document, up to the document's vector."""
    width, documents = settings.ends_in, settings.documents
    sentences = load.sentences or _equal_sentences(load.seq, documents.words)
    across = Seq(load.rows, max(1, len(sentences.counts)))
    blocks = bare_stack if settings.bare else stack
    groups = [
        [
            *embedding(settings, facts.vocabulary, group),
            *blocks(settings, settings.depth, group, causal=bool(settings.causal)),
        ]
        for group in sentences.groups
    ]
    entries = [entry for group in groups[:-1] for entry in repeat_pass(group)] + groups[-1]
    one = attention_pooling(width, sentences.padded, features=width)
    entries += {
        "none": [one],
        "earlier": [_contextual_pooling(settings, one, sentences, first=0)],
        "both": [_contextual_pooling(settings, one, sentences, first=end) for end in (0, -1)],
    }[documents.context]
    own = _sentence_settings(settings)
    if isinstance(own.mixer, AttentionSettings) and isinstance(own.position, LearnedSettings):
        entries.append(Entry("positions", own.position.positions * width))
    entries += blocks(own, documents.depth, across, causal=False)
    return [*entries, *mark_as_head([attention_pooling(width, across, features=width)])]


def _equal_sentences(texts: Seq, longest: int) -> Sentences:
    """Assume sentences of equal length."""
    words = min(longest, SENTENCE, texts.length)
    each = max(1, texts.length // (words + 1))
    return Sentences((Seq(texts.rows * each, words),), (texts.rows,) * each)


def _contextual_pooling(
    settings: ModelSettings, plain: Entry, sentences: Sentences, *, first: int
) -> Entry:
    """Count pooling whose queries depend on other sentences: one more matrix, perhaps a gate.

    The first sentence of a document has no context, so no gradient through it.
    """
    width, gated = settings.ends_in, settings.documents.gated
    context = width**2 + gated * width
    padded = sentences.padded
    macs = plain.macs + padded.rows * context + gated * padded.tokens * width
    begins = sentences.counts[first] if sentences.counts else 0
    more = width**2 + gated * (2 * width + 1)
    backward = 2 * macs - begins * context
    return plain._replace(parameters=plain.parameters + more, macs=macs, backward=backward)


def _sentence_settings(settings: ModelSettings) -> ModelSettings:
    """Return the settings of the sentence level; see :mod:`regard.models.build.labels`."""
    mixers = {
        "same": settings.mixer,
        "attention": AttentionSettings(),
        "gru": RecurrentSettings(kind="recurrent", cell="gru"),
        "lstm": RecurrentSettings(kind="recurrent", cell="lstm"),
    }
    update = {
        "width": settings.ends_in,
        "states": None,
        "mixer": mixers[settings.documents.mixer],
    }
    return settings.model_copy(update=update)


def pointer(width: int, queries: Seq, keys: Seq) -> Ledger:
    """Cost of copying: an attention of its own to the source, and a gate."""
    scored = 2 * queries.tokens * keys.length * width
    projected = (queries.tokens + 2 * keys.tokens) * width**2 + queries.tokens * 2 * width
    table = FLOAT * queries.tokens * keys.length
    return [
        Entry(
            "copying",
            3 * width**2 + 2 * width + 1,
            projected + scored,
            saved=FLOAT * width * (3 * queries.tokens + 4 * keys.tokens) + 3 * table,
            workspace=2 * table,
            matrices=((width, width),) * 3,
            body=False,
        )
    ]
