"""From ``[model]`` to a body: how tokens are read, and what the blocks are made of."""

import math
from functools import partial

from torch import nn

from regard.layers.attention import (
    Additive,
    Attention,
    Equation,
    Place,
    Projections,
    argmax,
    dot,
    log_length,
    scaled_dot,
    softmax,
)
from regard.layers.block import Block
from regard.layers.convolution import Convolution
from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable
from regard.layers.embedding import Embedding, Joins, Ngrams
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import norm
from regard.layers.position import Added, Concatenated, Learned, Rotary, Sinusoidal
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import Rule, causal, every, within
from regard.models.body import Body
from regard.models.stack import Bare, Stack
from regard.recipe.model import (
    AlibiSettings,
    AttentionSettings,
    ConvolutionSettings,
    LearnedSettings,
    ModelSettings,
    RelativeSettings,
    RotarySettings,
    SinusoidalSettings,
)

BOUNDARY = 3  # the id that ends a text, in every vocabulary (text.special.END)
SELECTS = {"softmax": softmax, "log-length": log_length, "argmax": argmax}


def body(settings: ModelSettings, tokens: int, *, looks_ahead: bool) -> Body:
    """Build what reads ``tokens`` and thinks."""
    return Body(
        embedding(settings, tokens),
        (bare if settings.bare else stack)(settings, settings.depth, looks_ahead=looks_ahead),
    )


def stack(
    settings: ModelSettings, depth: int, *, looks_ahead: bool, crosses: bool = False
) -> Stack:
    """Build ``depth`` blocks; ``crosses`` lets them look into another stack's states."""
    place = _place(settings, looks_ahead=looks_ahead)
    blocks = [
        Block(
            _mixer(settings, number, place, looks_ahead=looks_ahead),
            _feed_forward(settings),
            norms=partial(_norm, settings),
            order=settings.norm_order,
            dropout=settings.dropout,
            cross=_cross(settings) if crosses else None,
        )
        for number in range(depth)
    ]
    last = settings.norm_order == "pre" and settings.last_norm
    return Stack(blocks, norm=_norm(settings) if last else None)


def bare(settings: ModelSettings, depth: int, *, looks_ahead: bool) -> Bare:
    """Build ``depth`` mixers and nothing else, the first from ``width`` to where states end."""
    own = settings.model_copy(update={"width": settings.ends_in})
    place = _place(own, looks_ahead=looks_ahead)
    sizes = [settings.width] + [own.width] * (depth - 1)
    mixers = [
        _mixer(own, number, place, looks_ahead=looks_ahead, entering=entering)
        for number, entering in enumerate(sizes)
    ]
    return Bare(mixers, dropout=settings.dropout)


def _norm(settings: ModelSettings) -> nn.Module:
    return norm(
        settings.norm, settings.width, biases=settings.biases, epsilon=settings.norm_epsilon
    )


def embedding(settings: ModelSettings, tokens: int) -> Embedding:
    """Build what turns tokens into states."""
    place, narrower = _joined(settings)
    width, chosen = settings.width - narrower, settings.embedding
    ngrams = None
    if chosen.ngrams > 1:
        ngrams = Ngrams(
            chosen.ngrams,
            rows=chosen.ngram_rows,
            width=width,
            boundary=BOUNDARY,
            dropout=chosen.ngram_dropout,
            lazy=chosen.ngram_lazy,
        )
    return Embedding(
        tokens,
        width,
        scaled=settings.scaled_embedding,
        place=place,
        joins=Joins(
            ngrams,
            chosen.segments,
            _norm(settings) if chosen.norm else None,
        ),
        dropout=settings.dropout,
    )


def added_positions(settings: ModelSettings) -> Added:
    """Build positions that are added to states as wide as the model, waves if not learned ones."""
    if isinstance(settings.position, LearnedSettings):
        return Added(Learned(settings.position.positions, settings.width))
    return Added(Sinusoidal(settings.width))


def _joined(settings: ModelSettings) -> tuple[Added | Concatenated | None, int]:
    """Return how positions join the states, and how many features they take for themselves."""
    position, width = settings.position, settings.width
    if not isinstance(position, SinusoidalSettings | LearnedSettings):
        return None, 0
    beside = position.joined == "concatenated"
    own = width // 4 * 2 if beside else width
    table = (
        Learned(position.positions, own)
        if isinstance(position, LearnedSettings)
        else Sinusoidal(own)
    )
    return (Concatenated(table), own) if beside else (Added(table), 0)


def _place(settings: ModelSettings, *, looks_ahead: bool) -> Place | None:
    """Return what self-attention of one stack is told of positions; shared by all its blocks."""
    position, mixer = settings.position, settings.mixer
    if not isinstance(mixer, AttentionSettings):
        return None
    if isinstance(position, RotarySettings):
        return Place(turn=Rotary(settings.width // mixer.heads, base=position.base))
    if isinstance(position, AlibiSettings):
        return Place(bias=Alibi(mixer.heads, causal=not looks_ahead))
    if isinstance(position, RelativeSettings):
        if position.buckets is None:
            return Place(bias=RelativeTable(mixer.heads, position.positions))
        return Place(
            bias=RelativeBuckets(
                mixer.heads, position.buckets, position.positions, causal=not looks_ahead
            )
        )
    return None


def _mixer(
    settings: ModelSettings,
    number: int,
    place: Place | None,
    *,
    looks_ahead: bool,
    entering: int | None = None,
) -> nn.Module:
    mixer = settings.mixer
    if isinstance(mixer, AttentionSettings):
        rule = _rule(mixer.window, looks_ahead=looks_ahead)
        return _attention(settings, mixer, rule=rule, place=place)
    if isinstance(mixer, ConvolutionSettings):
        dilation = mixer.kernel**number if mixer.dilated else 1
        return Convolution(
            settings.width, kernel=mixer.kernel, dilation=dilation, causal=not looks_ahead
        )
    return Recurrent(settings.width, cell=mixer.cell, causal=not looks_ahead, entering=entering)


def _cross(settings: ModelSettings) -> Attention:
    """Build a look into another text: attention, whatever mixes within each text.

    Rotary positions turn here too: translations run roughly in parallel, so a look straight across
    is the best first guess.
    """
    mixer = settings.mixer
    if not isinstance(mixer, AttentionSettings):
        mixer = AttentionSettings(heads=math.gcd(settings.width, 4))
    turns = isinstance(settings.position, RotarySettings)
    return _attention(settings, mixer, place=_place(settings, looks_ahead=True) if turns else None)


def _attention(
    settings: ModelSettings,
    mixer: AttentionSettings,
    *,
    rule: Rule | None = None,
    place: Place | None = None,
) -> Attention:
    scores = {"scaled-dot": scaled_dot, "dot": dot}
    score = scores.get(mixer.score) or Additive(mixer.heads, settings.width // mixer.heads)
    return Attention(
        settings.width,
        mixer.heads,
        equation=Equation(score, SELECTS[mixer.select]),
        rule=rule,
        place=place,
        projections=Projections(biases=mixer.biases, normed=mixer.normed),
        dropout=mixer.dropout,
    )


def _rule(window: int | None, *, looks_ahead: bool) -> Rule | None:
    rules = [*([] if looks_ahead else [causal]), *([] if window is None else [within(window)])]
    return every(*rules) if rules else None


def _feed_forward(settings: ModelSettings) -> FeedForward:
    return FeedForward(
        settings.width,
        settings.feed_forward,
        activation=settings.activation,
        biases=settings.biases,
    )
