"""Regard: train, fine-tune and explain models that pay attention to text.

The public names are loaded on first use, so that ``import regard`` costs nothing and never waits
for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Recipe", "explain", "load", "train"]

_HOMES = {"load": "regard.explain.model", "Recipe": "regard.recipe.recipe"}

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from regard.explain.model import explain as explain
    from regard.explain.model import load as load
    from regard.recipe.recipe import Recipe as Recipe
    from regard.run import Run
    from regard.training.watcher import Watcher


def train(
    recipe: "Recipe | Path | str",
    folder: "Path | str | None" = None,
    *,
    overrides: "Mapping[str, Any] | None" = None,
    resume: bool = False,
    report_to: "Sequence[str]" = (),
    watcher: "Watcher | None" = None,
) -> "Run":
    """Train a recipe (or its file, or a shipped recipe by its name) and return the finished run.

    ``overrides`` changes settings, as in ``{"training.budget": "5min", "seed": 2}``; ``report_to``
    names trackers: "tensorboard", "wandb", "mlflow", "trackio". The run
    folder, ``runs/TASK`` unless named, contains everything, the report included.
    """
    from contextlib import ExitStack
    from pathlib import Path

    from regard.recipe.load import load as load_recipe
    from regard.recipe.load import override
    from regard.report.run import write_report
    from regard.training.trackers import TrackingWatcher
    from regard.training.train import train as train_run

    made = load_recipe(recipe) if isinstance(recipe, Path | str) else recipe
    made = override(made, overrides) if overrides else made
    place = Path(folder) if folder is not None else Path("runs") / made.task
    with ExitStack() as stack:
        if report_to:
            watcher = stack.enter_context(TrackingWatcher(watcher, report_to, place, made))
        run = train_run(made, place, resume=resume, watcher=watcher, report=write_report)
    return run  # noqa: RET504 - mypy cannot tell that the stack swallows no error


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in __all__:
        raise AttributeError(f"regard has no {name!r}; its public names are {', '.join(__all__)}")
    if name == "explain":  # a package that is callable: importing it binds the same name
        return import_module("regard.explain")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
