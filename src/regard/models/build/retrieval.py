"""From ``[model]`` and ``[retrieval]`` to a model that turns texts into vectors."""

from regard.layers.weighted_mean import WeightedMean
from regard.models.bi_encoder import BiEncoder
from regard.models.build.body import body
from regard.models.build.labels import pooling
from regard.models.parameters import draw_parameters
from regard.recipe.model import ModelSettings
from regard.recipe.retrieval import RetrievalSettings


def bi_encoder(settings: ModelSettings, tokens: int, retrieval: RetrievalSettings) -> BiEncoder:
    """Build a body and what pools it; both ways unless it is to be causal."""
    trunk = body(settings, tokens, looks_ahead=not settings.causal)
    if retrieval.term_weights == "even":
        pool, _ = pooling(settings)
    else:
        pool = WeightedMean(tokens, learned=retrieval.term_weights == "learned")
    model = BiEncoder(trunk, pool)
    draw_parameters(model, width=settings.width, quiet=settings.zero_init)
    return model
