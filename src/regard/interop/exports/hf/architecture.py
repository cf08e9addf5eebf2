"""An architecture of transformers: the settings that it needs, its config, and its tensors."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.foreign import Export, Kind, Obstacle
from regard.tasks.task import Task
from regard.text.tokenizer import Tokenizer

Tensors = dict[str, Tensor]


@runtime_checkable
class Described(Protocol):
    """What a map asks of a run, or of one that is only planned."""

    @property
    def recipe(self) -> Recipe: ...
    @property
    def tokenizer(self) -> Tokenizer: ...
    @property
    def task(self) -> Task[Any]: ...


class Need(NamedTuple):
    """The values that an architecture allows for a setting; the first one is proposed."""

    setting: str
    allowed: tuple[Any, ...]
    reason: str


def need_norms(order: str, *, normed: bool) -> tuple[Need, Need]:
    """Return what an architecture needs of its norms, those of blocks and of embeddings."""
    side = "before" if order == "pre" else "after"
    negation = "" if normed else "not "
    return (
        Need("model.norm_order", (order,), f"its norms come {side} each layer"),
        Need("model.embedding.norm", (normed,), f"its embeddings are {negation}normalised"),
    )


class Architecture(NamedTuple):
    """One ``model_type``."""

    name: str
    kind: Kind
    classes: Mapping[str, str]
    """By head, the class that has it; the architecture has no other heads."""
    needs: tuple[Need, ...]
    config: Callable[[Described], dict[str, Any]]
    tensors: Callable[[Described, "Parts", Export], Tensors]
    further: Callable[[Described, Export], list[Obstacle]] = lambda run, shape: []
    """Obstacles that follow from more than one setting."""
    notes: Callable[[Run], tuple[str, ...]] = lambda run: ()


ATTENTION = (
    Need("model.mixer.kind", ("attention",), "its mixer is attention"),
    Need("model.mixer.score", ("scaled-dot", "dot"), "its attention scores are dot products"),
    Need("model.mixer.select", ("softmax",), "its attention weights are a softmax"),
    Need("model.mixer.window", (None,), "its attention has no window of this kind"),
    Need("model.embedding.ngrams", (1,), "it has no n-gram embeddings"),
    Need("model.position.joined", ("added",), "its positions are added to the embeddings"),
    Need("model.bare", (False,), "its blocks have residual connections and norms"),
    Need("model.documents.read", ("whole",), "it reads one sequence of tokens"),
)
"""What every architecture here needs."""
NOT_NORMED = Need("model.mixer.normed", (False,), "its queries and keys are not normalised")
NOT_CAPPED = Need("model.soft_cap", (0.0,), "its logits have no soft cap")
NO_TRANSFORM = Need("model.head.transform", (False,), "its output layer has no transform")
NO_TOKEN_BIAS = Need("model.head.bias", (False,), "its output layer has no bias")
NO_SEGMENTS = Need("model.embedding.segments", (0,), "it has no segment embeddings")
NO_EMBEDDING_NORM = Need("model.embedding.norm", (False,), "its embeddings are not normalised")
TIED = Need("model.tied", (True,), "input embeddings and output layer share one table")


def find_obstacles(recipe: Recipe, needs: Iterable[Need]) -> list[Obstacle]:
    """Return the settings whose values an architecture does not allow."""
    values = recipe.flat()
    return [
        Obstacle(need.setting, values[need.setting], need.reason, propose(need))
        for need in needs
        if need.setting in values and values[need.setting] not in need.allowed
    ]


def propose(need: Need) -> str:
    """Say what to set, as a sentence."""
    first, *others = need.allowed
    if first is None:
        return f"Leave {need.setting} out."
    shown = [f'"{one}"' if isinstance(one, str) else str(one).lower() for one in (first, *others)]
    return f"Set {need.setting} to {' or '.join(one for one in shown if one != 'none')}."


class Parts:
    """The parameters of a run by their names here, with zeros for biases that it lacks.

    Args:
        parameters: The parameters.
        prefix: Begins the names of all that is asked for.

    """

    def __init__(self, parameters: Mapping[str, Tensor], prefix: str = "") -> None:
        self._parameters, self._prefix = parameters, prefix

    def at(self, name: str) -> "Parts":
        """Return the parameters below a name."""
        return Parts(self._parameters, f"{self._prefix}{name}.")

    def has(self, name: str) -> bool:
        """Whether there is a parameter of this name."""
        return f"{self._prefix}{name}" in self._parameters

    def get(self, name: str) -> Tensor:
        """Return a parameter."""
        return self._parameters[f"{self._prefix}{name}"]

    def weight(self, name: str) -> Tensor:
        """Return the weight of a layer."""
        return self.get(f"{name}.weight")

    def bias(self, name: str) -> Tensor:
        """Return the bias of a layer, zeros where it has none."""
        if self.has(f"{name}.bias"):
            return self.get(f"{name}.bias")
        return self.weight(name).new_zeros(len(self.weight(name)))

    def layer(self, name: str, theirs: str) -> Tensors:
        """Return weight and bias of a layer by its name there."""
        return {f"{theirs}.weight": self.weight(name), f"{theirs}.bias": self.bias(name)}


def attention_scale(run: Described) -> float:
    """Return the factor of the queries that turns a plain dot product into the target's scaled one.

    A target divides the scores by √features.
    """
    mixer = run.recipe.flat()
    features = run.recipe.model.width // mixer["model.mixer.heads"]
    return math.sqrt(features) if mixer["model.mixer.score"] == "dot" else 1.0


def position_table(run: Described, parts: Parts) -> Tensor:
    """Return the vectors that are added to the embeddings, one row per position."""
    table = parts.get("table")
    if parts.has("place.table.table"):
        return parts.get("place.table.table")
    longest, width = run.recipe.text.max_length, run.recipe.model.width
    if run.recipe.model.position.kind == "none":
        return table.new_zeros(longest, width)
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(longest, dtype=torch.float64)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(table)


def embedding_scale(run: Described) -> float:
    """Return the factor of the token embeddings."""
    return math.sqrt(run.recipe.model.width) if run.recipe.model.scaled_embedding else 1.0


def unwritable(run: Described, parts: Parts) -> list[int]:
    """Return the tokens outside the output vocabulary."""
    if not parts.has("head.written"):
        return []
    written = set(parts.get("head.written").tolist())
    return [id for id in range(run.tokenizer.size) if id not in written]
