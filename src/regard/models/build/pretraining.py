"""From ``[model]`` and ``[pretraining]`` to a model that learns from plain text."""

from torch import nn

from regard.layers.pooling import Cls
from regard.models.bert import Bert
from regard.models.build.body import added_positions, body, stack
from regard.models.build.writing import token_head
from regard.models.heads import LabelHead
from regard.models.masked_autoencoder import LightDecoder, MaskedAutoencoder
from regard.models.parameters import draw_parameters
from regard.models.replaced_tokens import ReplacedHead, ReplacedTokens
from regard.recipe.model import ModelSettings
from regard.recipe.pretraining import PretrainingSettings
from regard.recipe.scaled_settings import scale_generator, scale_light_decoder


def pretraining_model(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> nn.Module:
    """Build the model that an objective needs, its parameters drawn from torch's generator."""
    if pretraining.objective == "replaced":
        return replaced_tokens(settings, tokens, pretraining)
    if pretraining.objective == "autoencoder":
        return masked_autoencoder(settings, tokens, pretraining)
    return bert(settings, tokens, pairs=pretraining.pairs != "none")


def bert(settings: ModelSettings, tokens: int, *, pairs: bool) -> Bert:
    """Build a body that sees both ways, with a head for tokens and perhaps one for pairs."""
    trunk = body(settings, tokens, looks_ahead=True)
    model = Bert(
        trunk, token_head(settings, trunk.reading, tokens), _pair_head(settings) if pairs else None
    )
    draw_parameters(model, width=settings.width, quiet=settings.zero_init)
    return model


def replaced_tokens(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> ReplacedTokens:
    """Build a generator, and a body that tells its words from the writer's."""
    generator = bert(scale_generator(settings, pretraining), tokens, pairs=False)
    trunk, head = body(settings, tokens, looks_ahead=True), ReplacedHead(settings.width)
    pair_head = None if pretraining.pairs == "none" else _pair_head(settings)
    fresh = nn.ModuleList([trunk, head] if pair_head is None else [trunk, head, pair_head])
    draw_parameters(fresh, width=settings.width, quiet=settings.zero_init)
    return ReplacedTokens(generator, trunk, head, pair_head)


def masked_autoencoder(
    settings: ModelSettings, tokens: int, pretraining: PretrainingSettings
) -> MaskedAutoencoder:
    """Build an encoder and a light decoder whose positions are of the same kind."""
    trunk = body(settings, tokens, looks_ahead=True)
    light = scale_light_decoder(settings, pretraining)
    decoder = LightDecoder(
        settings.width,
        light.width,
        place=added_positions(light),
        stack=stack(light, settings.decoder_depth, looks_ahead=True),
        blind=pretraining.blind_masks,
    )
    model = MaskedAutoencoder(trunk, decoder, token_head(settings, trunk.reading, tokens))
    draw_parameters(model, width=settings.width, quiet=settings.zero_init)
    return model


def _pair_head(settings: ModelSettings) -> LabelHead:
    return LabelHead(Cls(settings.width), settings.width, 2, dropout=settings.dropout)
