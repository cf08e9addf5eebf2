"""Experiment trackers: TensorBoard, Weights & Biases, MLflow and trackio receive the curves.

A tracker receives the same events as the journal: after every 20 steps the training loss, learning
rate and speed, and the scores of every evaluation, all by step. Nothing leaves the machine unless
the tracker's own environment variables say so: W&B runs offline, MLflow writes a folder.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.task import Evaluation
from regard.training.loop import JOURNAL_EVERY
from regard.training.watcher import Progress, SilentWatcher, Watcher


class Tracker(Protocol):
    """One run in a tracker."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Record numbers by name."""

    def close(self) -> None:
        """Write everything and end the run."""


class TensorBoard:
    """Writes event files below the run folder, or to TENSORBOARD_LOGGING_DIR."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        place = os.environ.get("TENSORBOARD_LOGGING_DIR") or folder / "tensorboard"
        self.writer = SummaryWriter(log_dir=str(place), purge_step=step or None)
        text = "\n".join(f"    {name} = {value}" for name, value in settings.items())
        self.writer.add_text("recipe", text, step)

    def log(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        self.writer.close()


class WandB:
    """Logs to Weights & Biases; offline unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        import wandb

        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "regard"),
            name=folder.name,
            dir=str(folder),
            config=dict(settings),
            mode=os.environ.get("WANDB_MODE", "offline"),
            resume="allow",
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        self.run.log(dict(values), step=step)

    def close(self) -> None:
        self.run.finish()


class MlFlow:
    """Logs to MLflow: to the database below the run folder, or to MLFLOW_TRACKING_URI."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        import mlflow

        self.module = mlflow
        if "MLFLOW_TRACKING_URI" not in os.environ:
            self.module.set_tracking_uri(f"sqlite:///{(folder / 'mlflow.db').resolve()}")
        self.module.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", "regard"))
        self.module.start_run(run_name=folder.name)
        self.module.log_params(dict(settings))

    def log(self, values: Mapping[str, float], step: int) -> None:
        # MLflow names hold no "@", as in ndcg@10.
        self.module.log_metrics({k.replace("@", "_at_"): v for k, v in values.items()}, step=step)

    def close(self) -> None:
        self.module.end_run()


class Trackio:
    """Logs to trackio's local database; TRACKIO_SPACE_ID names a Space."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        import trackio

        self.module = trackio
        self.module.init(
            project=os.environ.get("TRACKIO_PROJECT", "regard"),
            name=folder.name,
            config=dict(settings),
            space_id=os.environ.get("TRACKIO_SPACE_ID"),
            resume="allow",
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        self.module.log(dict(values), step=step)

    def close(self) -> None:
        self.module.finish()


TRACKERS: dict[str, Any] = {
    "tensorboard": TensorBoard,
    "wandb": WandB,
    "mlflow": MlFlow,
    "trackio": Trackio,
}


class TrackingWatcher(AbstractContextManager["TrackingWatcher"]):
    """Passes a training's events on to another watcher and to trackers.

    Args:
        watcher: The other watcher, if any.
        names: The trackers.
        folder: The run folder; trackers write below it once it exists.
        recipe: The recipe.

    """

    def __init__(
        self, watcher: Watcher | None, names: Sequence[str], folder: Path, recipe: Recipe
    ) -> None:
        self.watcher, self.folder = watcher or SilentWatcher(), folder
        self.settings = recipe.flat()
        self.kinds = [_find_tracker(name) for name in names]
        self.trackers: list[Tracker] = []
        self._stack = ExitStack()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def say(self, text: str) -> None:
        self.watcher.say(text)

    def step(self, progress: Progress) -> None:
        self.watcher.step(progress)
        if progress.step % JOURNAL_EVERY == 0 or progress.step == progress.steps:
            numbers = {"loss": progress.loss, "rate": progress.rate}
            numbers["tokens_per_second"] = progress.tokens_per_second
            self._log("train", numbers, progress.step)

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None:
        self.watcher.receive_evaluation(progress, measured)
        self._log("valid", measured.metrics, progress.step)

    def _log(self, group: str, values: Mapping[str, float], step: int) -> None:
        if not self.trackers:
            for kind in self.kinds:
                tracker: Tracker = kind(self.folder, self.settings, step)
                self.trackers.append(tracker)
                self._stack.callback(tracker.close)
        for tracker in self.trackers:
            tracker.log({f"{group}/{name}": value for name, value in values.items()}, step)


def _find_tracker(name: str) -> Any:  # noqa: ANN401 - one of the classes
    """Return a tracker's class; refuse an unknown name, or a package that is not installed."""
    if name not in TRACKERS:
        raise UsageError(f"{name} is not a tracker.", f"Name one of {', '.join(TRACKERS)}.")
    if find_spec(name) is None:
        raise UsageError(
            f"the tracker {name} is not installed.", f"Install it: pip install 'regard[{name}]'."
        )
    return TRACKERS[name]
