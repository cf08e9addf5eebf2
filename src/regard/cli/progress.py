"""Training, seen: one live line, a table of evaluations, samples; plain lines in a pipe."""

import time
from types import TracebackType

from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from regard.cli.screen import clean, console
from regard.draw.label import shorten
from regard.run import Run
from regard.tasks.scores import (
    describe_alone,
    format_duration,
    format_score,
    is_better,
    tabulate_scores,
)
from regard.tasks.task import Evaluation
from regard.training.watcher import Progress

COLUMNS = 8 + 9 + 7 + 8 + 2  # minutes, step, epoch, loss; the star
PLAIN_EVERY = 30.0  # seconds between two lines when nobody sees them live


class TrainingScreen:
    """Shows a training on stderr, so that stdout stays free.

    Args:
        quiet: Whether to show nothing but evaluations' absence; for ``--json``.

    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = console(to_stderr=True)
        self.quiet = quiet
        self.live = self.console.is_terminal and not quiet
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._printed = 0.0
        self._best: float | None = None
        self._headed = False
        self._began = time.monotonic()

    def __enter__(self) -> "TrainingScreen":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        if not self.quiet:
            self.console.print(clean(text), style="dim")

    def step(self, progress: Progress) -> None:
        if self.quiet:
            return
        if self.live:
            self._show(progress)
        elif time.monotonic() - self._printed > PLAIN_EVERY:
            self._printed = time.monotonic()
            self.console.print(line(progress))

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None:
        if self.quiet:
            return
        if not self._headed:
            self._headed = True
            names = "".join(f"{name:>{_width(name)}}" for name in self._fitting(measured))
            self.console.print(f"{'minutes':>8}{'step':>9}{'epoch':>7}{'loss':>8}{names}")
        name, score = next(iter(measured.metrics.items()))
        star = ""
        if self._best is None or is_better(name, score, than=self._best):
            self._best, star = score, " *"
        scores = "".join(
            f"{format_score(name, measured.metrics[name]):>{_width(name)}}"
            for name in self._fitting(measured)
        )
        self.console.print(
            f"{progress.seconds / 60:8.1f}{progress.step:9,}{progress.epoch:7}"
            f"{progress.loss:8.3f}{scores}{star}",
            style="bold" if star else "",
        )
        if measured.samples:
            sample, room = measured.samples[0], self.console.width - 9
            self.console.print(f"         {shorten(clean(sample.asked), room)}", style="dim")
            answered = clean(sample.answered) or "(nothing)"
            self.console.print(f"         → {shorten(answered, room - 2)}", style="cyan")

    def _fitting(self, measured: Evaluation) -> list[str]:
        """Return the metrics whose columns fit the screen, the first one always."""
        names = list(measured.metrics)
        room = self.console.width - COLUMNS
        while len(names) > 1 and sum(map(_width, names)) > room:
            names.pop()
        return names

    def conclude(self, run: Run) -> None:
        """Print the scores of a finished run, and what to type next."""
        summary, rows = run.summary, tabulate_scores(run.evaluation)
        self.console.print()
        widest = max(8, *(len(row.metric) for row in rows))
        for row in rows:
            scores = row.format()
            written = f"{row.metric:>{widest}} {scores.pop('model'):>7}"
            others = ", ".join(f"{who} {score}" for who, score in scores.items())
            self.console.print(written + (f"    ({others})" if others else ""), style="bold")
        for signature in summary["signature"].values():
            self.console.print(f"{'':{widest}} {signature}", style="dim")
        if alone := describe_alone(run.evaluation):
            self.console.print(alone)
        whole = time.monotonic() - self._began
        self.console.print(
            f"\n{summary['steps']:,} steps in {format_duration(summary['seconds'])}, "
            f"{summary['tokens_per_second']:,.0f} tokens/s; {format_duration(whole)} with reading "
            "the data,"
        )
        self.console.print(f"evaluation and the report. The run is in {run.folder}")
        self.console.print(
            f"next: regard predict {run.folder} TEXT   ·   open {run.folder}/report.html",
            style="dim",
        )

    def _show(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = Bar(
                BarColumn(bar_width=20),
                TextColumn("{task.fields[text]}"),
                console=self.console,
                transient=True,
                auto_refresh=False,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=progress.steps, text="")
        assert self._task is not None
        self._bar.update(self._task, completed=progress.step, text=line(progress))
        if time.monotonic() - self._printed > 0.2:
            self._printed = time.monotonic()
            self._bar.refresh()


def _width(name: str) -> int:
    return max(9, len(name) + 2)


def line(progress: Progress) -> str:
    """One line that says where training stands."""
    left = int(progress.seconds_left)
    return (
        f"step {progress.step:,}/{progress.steps:,}  loss {progress.loss:.3f}  "
        f"{progress.tokens_per_second:,.0f} tokens/s  {left // 60}:{left % 60:02d} left"
    )
