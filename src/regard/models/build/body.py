"""Build a body from ``[model]``: embedding layer and blocks."""

import math
from functools import partial

from torch import nn

from regard.layers.attention import (
    Additive,
    Attention,
    Equation,
    PositionScheme,
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
from regard.layers.embedding import Embedding, Extras, Ngrams
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
from regard.text.special import END

SELECTS = {"softmax": softmax, "log-length": log_length, "argmax": argmax}


def body(settings: ModelSettings, tokens: int, *, bidirectional: bool) -> Body:
    """Build a body for a vocabulary of ``tokens``."""
    return Body(
        embedding(settings, tokens),
        (bare if settings.bare else stack)(settings, settings.depth, bidirectional=bidirectional),
    )


def stack(
    settings: ModelSettings, depth: int, *, bidirectional: bool, cross_attention: bool = False
) -> Stack:
    """Build ``depth`` blocks, with cross-attention or without."""
    place = _place(settings, bidirectional=bidirectional)
    blocks = [
        Block(
            _mixer(settings, number, place, bidirectional=bidirectional),
            _feed_forward(settings),
            norms=partial(_norm, settings),
            order=settings.norm_order,
            dropout=settings.dropout,
            cross=_cross(settings) if cross_attention else None,
        )
        for number in range(depth)
    ]
    last = settings.norm_order == "pre" and settings.last_norm
    return Stack(blocks, norm=_norm(settings) if last else None)


def bare(settings: ModelSettings, depth: int, *, bidirectional: bool) -> Bare:
    """Build ``depth`` mixers alone; the first maps ``width`` to the output size."""
    own = settings.model_copy(update={"width": settings.ends_in})
    place = _place(own, bidirectional=bidirectional)
    sizes = [settings.width] + [own.width] * (depth - 1)
    mixers = [
        _mixer(own, number, place, bidirectional=bidirectional, entering=entering)
        for number, entering in enumerate(sizes)
    ]
    return Bare(mixers, dropout=settings.dropout)


def _norm(settings: ModelSettings) -> nn.Module:
    return norm(
        settings.norm, settings.width, biases=settings.biases, epsilon=settings.norm_epsilon
    )


def embedding(settings: ModelSettings, tokens: int) -> Embedding:
    """Build the embedding layer."""
    place, narrower = _join_positions(settings)
    width, chosen = settings.width - narrower, settings.embedding
    ngrams = None
    if chosen.ngrams > 1:
        ngrams = Ngrams(
            chosen.ngrams,
            rows=chosen.ngram_rows,
            width=width,
            boundary=END,
            dropout=chosen.ngram_dropout,
            lazy=chosen.ngram_lazy,
        )
    return Embedding(
        tokens,
        width,
        scaled=settings.scaled_embedding,
        place=place,
        extras=Extras(
            ngrams,
            chosen.segments,
            _norm(settings) if chosen.norm else None,
        ),
        dropout=settings.dropout,
    )


def added_positions(settings: ModelSettings) -> Added:
    """Build positions that are added to the states: learned ones if chosen, else sinusoids."""
    if isinstance(settings.position, LearnedSettings):
        return Added(Learned(settings.position.positions, settings.width))
    return Added(Sinusoidal(settings.width))


def _join_positions(settings: ModelSettings) -> tuple[Added | Concatenated | None, int]:
    """Return the position encoding on the states, and the number of features that it takes."""
    position, width = settings.position, settings.width
    if not isinstance(position, SinusoidalSettings | LearnedSettings):
        return None, 0
    concatenated = position.joined == "concatenated"
    own = width // 4 * 2 if concatenated else width
    table = (
        Learned(position.positions, own)
        if isinstance(position, LearnedSettings)
        else Sinusoidal(own)
    )
    return (Concatenated(table), own) if concatenated else (Added(table), 0)


def _place(settings: ModelSettings, *, bidirectional: bool) -> PositionScheme | None:
    """Return the position encoding of self-attention, shared by all blocks of a stack."""
    position, mixer = settings.position, settings.mixer
    if not isinstance(mixer, AttentionSettings):
        return None
    if isinstance(position, RotarySettings):
        return PositionScheme(rotary=Rotary(settings.width // mixer.heads, base=position.base))
    if isinstance(position, AlibiSettings):
        return PositionScheme(bias=Alibi(mixer.heads, causal=not bidirectional))
    if isinstance(position, RelativeSettings):
        if position.buckets is None:
            return PositionScheme(bias=RelativeTable(mixer.heads, position.positions))
        return PositionScheme(
            bias=RelativeBuckets(
                mixer.heads, position.buckets, position.positions, causal=not bidirectional
            )
        )
    return None


def _mixer(
    settings: ModelSettings,
    number: int,
    place: PositionScheme | None,
    *,
    bidirectional: bool,
    entering: int | None = None,
) -> nn.Module:
    mixer = settings.mixer
    if isinstance(mixer, AttentionSettings):
        rule = _rule(mixer.window, bidirectional=bidirectional)
        return _attention(settings, mixer, rule=rule, place=place)
    if isinstance(mixer, ConvolutionSettings):
        dilation = mixer.kernel**number if mixer.dilated else 1
        return Convolution(
            settings.width, kernel=mixer.kernel, dilation=dilation, causal=not bidirectional
        )
    return Recurrent(settings.width, cell=mixer.cell, causal=not bidirectional, entering=entering)


def _cross(settings: ModelSettings) -> Attention:
    """Build cross-attention, whatever the mixer.

    Rotary positions apply here too unless the recipe says otherwise: word order of a translation is
    similar, so a diagonal alignment is a good prior.
    """
    mixer = settings.mixer
    if not isinstance(mixer, AttentionSettings):
        mixer = AttentionSettings(heads=math.gcd(settings.width, 4))
    position = settings.position
    rotary = isinstance(position, RotarySettings) and position.cross_attention
    return _attention(
        settings, mixer, place=_place(settings, bidirectional=True) if rotary else None
    )


def _attention(
    settings: ModelSettings,
    mixer: AttentionSettings,
    *,
    rule: Rule | None = None,
    place: PositionScheme | None = None,
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


def _rule(window: int | None, *, bidirectional: bool) -> Rule | None:
    rules = [*([] if bidirectional else [causal]), *([] if window is None else [within(window)])]
    return every(*rules) if rules else None


def _feed_forward(settings: ModelSettings) -> FeedForward:
    return FeedForward(
        settings.width,
        settings.feed_forward,
        activation=settings.activation,
        biases=settings.biases,
    )
