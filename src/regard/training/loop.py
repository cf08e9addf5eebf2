"""The training loop: step, evaluate, save, until the budget is spent."""

import math
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.errors import DiskError, Stopped, TrainingError
from regard.recipe.recipe import Recipe
from regard.tasks.scores import is_better
from regard.tasks.task import Sample
from regard.training import checkpoint
from regard.training.journal import Journal
from regard.training.state import State
from regard.training.step import Stepper, StepResult
from regard.training.stop import StopRequest
from regard.training.watcher import Progress, Watcher

MAX_SKIPPED = 3
WINDOW = 50  # steps over which the reported loss and speed are averaged
JOURNAL_EVERY = 20
SAMPLES = 3  # answers that are recorded with each evaluation
MOST_LETTERS = 500  # of each side of a recorded sample


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
        self._recent: deque[tuple[StepResult, float]] = deque(maxlen=WINDOW)

    def run(self) -> None:
        """Train until the budget is spent, patience runs out or a signal arrives."""
        counters, settings = self.state.counters, self.recipe.training
        evaluate_at = spread_steps(settings.evaluations, self.steps)
        save_at = spread_steps(settings.checkpoints, self.steps)
        if settings.evaluate_first and not counters.step:
            self._evaluate()
        with StopRequest() as stop:
            while counters.step < self.steps and not self._out_of_patience():
                self._step()
                if counters.step in evaluate_at:
                    self._evaluate()
                if counters.step in save_at or stop.requested:
                    self._save()
                if stop.requested and counters.step < self.steps:
                    raise Stopped(
                        f"stopped by a signal after step {counters.step} of {self.steps}; "
                        "everything is saved.",
                        "Go on with --resume.",
                    )

    def _step(self) -> None:
        counters = self.state.counters
        begin = time.perf_counter()
        result = self.stepper.take(self.state, counters.step)
        seconds = time.perf_counter() - begin
        if not result.finite:
            self._skip(result)
        counters.step += 1
        counters.seconds += seconds
        counters.tokens += result.tokens
        self._recent.append((result, seconds))
        progress = self._progress()
        self.watcher.step(progress)
        if counters.step % JOURNAL_EVERY == 0 or counters.step == self.steps:
            facts = {**vars(progress), "tokens": counters.tokens, "gradient": result.gradient}
            self.journal.write("step", **facts)

    def _skip(self, result: StepResult) -> None:
        counters = self.state.counters
        counters.skipped.append(counters.step)
        self.journal.write("skipped", step=counters.step, loss=repr(result.loss))
        self.watcher.say(f"step {counters.step}: loss is NaN or infinite; step skipped")
        if len(counters.skipped) > MAX_SKIPPED:
            numbers = self.stepper.stream[counters.step][:8].tolist()
            raise TrainingError(
                f"the loss or its gradient is NaN or infinite in steps {counters.skipped}; the "
                f"last one's batch begins with examples {numbers}.",
                "Lower training.optimizer.rate, or inspect those examples. The last checkpoint is "
                "intact.",
            )

    def _progress(self) -> Progress:
        counters = self.state.counters
        seconds = sum(seconds for _, seconds in self._recent)
        finite = [result for result, _ in self._recent if result.finite]
        tokens = sum(result.tokens for result in finite)
        targets = sum(result.targets for result in finite)
        total = sum(result.loss * result.targets for result in finite)
        return Progress(
            step=counters.step,
            steps=self.steps,
            epoch=self.stepper.stream.locate(counters.step).epoch,
            loss=total / max(1, targets) if self._recent else math.nan,
            rate=self._recent[-1][0].rate if self._recent else 0.0,
            tokens_per_second=tokens / max(seconds, 1e-9),
            seconds=counters.seconds,
            seconds_left=(self.steps - counters.step) * seconds / max(1, len(self._recent)),
        )

    def _evaluate(self) -> None:
        counters, task = self.state.counters, self.stepper.task
        current = None
        if self.state.ema:
            current = {n: w.detach().clone() for n, w in self.state.parameters.items()}
            self.state.load_parameters(self.state.ema)
        measured = task.measure(self.state.model, self.valid, quick=True)
        if current is not None:
            self.state.load_parameters(current)
        score = measured.metrics[task.metric]
        counters.waited += 1
        if counters.best is None or is_better(task.metric, score, than=counters.best):
            counters.best, counters.best_step, counters.waited = score, counters.step, 0
            if self.recipe.training.keep == "best":
                self.state.best = self.state.copy_parameters()
        progress = self._progress()
        self.journal.write(
            "evaluation",
            step=counters.step,
            epochs=counters.step / self.stepper.stream.steps_per_epoch,
            seconds=counters.seconds,
            tokens=counters.tokens,
            metrics=measured.metrics,
            samples=[_shorten(sample) for sample in measured.samples[:SAMPLES]],
        )
        shown = measured._replace(samples=measured.samples[:SAMPLES])
        self.watcher.receive_evaluation(progress, shown)

    def _save(self) -> None:
        keep = max(2, self.recipe.training.average)
        if broken := self.state.find_not_finite():
            raise TrainingError(
                f"after step {self.state.counters.step} {broken} holds NaN or infinite numbers; no "
                "checkpoint was written of it.",
                "Lower training.optimizer.rate. The checkpoint before is intact.",
            )
        self.journal.sync()
        try:
            checkpoint.save(self.folder, self.state.to_checkpoint(self.made_of), keep=keep)
        except DiskError as error:
            self.journal.write("not saved", step=self.state.counters.step, why=error.problem)
            raise

    def _out_of_patience(self) -> bool:
        patience = self.recipe.training.patience
        return bool(patience) and self.state.counters.waited >= patience


def _shorten(sample: Sample) -> dict[str, str]:
    """Return the texts of a sample as the journal has them: long ones cut, with a mark."""
    texts = {name: getattr(sample, name) for name in ("asked", "expected", "answered")}
    return {
        name: text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
        for name, text in texts.items()
    }


def spread_steps(times: int, steps: int) -> set[int]:
    """Return ``times`` evenly spaced steps; the last step is always one of them."""
    return {max(1, round(steps * (n + 1) / times)) for n in range(times)}
