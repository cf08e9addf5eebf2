"""What reading documents costs: several looks at a text, and words, sentences, document (HAN).

    look      tanh(W·h)·q, then Σ α·h: features·w parameters, tokens·w·(features + …) products
    HAN       a body within sentences, a look at each, a stack among them, a look at all

How many sentences a text has, only the data can say: a text is taken to be cut into even ones.
"""

from regard.account.blocks import bare_stack, embedding, stack
from regard.account.facts import Facts
from regard.account.ledger import FLOAT, Entry, Ledger, Seq, headed
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


def hierarchy(settings: ModelSettings, facts: Facts, seq: Seq) -> Ledger:
    """Say what words, sentences and document cost, up to the vector of the document."""
    width, documents = settings.ends_in, settings.documents
    words = min(documents.words, SENTENCE, seq.length)
    sentences = max(1, seq.length // (words + 1))
    within, among = Seq(seq.rows * sentences, words), Seq(seq.rows, sentences)
    read = bare_stack if settings.bare else stack
    causal = bool(settings.causal)
    entries = [
        *embedding(settings, facts.vocabulary, within),
        *read(settings, settings.depth, within, causal=causal),
    ]
    sweeps = {"none": 0, "earlier": 1, "both": 2}[documents.context]
    one = look(width, within, features=width)
    entries += [one] if not sweeps else [_by_context(settings, one, within)] * sweeps
    own = _among(settings)
    if isinstance(own.mixer, AttentionSettings) and isinstance(own.position, LearnedSettings):
        entries.append(Entry("positions", own.position.positions * width))
    entries += read(own, documents.depth, among, causal=False)
    return [*entries, *headed([look(width, among, features=width)])]


def _by_context(settings: ModelSettings, one: Entry, within: Seq) -> Entry:
    """Book a look that other sentences decide: one more matrix, and perhaps a gate."""
    width, gated = settings.ends_in, settings.documents.gated
    more = width**2 + gated * (2 * width + 1)
    macs = within.rows * width**2 + gated * (within.tokens + within.rows) * width
    return one._replace(parameters=one.parameters + more, macs=one.macs + macs)


def _among(settings: ModelSettings) -> ModelSettings:
    """Say what mixes sentences; see :mod:`regard.models.documents.from_recipe`."""
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
