"""``regard claims``: what the papers say, measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, Page, check_new
from regard.cli.screen import clean, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from regard.claims.claim import Claim, Drawing
    from regard.claims.measuring import Outcome

AT_LENGTH = 3
"""Claims that were asked for by name are shown in detail, if they are no more than these."""

COLOURS = {"holds": "green", "fails": "red", "holds if": "yellow", "not measured": "dim"}
PLURALS = {"holds": "hold", "fails": "fail", "holds if": "hold if"}


def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names, families, numbers or sources (D3, Vaswani) of claims, or a word that they "
            "mention; nothing for all."
        ),
    ] = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Also measure the claims that train models: 45 minutes.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the claims and stop.")] = False,
    output: Page = None,
    document: Annotated[
        Path | None, typer.Option(help="Write docs/statements.md to this file and stop.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Measure what the papers say: each statement, its figure, and whether it holds.

    Fast claims are exact identities, counts and gradients. Slow ones train small models; what they
    found is kept, so that an interrupted call goes on where it stopped.

    Examples:
        regard claims
        regard claims scaling-keeps-gradients masks
        regard claims D3 --list
        regard claims "receptive field"
        regard claims 52 --json
        regard claims --slow --output claims.html

    """
    from regard.claims.registry import load_claims, select_claims

    if document is not None:
        from regard.claims.document import render_statements

        document.write_text(render_statements(), encoding="utf-8")
        return 0
    check_new(output, ".html")
    asked = select_claims(names) if names else list(load_claims().values())
    if listed:
        _list(asked, as_json=as_json)
        return 0
    outcomes = _measure(asked, slow=slow, quiet=as_json)
    if output is not None:
        from regard.claims.page import render_page

        output.write_text(render_page(outcomes), encoding="utf-8")
    if as_json:
        print_json([outcome.as_json() for outcome in outcomes])
    elif names and len(outcomes) <= AT_LENGTH:
        for outcome in outcomes:
            _tell(outcome)
    else:
        _show(outcomes)
    return int(any(one.problem and not one.claim.slow for one in outcomes))


def _measure(asked: "list[Claim]", *, slow: bool, quiet: bool) -> "list[Outcome]":
    from regard.claims.measuring import measure_all
    from regard.claims.trials import watch_trials
    from regard.cli.claims_progress import ClaimsScreen

    with ClaimsScreen(len(asked), quiet=quiet) as screen, watch_trials(screen):
        outcomes = []
        for outcome in measure_all(asked, slow=slow, before=screen.begin):
            outcomes.append(outcome)
            screen.done(outcome)
        return outcomes


def _list(asked: "list[Claim]", *, as_json: bool) -> None:
    from regard.cli.screen import print_rows

    if as_json:
        print_json(
            [
                {
                    "name": c.name,
                    "family": c.family,
                    "numbers": list(c.numbers),
                    "source": c.source,
                    "statement": c.statement,
                    "slow": c.slow,
                }
                for c in asked
            ]
        )
    else:
        rows = [
            (c.name, f"{'slow' if c.slow else 'fast'}  {c.statement} ({c.source})") for c in asked
        ]
        print_rows(rows)


def _show(outcomes: "list[Outcome]") -> None:
    """Print the table, family by family."""
    from rich.table import Table
    from rich.text import Text

    from regard.claims.claim import FAMILIES

    out = console()
    unmeasured = [one for one in outcomes if one.measurement is None and not one.problem]
    for family, title in FAMILIES.items():
        mine = [one for one in outcomes if one.claim.family == family and one not in unmeasured]
        if not mine:
            continue
        table = Table(title=title, title_justify="left", title_style="bold", expand=True, box=None)
        table.add_column("no.", justify="right", style="dim", no_wrap=True)
        table.add_column("claim", no_wrap=out.width >= 80, overflow="fold")
        table.add_column("measured", ratio=5, overflow="fold")
        table.add_column("verdict", ratio=2, overflow="fold")
        for one in mine:
            summary = clean(one.measurement.summary if one.measurement else one.problem)
            verdict = Text(clean(one.verdict) if one.measurement else one.kind, COLOURS[one.kind])
            table.add_row(str(one.claim.numbers[0]), one.claim.name, Text(summary), verdict)
        out.print(table)
        out.print()
    _sum_up(out, outcomes, unmeasured)


