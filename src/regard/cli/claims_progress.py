"""Claims being measured, seen: one live line on stderr; plain lines in a pipe."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from regard.cli.progress import PLAIN_EVERY, line
from regard.cli.screen import clean, console

if TYPE_CHECKING:
    from regard.claims.claim import Claim
    from regard.claims.measuring import Outcome
    from regard.tasks.task import Evaluation
    from regard.training.watcher import Progress


class ClaimsScreen:
    """Says which claim is being measured, and how far its training is.

    Args:
        many: How many claims there are.
        quiet: Whether to show nothing; for ``--json``.

    """

    def __init__(self, many: int, *, quiet: bool = False) -> None:
        self.console, self.many, self.quiet = console(to_stderr=True), many, quiet
        self.live = self.console.is_terminal and not quiet
        self.status = self.console.status("") if self.live else None
        self.number, self.name, self._shown = 0, "", time.monotonic()

    def __enter__(self) -> "ClaimsScreen":
        if self.status is not None:
            self.status.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self.status is not None:
            self.status.stop()

    def begin(self, claim: "Claim") -> None:
        """Say that a claim is being measured."""
        self.number, self.name = self.number + 1, claim.name
        self._show("")

    def done(self, outcome: "Outcome") -> None:
        """Say what a claim that took long came to."""
        if outcome.seconds > 10 and not self.quiet:
            summary = outcome.measurement.summary if outcome.measurement else outcome.problem
            self.console.print(
                clean(f"{outcome.claim.name}: {summary} ({outcome.seconds:.0f} s)"), style="dim"
            )

    def say(self, text: str) -> None:
        self._show(text)

    def step(self, progress: "Progress") -> None:
        late = time.monotonic() - self._shown > (0.3 if self.live else PLAIN_EVERY)
        if late and not self.quiet:
            self._show(line(progress))
            if not self.live:
                self.console.print(f"{self.name}  {line(progress)}")

    def receive_evaluation(self, progress: "Progress", measured: "Evaluation") -> None: ...

    def _show(self, text: str) -> None:
        self._shown = time.monotonic()
        if self.status is not None:
            self.status.update(clean(f"{self.number}/{self.many} {self.name}  {text}"))
