"""Build models that generate text from ``[model]``: encoder-decoders and language models."""

from regard.layers.embedding import Embedding
from regard.models.build.body import body, embedding, stack
from regard.models.copying import Copying
from regard.models.gpt import LanguageModel
from regard.models.heads import TokenHead, Transform
from regard.models.parameters import initialise_parameters
from regard.models.transformer import Transformer
from regard.recipe.model import ModelSettings


def transformer(settings: ModelSettings, tokens: int) -> Transformer:
    """Build an encoder-decoder, initialised from torch's generator."""
    reading = embedding(settings, tokens)
    writing = reading if settings.tied else embedding(settings, tokens)
    model = Transformer(
        reading,
        stack(settings, settings.depth, bidirectional=True),
        writing,
        stack(settings, settings.decoder_depth, bidirectional=False, cross_attention=True),
        token_head(settings, writing, tokens),
        Copying(settings.width) if settings.copying else None,
    )
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    if model.copying is not None and settings.zero_init:
        model.copying.initialise_to_copy_next()
    return model


def language_model(settings: ModelSettings, tokens: int) -> LanguageModel:
    """Build a language model, initialised from torch's generator."""
    trunk = body(settings, tokens, bidirectional=False)
    model = LanguageModel(trunk, token_head(settings, trunk.reading, tokens))
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model


def token_head(settings: ModelSettings, table: Embedding, tokens: int) -> TokenHead:
    """Build the output layer, tied to ``table`` if the settings say so."""
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
