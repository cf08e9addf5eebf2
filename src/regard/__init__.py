"""Regard: train, fine-tune, serve and explain models that pay attention to text.

The public names are loaded on first use, so that ``import regard`` costs nothing and never waits
for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Recipe", "explain", "load", "train"]

_HOMES = {
    "train": "regard.training.train",
    "load": "regard.inference.predictor",
    "Recipe": "regard.recipe.recipe",
}

if TYPE_CHECKING:
    from regard.recipe.recipe import Recipe


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in __all__:
        raise AttributeError(f"regard has no {name!r}; its public names are {', '.join(__all__)}")
    if name == "explain":  # a room and a public name: importing anything in it must not change it
        return import_module("regard.explain")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
