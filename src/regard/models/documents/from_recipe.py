"""From ``[model.documents]`` and ``[model.head.hops]`` to models of documents."""

from torch import nn

from regard.layers.context import ContextPool
from regard.layers.pooling import AttentionPool
from regard.models.bodies.from_recipe import added_positions, bare, body, stack
from regard.models.han import Context, Han, Marks, Upper
from regard.models.heads import LabelHead
from regard.models.parameters import draw_parameters
from regard.models.self_attentive import Dense, Pruned, SelfAttentive
from regard.recipe.model import (
    AttentionSettings,
    ConvolutionSettings,
    LearnedSettings,
    ModelSettings,
    RecurrentSettings,
    SinusoidalSettings,
)

MARKS = Marks(begin=4, end=5)  # [CLS] and [SEP], in every vocabulary (text.special)


def hierarchy(settings: ModelSettings, tokens: int, labels: int) -> Han:
    """Build words, sentences and document, with a head that tells ``labels`` apart."""
    width = settings.ends_in
    upper = _among_sentences(settings)
    head = LabelHead(
        AttentionPool(width, features=width), width, labels, dropout=settings.head.dropout
    )
    model = Han(
        body(settings, tokens, looks_ahead=not settings.causal),
        _sentence_pool(settings),
        upper,
        head,
        marks=MARKS,
    )
    draw_parameters(model, width=settings.width, quiet=settings.quiet_start)
    return model


def hops(settings: ModelSettings) -> tuple[SelfAttentive, int]:
    """Build the structured embedding; return it with the size of what it gives."""
    chosen, width = settings.head.hops, settings.ends_in
    looks = AttentionPool(width, chosen.hops, features=chosen.features, biases=False)
    if chosen.narrow == "dense":
        return SelfAttentive(looks, Dense(chosen.hops, width, chosen.dense)), chosen.dense
    if chosen.narrow == "pruned":
        pruned = Pruned(
            chosen.hops,
            width,
            row_features=chosen.row_features,
            column_features=chosen.column_features,
        )
        return SelfAttentive(looks, pruned), pruned.outputs
    return SelfAttentive(looks, nn.Flatten()), chosen.hops * width


def _sentence_pool(settings: ModelSettings) -> AttentionPool | Context:
    documents, width = settings.documents, settings.ends_in
    if documents.context == "none":
        return AttentionPool(width, features=width)
    both = documents.context == "both"
    pools = [ContextPool(width, features=width, gated=documents.gated) for _ in range(1 + both)]
    return Context(pools[0], pools[1] if both else None, documents.gather)


def _among_sentences(settings: ModelSettings) -> Upper:
    """Build what reads sentences: as wide as a sentence's vector, mixing as asked."""
    documents = settings.documents
    asked: dict[str, AttentionSettings | RecurrentSettings | ConvolutionSettings] = {
        "same": settings.mixer,
        "attention": AttentionSettings(),
        "gru": RecurrentSettings(kind="recurrent", cell="gru"),
        "lstm": RecurrentSettings(kind="recurrent", cell="lstm"),
    }
    mixer = asked[documents.mixer]
    own = settings.model_copy(update={"width": settings.ends_in, "states": None, "mixer": mixer})
    build = bare if settings.bare else stack
    attends = isinstance(mixer, AttentionSettings)
    on_states = isinstance(settings.position, SinusoidalSettings | LearnedSettings)
    place = added_positions(own) if attends and on_states else None
    return Upper(build(own, documents.depth, looks_ahead=True), place)
