"""What reading documents costs: several looks at a text, and words, sentences, document (HAN).

    look      tanh(W·h)·q, then Σ α·h: features·w parameters, tokens·w·(features + …) products
    HAN       a body within sentences, a look at each, a stack among them, a look at all

Sentences are read in groups of about the same length, then looked at in one table as wide as the
longest. Which there are, a batch can say; without one, a text is taken to be cut into even ones.
"""

from regard.ledger.blocks import bare_stack, embedding, stack
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, again, headed
from regard.ledger.load import Facts, Load, Sentences
from regard.recipe.model import (
    AttentionSettings,
    LearnedSettings,
    ModelSettings,
    RecurrentSettings,
)

SENTENCE = 16
"""Words of a sentence where nobody says."""


def look(width: int, seq: Seq, *, hops: int = 1, features: int, biases: bool = True) -> Entry:
    """Say what learned queries cost that look at every text."""
    return Entry(
        "pooling",
        width * features + features * biases + hops * features,
        seq.tokens * (width * features + hops * (features + width)),
        saved=FLOAT * seq.tokens * (2 * width + features + 2 * hops),
        passing=FLOAT * seq.tokens * (width + features),
    )


def hops_head(settings: ModelSettings, seq: Seq) -> tuple[Ledger, int]:
    """Say what the structured embedding costs; return it with the size of what it gives."""
    chosen, width = settings.head.hops, settings.ends_in
    hops, rows = chosen.hops, seq.rows
    looks = look(width, seq, hops=hops, features=chosen.features, biases=False)
    alike = rows * hops * hops * seq.length if chosen.penalty != "none" else 0
    entries = [looks, Entry("penalty", 0, alike)]
    if chosen.narrow == "dense":
        size = hops * width * chosen.dense
        entries.append(Entry("pooling", size + chosen.dense, rows * size))
        return headed(entries), chosen.dense
    if chosen.narrow == "pruned":
        size = hops * width * (chosen.row_features + chosen.column_features)
        entries.append(Entry("pooling", size, rows * size))
        outputs = hops * chosen.row_features + width * chosen.column_features
        return headed(entries), outputs
    return headed(entries), hops * width


def hierarchy(settings: ModelSettings, facts: Facts, load: Load) -> Ledger:
    """Say what words, sentences and document cost, up to the vector of the document."""
    width, documents = settings.ends_in, settings.documents
    sentences = load.sentences or _even(load.seq, documents.words)
    among = Seq(load.rows, max(1, len(sentences.places)))
    read = bare_stack if settings.bare else stack
    passed = [
        [
            *embedding(settings, facts.vocabulary, group),
            *read(settings, settings.depth, group, causal=bool(settings.causal)),
        ]
        for group in sentences.groups
    ]
    entries = [entry for group in passed[:-1] for entry in again(group)] + passed[-1]
    one = look(width, sentences.table, features=width)
    entries += {
        "none": [one],
        "earlier": [_by_context(settings, one, sentences, first=0)],
        "both": [_by_context(settings, one, sentences, first=end) for end in (0, -1)],
    }[documents.context]
    own = _among(settings)
    if isinstance(own.mixer, AttentionSettings) and isinstance(own.position, LearnedSettings):
        entries.append(Entry("positions", own.position.positions * width))
    entries += read(own, documents.depth, among, causal=False)
    return [*entries, *headed([look(width, among, features=width)])]


def _even(texts: Seq, longest: int) -> Sentences:
    """Cut texts into sentences that are all alike, where no batch says otherwise."""
    words = min(longest, SENTENCE, texts.length)
    each = max(1, texts.length // (words + 1))
    return Sentences((Seq(texts.rows * each, words),), (texts.rows,) * each)


def _by_context(settings: ModelSettings, one: Entry, sentences: Sentences, *, first: int) -> Entry:
    """Book a sweep of looks that other sentences decide: one more matrix, and perhaps a gate.

    Where a sweep begins there is no context yet, and nothing to learn of it.
    """
    width, gated = settings.ends_in, settings.documents.gated
    met = width**2 + gated * width
    macs = one.macs + sentences.table.rows * met + gated * sentences.table.tokens * width
    begins = sentences.places[first] if sentences.places else 0
    more = width**2 + gated * (2 * width + 1)
    return one._replace(parameters=one.parameters + more, macs=macs, back=2 * macs - begins * met)


def _among(settings: ModelSettings) -> ModelSettings:
    """Say what mixes sentences; see :mod:`regard.models.build.labels`."""
    asked = {
        "same": settings.mixer,
        "attention": AttentionSettings(),
        "gru": RecurrentSettings(kind="recurrent", cell="gru"),
        "lstm": RecurrentSettings(kind="recurrent", cell="lstm"),
    }
    update = {
        "width": settings.ends_in,
        "states": None,
        "mixer": asked[settings.documents.mixer],
    }
    return settings.model_copy(update=update)


def pointer(width: int, queries: Seq, keys: Seq) -> Ledger:
    """Say what copying costs: a look of its own into the source, and a gate."""
    looked = 2 * queries.tokens * keys.length * width
    projected = (queries.tokens + 2 * keys.tokens) * width**2 + queries.tokens * 2 * width
    table = FLOAT * queries.tokens * keys.length
    return [
        Entry(
            "copying",
            3 * width**2 + 2 * width + 1,
            projected + looked,
            saved=FLOAT * width * (3 * queries.tokens + 4 * keys.tokens) + 3 * table,
            passing=2 * table,
            matrices=((width, width),) * 3,
            body=False,
        )
    ]