def _sum_up(out: "Console", outcomes: "list[Outcome]", unmeasured: "list[Outcome]") -> None:
    seconds = sum(one.seconds for one in outcomes if not one.claim.slow)
    counts = ", ".join(
        f"{many} {kind if many == 1 else PLURALS.get(kind, kind)}"
        for kind in COLOURS
        if (many := sum(one.kind == kind and one not in unmeasured for one in outcomes))
    )
    out.print(f"{counts}; the fast ones in {seconds:.0f} s", style="bold")
    if unmeasured:
        out.print(
            f"{len(unmeasured)} more {'trains' if len(unmeasured) == 1 else 'train'} models: "
            "regard claims --slow",
            style="dim",
            soft_wrap=True,
        )
    out.print("details of one: regard claims NAME   ·   a page: --output claims.html", style="dim")


def _tell(outcome: "Outcome") -> None:
    """Print one claim at length."""
    from regard.claims.claim import answer_briefly

    out, claim, measured = console(), outcome.claim, outcome.measurement
    out.print(claim.name, style="bold", end="  ")
    out.print(clean(outcome.verdict), style=COLOURS[outcome.kind])
    if measured is not None:
        out.print(f"\n{clean(answer_briefly(claim, measured))}\n", style="bold")
    out.print(f"“{claim.statement}”")
    out.print(f"{claim.source}; no. {', '.join(map(str, claim.numbers))}\n", style="dim")
    if measured is None:
        if not outcome.problem:
            out.print(f"Models are trained for it: regard claims {claim.name} --slow\n")
    else:
        out.print(f"Measured: {clean(measured.summary)}")
        out.print()
        _draw(out, _drawing(outcome))
        _figures(out, outcome)
    for heading, words in (
        ("The right value", claim.correction if measured is None else ""),
        ("How it is measured", claim.method),
        ("How to read it", claim.meaning),
        ("What to try next", claim.next_step),
        ("About", f"src/regard/{claim.layer}"),
    ):
        if words:
            out.print(f"{heading}: ", style="dim", end="")
            out.print(words)
    out.print()


def _drawing(outcome: "Outcome") -> "Drawing":
    from regard.claims.claim import choose_drawing

    assert outcome.measurement is not None
    return choose_drawing(outcome.measurement)


def _draw(out: "Console", drawing: "Drawing") -> None:
    from regard.claims.claim import Curves
    from regard.draw.bars import Bars, number, terminal_bars
    from regard.draw.sparkline import sparklines
    from regard.draw.terminal import TerminalMap

    if isinstance(drawing, Curves):
        out.print(f"{drawing.title}, by {drawing.x_label}", style="bold")
        side = max(len(line.name) for line in drawing.lines)
        curves = sparklines([line.ys for line in drawing.lines])
        for line, curve in zip(drawing.lines, curves, strict=True):
            ends = f"{number(float(line.ys[0]))} → {number(float(line.ys[-1]))}"
            out.print(f"{line.name:<{side}}  {curve}  {ends}")
    elif isinstance(drawing, Bars):
        out.print(terminal_bars(drawing, width=min(out.width, 100)), soft_wrap=True)
    else:
        out.print(TerminalMap(drawing))
    out.print()


def _figures(out: "Console", outcome: "Outcome") -> None:
    from rich.table import Table

    from regard.draw.bars import number

    assert outcome.measurement is not None
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("figure", "value", "supports it", "reference"):
        table.add_column(heading, header_style="dim", overflow="fold")
    for figure in outcome.measurement.figures:
        given = "" if figure.given is None else number(figure.given)
        if figure.note and not figure.agrees:
            given += f" ({figure.note})"
        supports = {True: "yes", False: "no", None: ""}[figure.supports]
        table.add_row(figure.name, number(figure.value), supports, given)
    out.print(table)
    out.print()
