"""The tasks by name, and which settings have an effect on which of them.

A setting without an effect is refused with the reason, unless it is at its default or switched off
(0, false, empty).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from regard.recipe.settings import Refused, Settings, shown

if TYPE_CHECKING:
    from regard.recipe.recipe import Recipe

TaskName = Literal[
    "translation",
    "language-modelling",
    "masked-pretraining",
    "document-pretraining",
    "document-vectors",
    "classification",
    "sentence-pair",
    "tagging",
    "summarization",
    "denoising",
    "retrieval",
]

ENCODER_DECODERS = ("translation", "summarization", "denoising")
"""Tasks that generate a text from another."""
WRITERS = (*ENCODER_DECODERS, "language-modelling")
TOKEN_HEADS = (*WRITERS, "masked-pretraining")
"""Tasks whose model predicts tokens."""
LABELLERS = ("classification", "sentence-pair")
CLASSIFIERS = (*LABELLERS, "tagging")
"""Tasks that choose among labels, for a text or for each of its tokens."""
OF_DOCUMENTS = ("document-pretraining", "document-vectors")
"""Tasks that are trained on whole documents."""
POOLED = (*LABELLERS, "document-pretraining", "retrieval")
"""Tasks whose model pools a text to one state."""


READERS_OF_TEXT = (*TOKEN_HEADS, *LABELLERS, *OF_DOCUMENTS)
"""Tasks whose files may have any encoding."""


class Effect(NamedTuple):
    """Settings that have an effect on some tasks only, or with some other setting only."""

    settings: tuple[str, ...]
    """By dotted path; a table means all settings in it."""
    tasks: tuple[str, ...] = ()
    """Empty for every task."""
    given: str = ""
    """The dotted path of the setting they belong to, if any."""
    values: tuple[Any, ...] = ()
    """Values of that setting with which they have an effect; empty for any but 0 or false."""


EFFECTS = (
    Effect(("data.encoding",), READERS_OF_TEXT),
    Effect(("data.holdout_seed",), given="data.holdout_from", values=("spread",)),
    Effect(("data.apart",), ("language-modelling",)),
    Effect(("data.labelled",), ("document-vectors",)),
    Effect(("data.labels",), (*CLASSIFIERS, "document-vectors")),
    Effect(("data.scores",), (*LABELLERS, "document-vectors")),
    Effect(("data.score_range",), LABELLERS, given="data.scores"),
    Effect(("text.dropout",), (*ENCODER_DECODERS, *CLASSIFIERS)),
    Effect(("model.decoder_depth",), (*ENCODER_DECODERS, "masked-pretraining")),
    Effect(("model.writes",), WRITERS),
    Effect(("model.soft_cap", "model.head.bias", "model.head.transform"), TOKEN_HEADS),
    Effect(("model.copying",), ENCODER_DECODERS),
    Effect(("model.bare",), LABELLERS),
    Effect(("model.causal",), ("language-modelling", "masked-pretraining", "tagging", *POOLED)),
    Effect(("model.documents",), ("classification",)),
    Effect(("model.documents",), given="model.documents.read", values=("sentences",)),
    Effect(
        ("model.documents.gather", "model.documents.gated"),
        given="model.documents.context",
        values=("earlier", "both"),
    ),
    Effect(("model.head.pooling",), POOLED),
    Effect(("model.head.dropout",), (*CLASSIFIERS, "document-pretraining")),
    Effect(("model.head.norm",), (*LABELLERS, "document-pretraining")),
    Effect(("model.head.hops",), LABELLERS, given="model.head.pooling", values=("hops",)),
    Effect(("model.embedding.ngram_min_count",), (*LABELLERS, *OF_DOCUMENTS)),
    Effect(
        ("model.start.carry", "model.start.freeze", "model.start.layer_decay"),
        given="model.start.run",
    ),
    Effect(("model.start.unfreeze_after",), given="model.start.freeze"),
    Effect(("model.start.lexicon",), ("translation",)),
    Effect(("pretraining",), ("masked-pretraining",)),
    Effect(
        ("pretraining.masked_as",),
        given="pretraining.objective",
        values=("masked", "replaced", "hybrid"),
    ),
    Effect(("pretraining.causal_share",), given="pretraining.objective", values=("hybrid",)),
    Effect(("pretraining.generator_width",), given="pretraining.objective", values=("replaced",)),
    Effect(
        ("pretraining.decoder_width", "pretraining.blind_masks"),
        given="pretraining.objective",
        values=("autoencoder",),
    ),
    Effect(("denoising",), ("denoising",)),
    Effect(("denoising.span",), given="denoising.gaps", values=("spans",)),
    Effect(("retrieval",), ("retrieval",)),
    Effect(("retrieval.hard_from",), given="retrieval.hard_negatives"),
    Effect(("training.label_smoothing",), (*WRITERS, *CLASSIFIERS)),
    Effect(("training.softmax",), ("language-modelling",)),
    Effect(("training.class_weights", "training.adversarial"), LABELLERS),
    Effect(("training.consistency",), (*ENCODER_DECODERS, *LABELLERS)),
    Effect(("training.coverage",), ENCODER_DECODERS, given="model.copying"),
    Effect(("training.schedule.decay",), given="training.schedule.kind", values=("stable-decay",)),
    Effect(("decoding.baseline_weight",), LABELLERS),
    Effect(("decoding.threshold",), LABELLERS, given="data.label_separator"),
    Effect(("decoding.lead",), ("summarization",)),
    Effect(
        ("decoding.extra_length", "decoding.max_length_ratio", "decoding.min_length_ratio"),
        ENCODER_DECODERS,
    ),
    Effect(
        ("decoding.max_length", "decoding.min_length", "decoding.no_repeat", "decoding.method"),
        WRITERS,
    ),
    Effect(
        ("decoding.temperature", "decoding.top_k", "decoding.top_p", "decoding.seed"),
        WRITERS,
        given="decoding.method",
        values=("sample",),
    ),
    Effect(
        ("decoding.beam", "decoding.length_penalty"),
        WRITERS,
        given="decoding.method",
        values=("beam",),
    ),
    Effect(("decoding.coverage",), ENCODER_DECODERS, given="decoding.method", values=("beam",)),
    Effect(("decoding.coverage",), given="model.copying"),
    Effect(("decoding.engine",), ENCODER_DECODERS),
    Effect(
        ("decoding.quantization",),
        ENCODER_DECODERS,
        given="decoding.engine",
        values=("ctranslate2", "auto"),
    ),
)


class Idle(NamedTuple):
    """A setting without an effect."""

    path: str
    value: Any
    why: str
    remedy: str
    """What would give it one; empty if nothing would."""


def refuse_idle(recipe: "Recipe") -> None:
    """Refuse the first setting without an effect."""
    for idle in find_idle(recipe):
        remedy = (
            f"{idle.remedy}, or leave {idle.path} out" if idle.remedy else f"Leave {idle.path} out"
        )
        raise Refused(f"{idle.path} = {shown(idle.value)} has no effect {idle.why}", remedy)


def list_idle_settings(task: str) -> set[str]:
    """Return the settings and tables that have an effect on other tasks only."""
    return {
        path
        for effect in EFFECTS
        if effect.tasks and task not in effect.tasks
        for path in effect.settings
    }


def find_idle(recipe: "Recipe") -> Iterator[Idle]:
    """Yield every setting without an effect, with the reason."""
    for effect in EFFECTS:
        wrong = _reason(recipe, effect)
        for path in effect.settings if wrong else ():
            for name, value in _stated_settings(recipe, path):
                # The setting that switches a table on is in that table itself.
                if name != effect.given:
                    yield Idle(name, value, *wrong)


def is_idle(recipe: "Recipe", path: str) -> bool:
    """Return whether a setting, or the table it is in, has no effect whatever its value."""
    return any(
        f"{path}.".startswith(f"{setting}.") and path != effect.given and _reason(recipe, effect)
        for effect in EFFECTS
        for setting in effect.settings
    )


def _reason(recipe: "Recipe", effect: Effect) -> tuple[str, ...]:
    """Return why settings have no effect, and the remedy; nothing if they have one."""
    if effect.tasks and recipe.task not in effect.tasks:
        return f'on task "{recipe.task}", only on {_join_words(effect.tasks)}', ""
    if not effect.given:
        return ()
    value = _value(recipe, effect.given)
    if value in effect.values if effect.values else value:
        return ()
    needed = _join_words(effect.values, " or ") if effect.values else "something"
    needed = "true" if isinstance(value, bool) else needed
    return f"while {effect.given} is {shown(value)}", f"Set {effect.given} to {needed}"


def _join_words(names: tuple[Any, ...], word: str = " and ") -> str:
    *most, last = [f'"{name}"' for name in names]
    return f"{', '.join(most)}{word}{last}" if most else last


def _value(recipe: "Recipe", path: str) -> Any:  # noqa: ANN401 - a setting can be anything
    found: Any = recipe
    for step in path.split("."):
        found = getattr(found, step)
    return found


def _stated_settings(recipe: "Recipe", path: str) -> Iterator[tuple[str, Any]]:
    """Yield the settings at a path that are neither their default nor off."""
    parent, _, name = path.rpartition(".")
    table = _value(recipe, parent) if parent else recipe
    value, field = getattr(table, name), type(table).model_fields[name]
    if isinstance(value, Settings):
        for inner in type(value).model_fields:
            yield from _stated_settings(recipe, f"{path}.{inner}")
    elif value and value != field.get_default():
        yield path, value
