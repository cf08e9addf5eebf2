"""From ``[model]`` to a model. Settings stop here."""

import math
from collections.abc import Callable
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
from regard.layers.embedding import Embedding, Joins, Ngrams
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import norm
from regard.layers.pooling import AttentionPool, Cls, First, Last, Max, Mean, MeanMax
from regard.layers.position import Added, Concatenated, Learned, Rotary, Sinusoidal
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import Rule, causal, every, within
from regard.models.body import Body
from regard.models.classifier import Classifier
from regard.models.gpt import LanguageModel
from regard.models.heads import LabelHead, TokenHead, Transform
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

BOUNDARY = 3  # the id that ends a text, in every vocabulary (text.special.END)
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
        token_head(settings, writing, tokens),
    )
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def language_model(settings: ModelSettings, tokens: int) -> LanguageModel:
    """Build a causal body with a head that writes ``tokens``."""
    trunk = body(settings, tokens, looks_ahead=False)
    model = LanguageModel(trunk, token_head(settings, trunk.reading, tokens))
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def classifier(settings: ModelSettings, tokens: int, labels: int) -> Classifier:
    """Build a body with a head that tells ``labels`` apart; both ways unless it is to be causal."""
    trunk = body(settings, tokens, looks_ahead=not settings.causal)
    pool, wide = pooling(settings)
    head = LabelHead(pool, wide, labels, dropout=settings.head.dropout)
    model = Classifier(trunk, head)
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def body(settings: ModelSettings, tokens: int, *, looks_ahead: bool) -> Body:
    """Build what reads ``tokens`` and thinks."""
    return Body(
        _embedding(settings, tokens), stack(settings, settings.depth, looks_ahead=looks_ahead)
    )


def token_head(settings: ModelSettings, table: Embedding, tokens: int) -> TokenHead:
    """Build what turns states into tokens, tied to ``table`` if the settings say so."""
    return TokenHead(
        settings.width,
        tokens,
        table=table if settings.tied else None,
        bias=settings.head.bias,
        transform=_transform(settings) if settings.head.transform else None,
        soft_cap=settings.soft_cap,
    )


def _transform(settings: ModelSettings) -> Transform:
    return Transform(settings.width, epsilon=settings.norm_epsilon or 1e-5)


def pooling(settings: ModelSettings) -> tuple[nn.Module, int]:
    """Build what makes one state of many; return it with that state's width."""
    width = settings.width
    pools: dict[str, Callable[[], nn.Module]] = {
        "cls": partial(Cls, width),
        "first": First,
        "last": Last,
        "mean": Mean,
        "max": Max,
        "mean-max": MeanMax,
        "attention": partial(AttentionPool, width, features=width),
    }
    kind = settings.head.pooling
    return pools[kind](), 2 * width if kind == "mean-max" else width


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
    last = settings.norm_order == "pre"
    return Stack(blocks, norm=_norm(settings) if last else None)


def _norm(settings: ModelSettings) -> nn.Module:
    return norm(
        settings.norm, settings.width, biases=settings.biases, epsilon=settings.norm_epsilon
    )


def _embedding(settings: ModelSettings, tokens: int) -> Embedding:
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
