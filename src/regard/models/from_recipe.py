"""From ``[model]`` to a model. Settings stop here."""

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
    scaled_dot,
    softmax,
)
from regard.layers.block import Block
from regard.layers.convolution import Convolution
from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import norm
from regard.layers.position import Added, Concatenated, Learned, Rotary, Sinusoidal
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import Rule, causal, every, within
from regard.models.heads import TokenHead
from regard.models.parameters import draw_parameters
from regard.models.stack import Stack
from regard.models.transformer import Transformer
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

SELECTS = {"softmax": softmax, "argmax": argmax}


def transformer(settings: ModelSettings, tokens: int) -> Transformer:
    """Build an encoder-decoder for ``tokens``, its parameters drawn from torch's generator."""
    reading = _embedding(settings, tokens)
    writing = reading if settings.tied else _embedding(settings, tokens)
    model = Transformer(
        reading,
        stack(settings, settings.depth, looks_ahead=True),
        writing,
        stack(settings, settings.decoder_depth, looks_ahead=False, crosses=True),
        TokenHead(
            settings.width,
            tokens,
            table=writing if settings.tied else None,
            soft_cap=settings.soft_cap,
        ),
    )
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def stack(
    settings: ModelSettings, depth: int, *, looks_ahead: bool, crosses: bool = False
) -> Stack:
    """Build ``depth`` blocks; ``crosses`` lets them look into another stack's states."""
    place = _place(settings, looks_ahead=looks_ahead)
    blocks = [
        Block(
            _mixer(settings, number, place, looks_ahead=looks_ahead),
            _feed_forward(settings),
            norms=partial(norm, settings.norm, settings.width, biases=settings.biases),
            order=settings.norm_order,
            dropout=settings.dropout,
            cross=_cross(settings) if crosses else None,
        )
        for number in range(depth)
    ]
    last = settings.norm_order == "pre"
    return Stack(
        blocks, norm=norm(settings.norm, settings.width, biases=settings.biases) if last else None
    )


def _embedding(settings: ModelSettings, tokens: int) -> Embedding:
    position, width = settings.position, settings.width
    if not isinstance(position, SinusoidalSettings | LearnedSettings):
        return Embedding(tokens, width, scaled=settings.scaled_embedding, dropout=settings.dropout)
    beside = position.joined == "concatenated"
    own = width // 4 * 2 if beside else width
    table = (
        Learned(position.positions, own)
        if isinstance(position, LearnedSettings)
        else Sinusoidal(own)
    )
    return Embedding(
        tokens,
        width - own if beside else width,
        scaled=settings.scaled_embedding,
        place=Concatenated(table) if beside else Added(table),
        dropout=settings.dropout,
    )


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
    settings: ModelSettings, number: int, place: Place | None, *, looks_ahead: bool
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
    return Recurrent(settings.width, cell=mixer.cell, causal=not looks_ahead)


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
