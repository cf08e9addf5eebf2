"""Build pretraining models from ``[model]`` and ``[pretraining]``."""

from torch import nn

from regard.layers.pooling import Cls
from regard.models.bert import Bert
from regard.models.build.body import added_positions, body, stack
from regard.models.build.writing import token_head
from regard.models.heads import LabelHead
from regard.models.masked_autoencoder import LightDecoder, MaskedAutoencoder
from regard.models.parameters import initialise_parameters
from regard.models.replaced_tokens import ReplacedHead, ReplacedTokens
from regard.recipe.model import ModelSettings
from regard.recipe.pretraining import PretrainingSettings
from regard.recipe.scaled_settings import scale_generator, scale_light_decoder


def pretraining_model(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> nn.Module:
    """Build the model of an objective, initialised from torch's generator."""
    if pretraining.objective == "replaced":
        return replaced_tokens(settings, tokens, pretraining)
    if pretraining.objective == "autoencoder":
        return masked_autoencoder(settings, tokens, pretraining)
    return bert(settings, tokens, pairs=pretraining.pairs != "none")


def bert(settings: ModelSettings, tokens: int, *, pairs: bool) -> Bert:
    """Build a BERT, with a sentence-pair head or without."""
    trunk = body(settings, tokens, bidirectional=True)
    model = Bert(
        trunk, token_head(settings, trunk.reading, tokens), _pair_head(settings) if pairs else None
    )
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model


def replaced_tokens(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> ReplacedTokens:
    """Build a generator and a discriminator."""
    generator = bert(scale_generator(settings, pretraining), tokens, pairs=False)
    trunk, head = body(settings, tokens, bidirectional=True), ReplacedHead(settings.width)
    pair_head = None if pretraining.pairs == "none" else _pair_head(settings)
    fresh = nn.ModuleList([trunk, head] if pair_head is None else [trunk, head, pair_head])
    initialise_parameters(fresh, width=settings.width, zero_init=settings.zero_init)
    return ReplacedTokens(generator, trunk, head, pair_head)


def masked_autoencoder(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> MaskedAutoencoder:
    """Build an encoder and a light decoder with the same kind of positions."""
    trunk = body(settings, tokens, bidirectional=True)
    light = scale_light_decoder(settings, pretraining)
    decoder = LightDecoder(
        settings.width,
        light.width,
        place=added_positions(light),
        stack=stack(light, settings.decoder_depth, bidirectional=True),
        blind=pretraining.blind_masks,
    )
    model = MaskedAutoencoder(trunk, decoder, token_head(settings, trunk.reading, tokens))
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model


def _pair_head(settings: ModelSettings) -> LabelHead:
    return LabelHead(Cls(settings.width), settings.width, 2, dropout=settings.dropout)
