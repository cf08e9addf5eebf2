"""Which recipes CTranslate2 can express, and for all others the setting in the way.

Its networks are fixed in C++: attention by scaled dot product and softmax, rotary positions in
self-attention only, no n-grams, no copying. What is missing there is refused here by name.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from regard.recipe.model import (
    AlibiSettings,
    AttentionSettings,
    LearnedSettings,
    ModelSettings,
    RelativeSettings,
    RotarySettings,
    SinusoidalSettings,
)
from regard.recipe.recipe import Recipe
from regard.recipe.tasks import ENCODER_DECODERS
from regard.tasks.foreign import Obstacle

CAUSAL = ("language-modelling",)
ENCODERS = ("retrieval", "masked-pretraining")
TASKS = (*ENCODER_DECODERS, *CAUSAL, *ENCODERS)


class _Rule(NamedTuple):
    """A setting, why it does not fit, what to set instead, and the test."""

    setting: str
    why: str
    remedy: str
    stands_in_the_way: Callable[[ModelSettings], bool]


def find_obstacles(recipe: Recipe) -> list[Obstacle]:
    """Return every setting that CTranslate2 cannot express; none if the recipe fits."""
    if recipe.task not in TASKS:
        reason = "CTranslate2 has no network with such a head"
        return [Obstacle("task", recipe.task, reason, "Export to onnx, which keeps the head.")]
    rules = [*_EVERYWHERE, *(_WRITERS if recipe.task not in ENCODERS else ())]
    if recipe.task in ENCODER_DECODERS:
        rules += _ENCODER_DECODERS
    if recipe.task not in CAUSAL:
        rules += _BIDIRECTIONAL
    if recipe.task in ENCODERS:
        rules += _ENCODERS
    return [
        Obstacle(rule.setting, attrgetter(rule.setting)(recipe), rule.why, f"{rule.remedy}.")
        for rule in rules
        if rule.stands_in_the_way(recipe.model)
    ]


def _attends(settings: ModelSettings) -> bool:
    return isinstance(settings.mixer, AttentionSettings)


def _attention(test: Callable[[AttentionSettings], bool]) -> Callable[[ModelSettings], bool]:
    return lambda settings: isinstance(settings.mixer, AttentionSettings) and test(settings.mixer)


def _concatenates(settings: ModelSettings) -> bool:
    position = settings.position
    if not isinstance(position, SinusoidalSettings | LearnedSettings):
        return False
    return position.joined == "concatenated"


def _rotates_cross_attention(settings: ModelSettings) -> bool:
    return isinstance(settings.position, RotarySettings) and settings.position.cross_attention


_EVERYWHERE = (
    _Rule(
        "model.mixer.kind",
        "its only mixer is attention",
        'Set it to "attention"',
        lambda settings: not _attends(settings),
    ),
    _Rule(
        "model.mixer.score",
        "its attention scores are dot products",
        'Set it to "scaled-dot"',
        _attention(lambda mixer: mixer.score == "additive"),
    ),
    _Rule(
        "model.mixer.select",
        "its attention weights are a softmax",
        'Set it to "softmax"',
        _attention(lambda mixer: mixer.select != "softmax"),
    ),
    _Rule(
        "model.mixer.window",
        "its window keeps other keys",
        "Leave it out",
        _attention(lambda mixer: mixer.window is not None),
    ),
    _Rule(
        "model.norm_epsilon",
        "it has one epsilon for all norms, and the norm of queries and keys has 1e-6",
        "Leave it out, or set model.mixer.normed to false",
        lambda settings: (
            _attention(lambda mixer: mixer.normed)(settings)
            and settings.norm_epsilon not in (None, 1e-6)
        ),
    ),
    _Rule(
        "model.position.joined",
        "it adds positions to the states",
        'Set it to "added"',
        _concatenates,
    ),
    _Rule(
        "model.position.buckets",
        "its relative positions have buckets",
        "Set it to 32, for example",
        lambda settings: (
            isinstance(settings.position, RelativeSettings) and settings.position.buckets is None
        ),
    ),
    _Rule(
        "model.embedding.ngrams",
        "it has no embeddings of n-grams",
        "Set it to 1",
        lambda settings: settings.embedding.ngrams > 1,
    ),
    _Rule(
        "model.bare",
        "its layers have residual connections and norms",
        "Set it to false",
        lambda settings: settings.bare,
    ),
    _Rule(
        "model.depth",
        "its encoders have a layer at least",
        "Set it to 1 or more",
        lambda settings: settings.depth == 0,
    ),
)
_WRITERS = (
    _Rule(
        "model.embedding.segments",
        "its translators and language models have no segments",
        "Set it to 0",
        lambda settings: settings.embedding.segments > 0,
    ),
    _Rule(
        "model.head.transform",
        "its output layer is one matrix",
        "Set it to false",
        lambda settings: settings.head.transform,
    ),
    _Rule(
        "model.soft_cap",
        "its cap would give a probability to tokens that cannot be written",
        'Set it to 0, or model.writes to "all"',
        lambda settings: settings.soft_cap > 0 and settings.writes == "seen",
    ),
)
_ENCODER_DECODERS = (
    _Rule(
        "model.position.cross_attention",
        "it rotates queries and keys of self-attention only",
        "Set it to false",
        _rotates_cross_attention,
    ),
    _Rule(
        "model.mixer.normed",
        "it normalises queries and keys otherwise in cross-attention",
        "Set it to false",
        _attention(lambda mixer: mixer.normed),
    ),
    _Rule(
        "model.copying",
        "it has no copy mechanism",
        "Set it to false",
        lambda settings: settings.copying,
    ),
)
_BIDIRECTIONAL = (
    _Rule(
        "model.position.kind",
        "it has ALiBi for decoders alone",
        'Set it to "rotary", for example',
        lambda settings: isinstance(settings.position, AlibiSettings),
    ),
)
_ENCODERS = (
    _Rule(
        "model.causal",
        "its encoders are bidirectional",
        "Set it to false",
        lambda settings: bool(settings.causal),
    ),
)
