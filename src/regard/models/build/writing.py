"""From ``[model]`` to models that write: encoder-decoders and language models."""

from regard.layers.embedding import Embedding
from regard.models.build.body import body, embedding, stack
from regard.models.copying import Copying
from regard.models.gpt import LanguageModel
from regard.models.heads import TokenHead, Transform
from regard.models.parameters import draw_parameters
from regard.models.transformer import Transformer
from regard.recipe.model import ModelSettings


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
    draw_parameters(model, width=settings.width, quiet=settings.zero_init)
    if model.copying is not None and settings.zero_init:
        model.copying.begin_by_going_on()
    return model


def language_model(settings: ModelSettings, tokens: int) -> LanguageModel:
    """Build a causal body with a head that writes ``tokens``."""
    trunk = body(settings, tokens, looks_ahead=False)
    model = LanguageModel(trunk, token_head(settings, trunk.reading, tokens))
    draw_parameters(model, width=settings.width, quiet=settings.zero_init)
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
