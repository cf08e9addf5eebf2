"""``regard tune``: search for better settings of a recipe, within a duration."""

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, Sets
from regard.cli.screen import clean, console, fold, print_json, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.tune.outcome import Outcome
    from regard.tune.standing import Standing
    from regard.tune.trials import Record

INTERRUPTED = 130
CHANGES = 32  # column where the changes of a trial begin
PLAIN_EVERY = 30.0  # seconds between two lines when nobody sees them live
SHOWN = 8  # rows of the table
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def tune(  # noqa: PLR0913, PLR0917 - one for each option
    recipe: Annotated[str, typer.Argument(help="A recipe file, or the name of a shipped one.")],
    duration: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="How long to search: 20min, or 5000 steps of the recipe itself."
        ),
    ] = "20min",
    trials: Annotated[int | None, typer.Option(min=1, help="Most trials of the search.")] = None,
    size: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Largest model file, such as 10MB.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides which settings are tried.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FOLDER", help="The folder to write; tuned/NAME by default."
        ),
    ] = None,
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a search that was stopped, by its own plan.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Search for better settings of a recipe, by successive halving over short trainings.

    Ctrl-C ends the search and keeps the best so far. The same plan gives the same winner: --seed
    and the number of steps decide, which the duration is converted into once.

    Examples:
        regard tune recipe.toml --duration 20min
        regard tune recipe.toml --duration 1h --size 10MB
        regard tune recipe.toml --duration "5000 steps" --trials 30 --seed 2
        regard tune recipe.toml --resume

    """
    from regard.recipe.load import load
    from regard.report.tuning import tuning_page
    from regard.tune.outcome import trials_csv
    from regard.tune.planning import Options
    from regard.tune.search import tune as search

    folder = output or Path("tuned") / Path(recipe).stem
    options = Options(_duration(duration), trials, _bytes(size), seed)
    with SearchScreen(quiet=as_json) as screen:
        outcome = search(load(recipe, sets), folder, options, screen, resume=resume)
    found = outcome.as_json()
    outcome.write_recipe()
    table = trials_csv(outcome.records, outcome.metric)
    (folder / "trials.csv").write_text(table, encoding="utf-8")
    (folder / "report.html").write_text(tuning_page(found), encoding="utf-8")
    if as_json:
        print_json(found)
    else:
        _print_outcome(outcome)
    return INTERRUPTED if outcome.interrupted else 0


class SearchScreen:
    """Shows a search on stderr: one live line, and a line for every finished trial.

    Args:
        quiet: Whether to show nothing, for ``--json``.

    """

    def __init__(self, *, quiet: bool) -> None:
        self.console, self.quiet = console(to_stderr=True), quiet
        self.live = self.console.status("") if self.console.is_terminal and not quiet else None
        self._shown, self._rung = 0.0, -1

    def __enter__(self) -> "SearchScreen":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        if self.live:
            self.live.stop()

    def say(self, text: str) -> None:
        if not self.quiet:
            folded = fold(clean(text), indent=0, to=sys.stderr)
            self.console.print(folded, style="dim", soft_wrap=True)

    def receive_standing(self, standing: "Standing") -> None:
        if time.monotonic() - self._shown < (0.2 if self.live else PLAIN_EVERY) or self.quiet:
            return
        self._shown = time.monotonic()
        if self.live:
            self.live.update(describe_standing(standing))
        else:
            self.console.print(describe_standing(standing), soft_wrap=True)

    def receive_record(self, record: "Record", standing: "Standing") -> None:
        from regard.tasks.scores import format_score
        from regard.tune.outcome import describe_changes, name_of

        if self.quiet:
            return
        if record.rung != self._rung:
            self._rung = record.rung
            self.console.print(f"rung {record.rung + 1} of {standing.rungs}")
        best = standing.best == record
        if self.live:
            self.live.update(describe_standing(standing))
        score = (
            record.problem if record.score is None else format_score(standing.metric, record.score)
        )
        changes = describe_changes(record.changes) if record.trial else ""
        line = f"  {name_of(record.trial):<18} {score:>8}{' *' if best else '  '} {changes}"
        folded = fold(clean(line).rstrip(), indent=CHANGES, to=sys.stderr)
        self.console.print(folded, style="bold" if best else "", soft_wrap=True)


def describe_standing(standing: "Standing") -> str:
    """Say in one line where a search stands."""
    from regard.tasks.scores import format_score
    from regard.tune.outcome import describe_changes

    best, left = standing.best, standing.seconds_left
    parts = [f"trials {standing.done}/{standing.all}", f"rung {standing.rung + 1}/{standing.rungs}"]
    if best is not None and best.score is not None:
        score = format_score(standing.metric, best.score)
        parts.append(f"best {standing.metric} {score} ({describe_changes(best.changes)})")
    if left is not None:
        parts.append(f"{int(left) // 60}:{int(left) % 60:02d} left")
    return clean("  ".join(parts))


def _print_outcome(outcome: "Outcome") -> None:
    """Print the best trials, the judgement and what to type next."""
    from regard.tasks.scores import format_score
    from regard.tune.outcome import describe_changes, name_of

    winner = outcome.winner
    if winner is None:
        print_text("no trial has finished; go on with --resume")
        return
    print_text(f"\n{'':<18} {'steps':>8} {outcome.metric:>10}  changes")
    for record in outcome.ranked()[:SHOWN]:
        score = format_score(outcome.metric, record.score or 0.0)
        changes = describe_changes(record.changes) if record.trial else ""
        line = f"{name_of(record.trial):<18} {record.steps:>8,} {score:>10}  {changes}"
        print_text(fold(clean(line).rstrip(), indent=len(line) - len(changes)))
    print_text("")
    for verdict in outcome.verdicts:
        print_text(fold(clean(verdict.words), indent=0))
    if outcome.interrupted:
        print_text("The search was interrupted; --resume continues it. This is the best so far.")
    print_text(f"\nThe settings of {name_of(winner.trial)} are in {outcome.folder}/recipe.toml")
    print_text(
        f"next: regard train {outcome.folder}/recipe.toml   ·   open {outcome.folder}/report.html"
    )


def _duration(text: str) -> str:
    from regard.recipe.budget import EXAMPLES, parse_budget
    from regard.recipe.settings import Refused

    try:
        parse_budget(text)
    except Refused as error:
        raise UsageError(f"--duration: {error.problem}.", f"Write one of {EXAMPLES}.") from None
    return text


def _bytes(text: str | None) -> int | None:
    """Parse a number of bytes: 10MB, 10MiB or 10000000."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", text.strip().lower())
    if not found or not float(found[1]):
        raise UsageError(f'--size takes a number of bytes; got "{text}".', "Write 10MB or 500kB.")
    return int(float(found[1]) * _UNITS[found[2] or ""])
