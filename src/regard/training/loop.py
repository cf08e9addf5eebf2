"""The training loop: step, evaluate, save, until the budget is spent."""

import math
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.errors import DiskError, Stopped, TrainingError
from regard.recipe.recipe import Recipe
from regard.tasks.scores import better
from regard.training import checkpoint
from regard.training.journal import Journal
from regard.training.state import State
from regard.training.step import Stepped, Stepper
from regard.training.stop import StopRequest
from regard.training.watcher import Progress, Watcher

MAX_SKIPPED = 3
WINDOW = 50  # steps over which the reported loss and speed are averaged
JOURNAL_EVERY = 20


class Loop:
    """Trains a state to the end of its budget.

    Args:
        stepper: Takes the steps.
        state: Model, optimizers and progress.
        valid: Examples to evaluate on while training.
        folder: Where checkpoints are saved.
        journal: Where events are recorded.
        watcher: Receives the same events.
        made_of: What the run is made of; a resumed run must be made of the same.

    """

    def __init__(
        self,
        stepper: Stepper,
        state: State,
        valid: Sequence[tuple[str, ...]],
        *,
        folder: Path,
        journal: Journal,
        watcher: Watcher,
        made_of: dict[str, Any],
    ) -> None:
        self.stepper, self.state, self.valid = stepper, state, valid
        self.folder, self.journal, self.watcher = folder, journal, watcher
        self.made_of = made_of
        self.recipe: Recipe = stepper.recipe
        self.steps = stepper.steps
        self._recent: deque[tuple[Stepped, float]] = deque(maxlen=WINDOW)

    def run(self) -> None:
        """Train until the budget is spent, patience runs out or a signal arrives."""
        standing, settings = self.state.standing, self.recipe.training
        evaluate_at = spread_steps(settings.evaluations, self.steps)
        save_at = spread_steps(settings.checkpoints, self.steps)
        if settings.evaluate_first and not standing.step:
            self._evaluate()
        with StopRequest() as stop:
            while standing.step < self.steps and not self._out_of_patience():
                self._step()
                if standing.step in evaluate_at:
                    self._evaluate()
                if standing.step in save_at or stop.requested:
                    self._save()
                if stop.requested and standing.step < self.steps:
                    raise Stopped(
                        f"stopped by a signal after step {standing.step} of {self.steps}; "
                        "everything is saved.",
                        "Go on with --resume.",
                    )

    def _step(self) -> None:
        standing = self.state.standing
        begin = time.perf_counter()
        stepped = self.stepper.take(self.state, standing.step)
        seconds = time.perf_counter() - begin
        if not stepped.finite:
            self._skip(stepped)
        standing.step += 1
        standing.seconds += seconds
        standing.tokens += stepped.tokens
        self._recent.append((stepped, seconds))
        progress = self._progress()
        self.watcher.step(progress)
        if standing.step % JOURNAL_EVERY == 0 or standing.step == self.steps:
            self.journal.write("step", **vars(progress), gradient=stepped.gradient)

    def _skip(self, stepped: Stepped) -> None:
        standing = self.state.standing
        standing.skipped.append(standing.step)
        self.journal.write("skipped", step=standing.step, loss=repr(stepped.loss))
        self.watcher.say(f"step {standing.step}: loss is NaN or infinite; step skipped")
        if len(standing.skipped) > MAX_SKIPPED:
            numbers = self.stepper.stream[standing.step][:8].tolist()
            raise TrainingError(
                f"the loss or its gradient is NaN or infinite in steps {standing.skipped}; the "
                f"last one's batch begins with examples {numbers}.",
                "Lower training.optimizer.rate, or inspect those examples. The last checkpoint is "
                "intact.",
            )

    def _progress(self) -> Progress:
        standing = self.state.standing
        seconds = sum(seconds for _, seconds in self._recent)
        finite = [stepped for stepped, _ in self._recent if stepped.finite]
        tokens = sum(stepped.tokens for stepped in finite)
        targets = sum(stepped.targets for stepped in finite)
        total = sum(stepped.loss * stepped.targets for stepped in finite)
        return Progress(
            step=standing.step,
            steps=self.steps,
            epoch=self.stepper.stream.locate(standing.step).epoch,
            loss=total / max(1, targets) if self._recent else math.nan,
            rate=self._recent[-1][0].rate if self._recent else 0.0,
            tokens_per_second=tokens / max(seconds, 1e-9),
            seconds=standing.seconds,
            seconds_left=(self.steps - standing.step) * seconds / max(1, len(self._recent)),
        )

    def _evaluate(self) -> None:
        standing, task = self.state.standing, self.stepper.task
        current = None
        if self.state.ema:
            current = {n: w.detach().clone() for n, w in self.state.parameters.items()}
            self.state.put(self.state.ema)
        measured = task.measure(self.state.model, self.valid, quick=True)
        if current is not None:
            self.state.put(current)
        score = measured.metrics[task.metric]
        standing.waited += 1
        if standing.best is None or better(task.metric, score, than=standing.best):
            standing.best, standing.best_step, standing.waited = score, standing.step, 0
            if self.recipe.training.keep == "best":
                self.state.best = self.state.copy()
        progress = self._progress()
        self.journal.write(
            "evaluation",
            step=standing.step,
            epochs=standing.step / self.stepper.stream.steps_per_epoch,
            seconds=standing.seconds,
            metrics=measured.metrics,
        )
        self.watcher.measured(progress, measured._replace(samples=measured.samples[:3]))

    def _save(self) -> None:
        keep = max(2, self.recipe.training.average)
        try:
            checkpoint.save(self.folder, self.state.to_checkpoint(self.made_of), keep=keep)
        except DiskError as error:
            self.journal.write("not saved", step=self.state.standing.step, why=error.problem)
            raise

    def _out_of_patience(self) -> bool:
        patience = self.recipe.training.patience
        return bool(patience) and self.state.standing.waited >= patience


def spread_steps(times: int, steps: int) -> set[int]:
    """Return ``times`` evenly spaced steps; the last step is always one of them."""
    return {max(1, round(steps * (n + 1) / times)) for n in range(times)}
