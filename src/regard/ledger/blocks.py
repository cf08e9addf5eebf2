"""What the layers cost, each by the formula of its equation.

    attention     4·w² parameters; (2·queries + 2·keys)·w² + 2·queries·keys·w products a row
    feed-forward  2·w·f (SwiGLU 3·w·f), the same for every token
    GRU, LSTM     3 or 4 · h·(w + h) a token and direction; the first step has no past to learn from
    convolution   k·w² a token
    norm          w, and w more where there is a bias

Kept for the way back (``saved``) is what torch's own kernels keep in float32: the inputs of every
product, queries, keys, values and what was seen; no n × n table where the fused kernel is used.
"""

import math
from collections.abc import Iterator

from regard.ledger.entry import FLOAT, Entry, Ledger, Seq
from regard.ledger.load import Facts
from regard.recipe.model import (
    AttentionSettings,
    ConvolutionSettings,
    LearnedSettings,
    ModelSettings,
    RecurrentSettings,
    RelativeSettings,
    RotarySettings,
    SinusoidalSettings,
)

GATES = {"gru": 3, "lstm": 4}
INNER_SAVED = {"relu": 1, "gelu": 2, "relu2": 2, "swiglu": 4}
"""Tensors of the inner layer that are kept: relu's own output serves twice."""


def embedding(settings: ModelSettings, vocabulary: int, seq: Seq) -> Ledger:
    """Say what tokens cost when they enter: a look-up multiplies nothing."""
    own = position_width(settings)
    width, chosen = settings.width - own, settings.embedding
    entries = [Entry("embedding", vocabulary * width, saved=8 * seq.tokens)]
    if chosen.ngrams > 1:
        lengths = chosen.ngrams - 1
        read = min(chosen.ngram_rows, seq.tokens) if chosen.ngram_lazy else chosen.ngram_rows
        entries.append(
            Entry(
                "n-grams",
                lengths * chosen.ngram_rows * width,
                saved=8 * lengths * seq.tokens,
                gradient=lengths * read * width,
            )
        )
    if chosen.segments:
        entries.append(Entry("segments", chosen.segments * width, saved=8 * seq.tokens))
    if isinstance(settings.position, LearnedSettings):
        wide = own or settings.width
        entries.append(Entry("positions", settings.position.positions * wide))
    if chosen.norm:
        entries.append(norm(settings, seq))
    return [*entries, *_dropped(settings.dropout, settings.width, seq)]


def position_width(settings: ModelSettings) -> int:
    """Features that a position takes for itself, where it stands beside the token."""
    place = settings.position
    beside = (
        isinstance(place, SinusoidalSettings | LearnedSettings) and place.joined == "concatenated"
    )
    return settings.width // 4 * 2 if beside else 0


def stack(
    settings: ModelSettings,
    depth: int,
    seq: Seq,
    *,
    causal: bool,
    context: Seq | None = None,
) -> Ledger:
    """Say what ``depth`` blocks cost; with a ``context`` they look into it."""
    entries = [*_relative(settings)] if depth else []
    for _ in range(depth):
        entries += _mixer(settings, seq, causal=causal)
        if context is not None:
            cross = _crossing(settings)
            entries.append(norm(settings, seq))
            entries += attention(settings, cross, seq, context, part="cross-attention")
            entries += _dropped(settings.dropout, settings.width, seq)
        entries += feed_forward(settings, seq)
    last = settings.norm_order == "pre" and settings.last_norm
    return [*entries, norm(settings, seq)] if last else entries


def bare_stack(settings: ModelSettings, depth: int, seq: Seq, *, causal: bool) -> Ledger:
    """Say what mixers alone cost, the first of which goes from ``width`` to where states end."""
    own = settings.model_copy(update={"width": settings.ends_in})
    entries = [*_relative(own)]
    for entering in [settings.width] + [own.width] * (depth - 1):
        entries += _mixing(own, seq, causal=causal, entering=entering)
        entries += _dropped(settings.dropout, own.width, seq)
    return entries


def _mixer(settings: ModelSettings, seq: Seq, *, causal: bool) -> Ledger:
    own = _mixing(settings, seq, causal=causal, entering=settings.width)
    return [norm(settings, seq), *own, *_dropped(settings.dropout, settings.width, seq)]


def _mixing(settings: ModelSettings, seq: Seq, *, causal: bool, entering: int) -> Ledger:
    mixer = settings.mixer
    if isinstance(mixer, AttentionSettings):
        return attention(settings, mixer, seq, seq)
    if isinstance(mixer, RecurrentSettings):
        return [_recurrent(settings.width, mixer.cell, seq, causal=causal, entering=entering)]
    return [_convolution(settings.width, mixer, seq)]


def _crossing(settings: ModelSettings) -> AttentionSettings:
    """Return how a decoder looks into its source: by attention, whatever mixes within a text."""
    mixer = settings.mixer
    if isinstance(mixer, AttentionSettings):
        return mixer
    return AttentionSettings(heads=math.gcd(settings.width, 4))


