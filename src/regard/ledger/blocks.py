"""Costs of the layers, each by the formula of its equation.

    attention     4·w² parameters; (2·queries + 2·keys)·w² + 2·queries·keys·w products a row
    feed-forward  2·w·f (SwiGLU 3·w·f), the same for every token
    GRU, LSTM     3 or 4 · h·(w + h) a token and direction; the first step has no recurrent gradient
    convolution   k·w² a token
    norm          w, and w more with a bias

``saved`` is what torch's kernels save for the backward pass in float32: the inputs of every
product, queries, keys, values and their mixture; no n × n scores where the fused kernel is used.
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
"""Saved tensors of the inner layer; the output of relu serves twice."""


def embedding(settings: ModelSettings, vocabulary: int, seq: Seq) -> Ledger:
    """Cost of embedding tokens: a lookup multiplies nothing."""
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
                gradient_size=lengths * read * width,
            )
        )
    if chosen.segments:
        entries.append(Entry("segments", chosen.segments * width, saved=8 * seq.tokens))
    if isinstance(settings.position, LearnedSettings):
        wide = own or settings.width
        entries.append(Entry("positions", settings.position.positions * wide))
    if chosen.norm:
        entries.append(norm(settings, seq))
    return [*entries, *_dropout(settings.dropout, settings.width, seq)]


def position_width(settings: ModelSettings) -> int:
    """Return the features of a concatenated position."""
    place = settings.position
    concatenated = (
        isinstance(place, SinusoidalSettings | LearnedSettings) and place.joined == "concatenated"
    )
    return settings.width // 4 * 2 if concatenated else 0


def stack(
    settings: ModelSettings,
    depth: int,
    seq: Seq,
    *,
    causal: bool,
    context: Seq | None = None,
) -> Ledger:
    """Cost of ``depth`` blocks; with a ``context``, with cross-attention to it."""
    entries = [*_relative_positions(settings)] if depth else []
    for _ in range(depth):
        entries += _mixer(settings, seq, causal=causal)
        if context is not None:
            cross = _cross_attention_settings(settings)
            entries.append(norm(settings, seq))
            entries += attention(settings, cross, seq, context, part="cross-attention")
            entries += _dropout(settings.dropout, settings.width, seq)
        entries += feed_forward(settings, seq)
    last = settings.norm_order == "pre" and settings.last_norm
    return [*entries, norm(settings, seq)] if last else entries


def bare_stack(settings: ModelSettings, depth: int, seq: Seq, *, causal: bool) -> Ledger:
    """Cost of mixers without norms and feed-forward; the first maps ``width`` to the state size."""
    own = settings.model_copy(update={"width": settings.ends_in})
    entries = [*_relative_positions(own)]
    for entering in [settings.width] + [own.width] * (depth - 1):
        entries += _mix(own, seq, causal=causal, entering=entering)
        entries += _dropout(settings.dropout, own.width, seq)
    return entries


def _mixer(settings: ModelSettings, seq: Seq, *, causal: bool) -> Ledger:
    own = _mix(settings, seq, causal=causal, entering=settings.width)
    return [norm(settings, seq), *own, *_dropout(settings.dropout, settings.width, seq)]


def _mix(settings: ModelSettings, seq: Seq, *, causal: bool, entering: int) -> Ledger:
    mixer = settings.mixer
    if isinstance(mixer, AttentionSettings):
        return attention(settings, mixer, seq, seq)
    if isinstance(mixer, RecurrentSettings):
        return [_recurrent(settings.width, mixer.cell, seq, causal=causal, entering=entering)]
    return [_convolution(settings.width, mixer, seq)]


def _cross_attention_settings(settings: ModelSettings) -> AttentionSettings:
    """Return the settings of cross-attention, which recurrent decoders have as well."""
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
    """Cost of one attention layer: projections, then scores and the mixture of values."""
    width, heads = settings.width, mixer.heads
    learned = 4 * width**2 + 4 * width * mixer.biases
    learned += 2 * (width // heads) * mixer.normed + width * (mixer.score == "additive")
    tokens = queries.tokens + 2 * keys.tokens  # of queries, keys and values
    if mixer.normed:
        tokens += queries.tokens + keys.tokens + (queries.tokens + keys.tokens) * heads // width
    macs = (2 * queries.tokens + 2 * keys.tokens) * width**2
    projected = Entry(
        part,
        learned,
        macs,
        backward=2 * macs + (queries.tokens + keys.tokens) * width * mixer.normed,
        saved=FLOAT * width * (queries.tokens + tokens),
        workspace=3 * FLOAT * width * queries.tokens,
        matrices=((width, width),) * 4,
    )
    scored = 2 * queries.tokens * keys.length * width
    workspace = 3 * FLOAT * width * max(queries.tokens, keys.tokens)
    own = part == "attention"
    saved, more = _attention_saved(settings, mixer, queries, keys, own=own)
    return [projected, Entry("scores", 0, scored, saved=saved, workspace=workspace + more)]


def _attention_saved(
    settings: ModelSettings,
    mixer: AttentionSettings,
    queries: Seq,
    keys: Seq,
    *,
    own: bool,
) -> tuple[int, int]:
    """Return the bytes that attention saves, and its further workspace in the backward pass."""
    width, cells = settings.width, queries.rows * queries.length * keys.length
    mixed = FLOAT * width * queries.tokens
    table = FLOAT * mixer.heads * cells
    biased = isinstance(settings.position, RelativeSettings) and own
    plain = mixer.score == "scaled-dot" and mixer.select == "softmax" and not mixer.dropout
    rotated = 2 * FLOAT * keys.length * width // mixer.heads
    position = settings.position
    rotates = isinstance(position, RotarySettings) and (own or position.cross_attention)
    rotary = rotated if rotates else 0
    if plain and not biased:
        return mixed + FLOAT * mixer.heads * queries.tokens + rotary, 0
    if plain:  # the bias is learned, so the kernel is not fused
        return mixed + 2 * FLOAT * width * keys.tokens + table + rotary, 2 * table
    kept = 2 * table + (mixer.heads * cells if mixer.dropout else 0) + cells
    if mixer.select == "argmax":
        kept += table
    if mixer.score == "additive":
        return mixed + kept + FLOAT * width * cells + rotary, 2 * FLOAT * width * cells
    return mixed + kept + rotary, 2 * table


def feed_forward(settings: ModelSettings, seq: Seq) -> Ledger:
    """Cost of the feed-forward layer with its norm and dropout."""
    width, inner = settings.width, settings.feed_forward
    gated = settings.activation == "swiglu"
    matrices = ((inner, width),) * (1 + gated) + ((width, inner),)
    biases = settings.biases * (inner * (1 + gated) + width)
    kept = width + INNER_SAVED[settings.activation] * inner
    entry = Entry(
        "feed-forward",
        (2 + gated) * width * inner + biases,
        seq.tokens * (2 + gated) * width * inner,
        saved=FLOAT * seq.tokens * kept,
        workspace=FLOAT * seq.tokens * (inner + width),
        matrices=matrices,
    )
    return [norm(settings, seq), entry, *_dropout(settings.dropout, width, seq)]


def norm(settings: ModelSettings, seq: Seq) -> Entry:
    """Cost of one norm: it saves its input, and one or two numbers a token."""
    layered = settings.norm == "layer"
    learned = settings.width * (1 + (layered and settings.biases))
    saved = FLOAT * seq.tokens * (settings.width + 1 + layered)
    return Entry(
        "norms",
        learned,
        backward=0 if layered else seq.tokens * settings.width,  # the gain's gradient
        saved=saved,
        workspace=2 * FLOAT * seq.tokens * settings.width,
    )


def _dropout(share: float, width: int, seq: Seq) -> Iterator[Entry]:
    """Count one byte of mask per number."""
    if round(256 * share):
        yield Entry("dropout", saved=seq.tokens * width)


def _relative_positions(settings: ModelSettings) -> Iterator[Entry]:
    """Count relative-position biases, which the blocks of a stack share."""
    position, mixer = settings.position, settings.mixer
    if isinstance(position, RelativeSettings) and isinstance(mixer, AttentionSettings):
        distances = position.buckets or 2 * position.positions - 1
        yield Entry("positions", mixer.heads * distances)


def _recurrent(width: int, cell: str, seq: Seq, *, causal: bool, entering: int) -> Entry:
    gates, directions = GATES[cell], 1 if causal else 2
    hidden = width // directions
    entered = seq.tokens * gates * hidden * entering
    past = seq.tokens * gates * hidden * hidden
    # The initial state is constant and needs no gradient.
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
        backward=directions * (2 * entered + 2 * past - first),
        saved=FLOAT * kept,
        workspace=FLOAT * seq.tokens * (gates * hidden + width),
    )


def _convolution(width: int, mixer: ConvolutionSettings, seq: Seq) -> Entry:
    return Entry(
        "convolution",
        mixer.kernel * width**2 + width,
        seq.tokens * mixer.kernel * width**2,
        saved=FLOAT * (seq.tokens + seq.rows * (mixer.kernel - 1)) * width + seq.tokens,
        workspace=3 * FLOAT * seq.tokens * width,
    )


def body(model: ModelSettings, facts: Facts, seq: Seq, *, causal: bool) -> Ledger:
    """Cost of a body, from tokens to states."""
    read = bare_stack if model.bare else stack
    return [
        *embedding(model, facts.vocabulary, seq),
        *read(model, model.depth, seq, causal=causal),
    ]
