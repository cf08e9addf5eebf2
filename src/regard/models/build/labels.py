"""Build classifiers, hierarchical networks and pooling from ``[model]``."""

from collections.abc import Callable
from functools import partial

from torch import nn

from regard.layers.context import ContextPool
from regard.layers.pooling import AttentionPool, Cls, First, Last, Max, Mean, MeanMax
from regard.models.build.body import added_positions, bare, body, stack
from regard.models.classifier import Classifier
from regard.models.han import Context, Han, SentenceEncoder, Separators
from regard.models.heads import LabelHead
from regard.models.parameters import initialise_parameters
from regard.models.self_attentive import Dense, Pruned, SelfAttentive
from regard.recipe.model import (
    AttentionSettings,
    ConvolutionSettings,
    LearnedSettings,
    ModelSettings,
    RecurrentSettings,
    SinusoidalSettings,
)
from regard.text.special import CLS, SEP

SEPARATORS = Separators(begin=CLS, end=SEP)


def classifier(settings: ModelSettings, tokens: int, labels: int) -> Classifier | Han:
    """Build a classifier for ``labels``, hierarchical if the settings say so."""
    if settings.documents.read == "sentences":
        return hierarchy(settings, tokens, labels)
    trunk = body(settings, tokens, bidirectional=not settings.causal)
    pool, wide = pooling(settings)
    chosen = settings.head
    head = LabelHead(pool, wide, labels, dropout=chosen.dropout, normed=chosen.norm)
    model = Classifier(trunk, head)
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model


def hierarchy(settings: ModelSettings, tokens: int, labels: int) -> Han:
    """Build a hierarchical attention network."""
    width = settings.ends_in
    upper = _among_sentences(settings)
    head = LabelHead(
        AttentionPool(width, features=width), width, labels, dropout=settings.head.dropout
    )
    model = Han(
        body(settings, tokens, bidirectional=not settings.causal),
        _sentence_pool(settings),
        upper,
        head,
        separators=SEPARATORS,
    )
    initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
    return model


def pooling(settings: ModelSettings) -> tuple[nn.Module, int]:
    """Build the pooling; return it with the size of its output."""
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


def hops(settings: ModelSettings) -> tuple[SelfAttentive, int]:
    """Build the structured embedding; return it with the size of its output."""
    chosen, width = settings.head.hops, settings.ends_in
    attention = AttentionPool(width, chosen.hops, features=chosen.features, biases=False)
    if chosen.narrow == "dense":
        return SelfAttentive(attention, Dense(chosen.hops, width, chosen.dense)), chosen.dense
    if chosen.narrow == "pruned":
        pruned = Pruned(
            chosen.hops,
            width,
            row_features=chosen.row_features,
            column_features=chosen.column_features,
        )
        return SelfAttentive(attention, pruned), pruned.outputs
    return SelfAttentive(attention, nn.Flatten()), chosen.hops * width


def _sentence_pool(settings: ModelSettings) -> AttentionPool | Context:
    documents, width = settings.documents, settings.ends_in
    if documents.context == "none":
        return AttentionPool(width, features=width)
    both = documents.context == "both"
    pools = [ContextPool(width, features=width, gated=documents.gated) for _ in range(1 + both)]
    return Context(pools[0], pools[1] if both else None, documents.gather)


def _among_sentences(settings: ModelSettings) -> SentenceEncoder:
    """Build the encoder of sentence vectors."""
    documents = settings.documents
    mixers: dict[str, AttentionSettings | RecurrentSettings | ConvolutionSettings] = {
        "same": settings.mixer,
        "attention": AttentionSettings(),
        "gru": RecurrentSettings(kind="recurrent", cell="gru"),
        "lstm": RecurrentSettings(kind="recurrent", cell="lstm"),
    }
    mixer = mixers[documents.mixer]
    own = settings.model_copy(update={"width": settings.ends_in, "states": None, "mixer": mixer})
    build = bare if settings.bare else stack
    attends = isinstance(mixer, AttentionSettings)
    on_states = isinstance(settings.position, SinusoidalSettings | LearnedSettings)
    place = added_positions(own) if attends and on_states else None
    return SentenceEncoder(build(own, documents.depth, bidirectional=True), place)