def attention(
    settings: ModelSettings,
    mixer: AttentionSettings,
    queries: Seq,
    keys: Seq,
    *,
    part: str = "attention",
) -> Ledger:
    """Say what one layer's looks cost: the projections, and scores with what is seen."""
    width, heads = settings.width, mixer.heads
    learned = 4 * width**2 + 4 * width * mixer.biases
    learned += 2 * (width // heads) * mixer.normed + width * (mixer.score == "additive")
    kept = queries.tokens + 2 * keys.tokens  # queries, keys and values
    if mixer.normed:
        kept += queries.tokens + keys.tokens + (queries.tokens + keys.tokens) * heads // width
    macs = (2 * queries.tokens + 2 * keys.tokens) * width**2
    projected = Entry(
        part,
        learned,
        macs,
        back=2 * macs + (queries.tokens + keys.tokens) * width * mixer.normed,
        saved=FLOAT * width * (queries.tokens + kept),
        passing=3 * FLOAT * width * queries.tokens,
        matrices=((width, width),) * 4,
    )
    looked = 2 * queries.tokens * keys.length * width
    passing = 3 * FLOAT * width * max(queries.tokens, keys.tokens)
    own = part == "attention"
    saved, more = _looks_saved(settings, mixer, queries, keys, own=own)
    return [projected, Entry("scores", 0, looked, saved=saved, passing=passing + more)]


def _looks_saved(
    settings: ModelSettings,
    mixer: AttentionSettings,
    queries: Seq,
    keys: Seq,
    *,
    own: bool,
) -> tuple[int, int]:
    """Bytes that looks keep, and that they need for a moment more on the way back."""
    width, cells = settings.width, queries.rows * queries.length * keys.length
    seen = FLOAT * width * queries.tokens
    table = FLOAT * mixer.heads * cells
    biased = isinstance(settings.position, RelativeSettings) and own
    plain = mixer.score == "scaled-dot" and mixer.select == "softmax" and not mixer.dropout
    turned = 2 * FLOAT * keys.length * width // mixer.heads
    rotary = turned if isinstance(settings.position, RotarySettings) else 0
    if plain and not biased:
        return seen + FLOAT * mixer.heads * queries.tokens + rotary, 0
    if plain:  # the bias is learned, so the kernel takes the long way
        return seen + 2 * FLOAT * width * keys.tokens + table + rotary, 2 * table
    kept = 2 * table + (mixer.heads * cells if mixer.dropout else 0) + cells
    if mixer.select == "argmax":
        kept += table
    if mixer.score == "additive":
        return seen + kept + FLOAT * width * cells + rotary, 2 * FLOAT * width * cells
    return seen + kept + rotary, 2 * table


def feed_forward(settings: ModelSettings, seq: Seq) -> Ledger:
    """Say what thinking costs, norm and dropout included."""
    width, inner = settings.width, settings.feed_forward
    gated = settings.activation == "swiglu"
    matrices = ((inner, width),) * (1 + gated) + ((width, inner),)
    biases = settings.biases * (inner * (1 + gated) + width)
    kept = width + INNER_SAVED[settings.activation] * inner
    thinking = Entry(
        "feed-forward",
        (2 + gated) * width * inner + biases,
        seq.tokens * (2 + gated) * width * inner,
        saved=FLOAT * seq.tokens * kept,
        passing=FLOAT * seq.tokens * (inner + width),
        matrices=matrices,
    )
    return [norm(settings, seq), thinking, *_dropped(settings.dropout, width, seq)]


def norm(settings: ModelSettings, seq: Seq) -> Entry:
    """Say what one norm costs: its input is kept, and one or two numbers a token."""
    layered = settings.norm == "layer"
    learned = settings.width * (1 + (layered and settings.biases))
    saved = FLOAT * seq.tokens * (settings.width + 1 + layered)
    return Entry(
        "norms",
        learned,
        back=0 if layered else seq.tokens * settings.width,  # the gain's gradient
        saved=saved,
        passing=2 * FLOAT * seq.tokens * settings.width,
    )


def _dropped(share: float, width: int, seq: Seq) -> Iterator[Entry]:
    """Book a byte for every number that may be silenced."""
    if round(256 * share):
        yield Entry("dropout", saved=seq.tokens * width)


def _relative(settings: ModelSettings) -> Iterator[Entry]:
    """Book biases by distance, which the blocks of one stack share."""
    position, mixer = settings.position, settings.mixer
    if isinstance(position, RelativeSettings) and isinstance(mixer, AttentionSettings):
        distances = position.buckets or 2 * position.positions - 1
        yield Entry("positions", mixer.heads * distances)


def _recurrent(width: int, cell: str, seq: Seq, *, causal: bool, entering: int) -> Entry:
    gates, directions = GATES[cell], 1 if causal else 2
    hidden = width // directions
    entered = seq.tokens * gates * hidden * entering
    past = seq.tokens * gates * hidden * hidden
    # What was before the first step is no parameter: nothing is learned of it.
    first = seq.rows * gates * hidden * hidden
    kept = seq.tokens * (entering + directions * (2 * gates + 3) * hidden)
    if cell == "lstm":
        # oneDNN's workspace, as measured: the gates, and eleven vectors before and after each step.
        steps = seq.tokens + seq.rows
        space = seq.tokens * gates * hidden + steps * (5 * hidden + 6 * max(hidden, entering))
        kept = directions * (space + seq.tokens * (entering + hidden))
    return Entry(
        "recurrence",
        directions * (gates * hidden * (entering + hidden) + 2 * gates * hidden),
        directions * (entered + past),
        back=directions * (2 * entered + 2 * past - first),
        saved=FLOAT * kept,
        passing=FLOAT * seq.tokens * (gates * hidden + width),
    )


def _convolution(width: int, mixer: ConvolutionSettings, seq: Seq) -> Entry:
    return Entry(
        "convolution",
        mixer.kernel * width**2 + width,
        seq.tokens * mixer.kernel * width**2,
        saved=FLOAT * (seq.tokens + seq.rows * (mixer.kernel - 1)) * width + seq.tokens,
        passing=3 * FLOAT * seq.tokens * width,
    )


def body(model: ModelSettings, facts: Facts, seq: Seq, *, causal: bool) -> Ledger:
    """Say what reading texts costs, from tokens to states."""
    read = bare_stack if model.bare else stack
    return [
        *embedding(model, facts.vocabulary, seq),
        *read(model, model.depth, seq, causal=causal),
    ]
