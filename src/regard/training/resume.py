"""Whether a run may be resumed: it exists, is not finished, and is made of the same parts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard import run as folders
from regard import run_files
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.training import checkpoint
from regard.training.watcher import Watcher

BUDGET = "training.budget"
"""The one setting that may change when a run is resumed."""


def check_exists(folder: Path) -> None:
    """Refuse to resume a run that is not there."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} does not exist, so it cannot be resumed.",
            "Start it without --resume.",
        )


def check_resumable(recipe: Recipe, folder: Path, watcher: Watcher) -> None:
    """Refuse to resume a run that is finished; one whose files are damaged is finished again."""
    if not (folder / run_files.SEAL).exists():
        return
    if damage := folders.find_damage(folder):
        watcher.say(f"{damage} The run is finished again from its last checkpoint.")
    else:
        budget = Run(folder).recipe.training.budget
        if budget == recipe.training.budget:
            raise UsageError(
                f"{folder} is a finished run; there is nothing to resume.",
                f"Train it longer than {budget} with --set training.budget=..., or train a new run "
                "with another --run.",
            )
        if not checkpoint.checkpoints(folder / run_files.CHECKPOINTS):
            raise UsageError(
                f"{folder} is a finished run without checkpoints, so it cannot be trained longer.",
                "Start a new run from it with model.start.run.",
            )


def refuse_changes(saved: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to resume with other data, another tokenizer or another recipe."""
    for name in ("recipe", "data", "tokenizer", "training.threads"):
        if saved[name] == now[name]:
            continue
        differs, was, became = name, saved[name], now[name]
        if name == "recipe":
            found = [each for each in _differences(saved[name], now[name]) if each[0] != BUDGET]
            if not found:
                continue
            differs, was, became = found[0]
        raise UsageError(
            f"a resumed run must have the same recipe, data, tokenizer and threads. {differs} was "
            f"{was}; now it is {became}.",
            "Change it back, or start a new run with --run.",
        )


def _differences(saved: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    if isinstance(saved, dict) and isinstance(now, dict):
        for name in sorted(saved.keys() | now.keys()):
            inner = f"{path}.{name}" if path else name
            yield from _differences(saved.get(name), now.get(name), inner)
    elif saved != now:
        yield path, saved, now
