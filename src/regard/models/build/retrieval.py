"""Build a bi-encoder from ``[model]`` and ``[retrieval]``."""

from regard.layers.weighted_mean import WeightedMean
from regard.models.bi_encoder import BiEncoder
from regard.models.build.body import body
from regard.models.build.labels import pooling
from regard.models.parameters import initialise_parameters
from regard.recipe.model import ModelSettings
from regard.recipe.retrieval import RetrievalSettings


def bi_encoder(settings: ModelSettings, tokens: int, retrieval: RetrievalSettings) -> BiEncoder:
    """Build a body and its pooling."""
    trunk = body(settings, tokens, bidirectional=not settings.causal)
    if retrieval.term_weights == "even":
        pool, _ = pooling(settings)
    else:
        pool = WeightedMean(tokens, learned=retrieval.term_weights == "learned")
    model = BiEncoder(trunk, pool)
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model
