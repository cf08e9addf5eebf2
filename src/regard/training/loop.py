"""The loop: step, look, save, until the budget is spent."""

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

MOST_SKIPPED = 3
RECENT = 50  # steps over which the shown loss and speed are averaged
JOURNAL_EVERY = 20


class Loop:
    """Trains a state to the end of its budget.

    Args:
        stepper: Takes the steps.
        state: What learns.
        valid: Examples to choose by.
        folder: Where checkpoints go.
        journal: Where it is written down.
        watcher: Who looks on.

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
        self._recent: deque[tuple[Stepped, float]] = deque(maxlen=RECENT)

    def run(self) -> None:
        """Train until the budget is spent, patience ends or a signal comes."""
        standing, settings = self.state.standing, self.recipe.training
        measure_at = spread(settings.evaluations, self.steps)
        save_at = spread(settings.checkpoints, self.steps)
        if settings.evaluate_first and not standing.step:
            self._measure()
        with StopRequest() as stop:
            while standing.step < self.steps and not self._patience_is_out():
                self._step()
                if standing.step in measure_at:
                    self._measure()
                if standing.step in save_at or stop.asked:
                    self._save()
                if stop.asked and standing.step < self.steps:
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
        self.watcher.say(f"step {standing.step} gave a loss that is no number and was skipped")
        if len(standing.skipped) > MOST_SKIPPED:
            numbers = self.stepper.stream[standing.step][:8].tolist()
            raise TrainingError(
                f"a loss must be a number. Steps {standing.skipped} gave none; the last one had "
                f"examples {numbers} and others.",
                "Lower training.optimizer.rate, or look at those examples; the last checkpoint "
                "is sound.",
            )

    def _progress(self) -> Progress:
        standing = self.state.standing
        seconds = sum(seconds for _, seconds in self._recent)
        finite = [stepped for stepped, _ in self._recent if stepped.finite]
        tokens = sum(stepped.tokens for stepped in finite)
        targets = sum(stepped.targets for stepped in finite)
        lost = sum(stepped.loss * stepped.targets for stepped in finite)
        return Progress(
            step=standing.step,
            steps=self.steps,
            epoch=self.stepper.stream.locate(standing.step).epoch,
            loss=lost / max(1, targets) if self._recent else math.nan,
            rate=self._recent[-1][0].rate if self._recent else 0.0,
            tokens_per_second=tokens / max(seconds, 1e-9),
            seconds=standing.seconds,
            seconds_left=(self.steps - standing.step) * seconds / max(1, len(self._recent)),
        )

    def _measure(self) -> None:
        standing, task = self.state.standing, self.stepper.task
        own = None
        if self.state.ema:
            own = {n: w.detach().clone() for n, w in self.state.parameters.items()}
            self.state.put(self.state.ema)
        measured = task.measure(self.state.model, self.valid, quick=True)
        if own is not None:
            self.state.put(own)
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

    def _patience_is_out(self) -> bool:
        patience = self.recipe.training.patience
        return bool(patience) and self.state.standing.waited >= patience


def spread(times: int, steps: int) -> set[int]:
    """Spread ``times`` steps evenly up to the last one, which is always among them."""
    return {max(1, round(steps * (n + 1) / times)) for n in range(times)}
