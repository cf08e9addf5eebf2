"""From ``[model]`` to a model. Settings stop here; bodies are built in :mod:`.bodies`."""

from collections.abc import Callable
from functools import partial

from torch import nn

from regard.layers.embedding import Embedding
from regard.layers.pooling import AttentionPool, Cls, First, Last, Max, Mean, MeanMax
from regard.models.bodies.from_recipe import added_positions, body, embedding, stack
from regard.models.classifier import Classifier
from regard.models.copying import Copying
from regard.models.documents.from_recipe import hierarchy, hops
from regard.models.gpt import LanguageModel
from regard.models.han import Han
from regard.models.heads import LabelHead, TokenHead, Transform
from regard.models.parameters import draw_parameters
from regard.models.transformer import Transformer
from regard.recipe.model import ModelSettings

__all__ = [
    "added_positions",
    "body",
    "classifier",
    "embedding",
    "language_model",
    "pooling",
    "stack",
    "token_head",
    "transformer",
]


def transformer(settings: ModelSettings, tokens: int) -> Transformer:
    """Build an encoder-decoder for ``tokens``, its parameters drawn from torch's generator."""
    reading = embedding(settings, tokens)
    writing = reading if settings.tied else embedding(settings, tokens)
    model = Transformer(
        reading,
        stack(settings, settings.depth, looks_ahead=True),
        writing,
        stack(settings, settings.decoder_depth, looks_ahead=False, crosses=True),
        token_head(settings, writing, tokens),
        Copying(settings.width) if settings.copying else None,
    )
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    if model.copying is not None and settings.quiet_start:
        model.copying.begin_by_going_on()
    return model


def language_model(settings: ModelSettings, tokens: int) -> LanguageModel:
    """Build a causal body with a head that writes ``tokens``."""
    trunk = body(settings, tokens, looks_ahead=False)
    model = LanguageModel(trunk, token_head(settings, trunk.reading, tokens))
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def classifier(settings: ModelSettings, tokens: int, labels: int) -> Classifier | Han:
    """Build a body with a head that tells ``labels`` apart; both ways unless it is to be causal."""
    if settings.documents.read == "sentences":
        return hierarchy(settings, tokens, labels)
    trunk = body(settings, tokens, looks_ahead=not settings.causal)
    pool, wide = pooling(settings)
    chosen = settings.head
    head = LabelHead(pool, wide, labels, dropout=chosen.dropout, normed=chosen.norm)
    model = Classifier(trunk, head)
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


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
    if settings.head.pooling == "hops":
        return hops(settings)
    width = settings.ends_in
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
