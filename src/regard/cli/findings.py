"""What a check of data found, on the screen: one entry per kind, the worst first."""

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.screen import clean, console, print_text

if TYPE_CHECKING:
    from regard.data.check import Report, Summary

STYLES = {"fatal": "bold red", "bad": "red", "warning": "yellow", "note": "dim"}
_FIRST = 3
_LONGEST = 160


def print_findings(report: "Report") -> None:
    """Print how many findings there are of each kind, and the first places."""
    out = console()
    for kind in report.summarize():
        times = f"{kind.total:,} × {kind.kind}"
        line = f"{kind.severity:8}{times}: {_list_places(kind)}"
        out.print(clean(line), style=STYLES[kind.severity], soft_wrap=True)
        for text in _describe(kind, skip=report.skip):
            out.print(_indent(clean(text), out.width), soft_wrap=True)
    counts = ", ".join(f"{name} {count:,}" for name, count in report.records.items())
    print_text(f"examples: {counts}; {_verdict(report)}")


def _verdict(report: "Report") -> str:
    if not report.ok:
        return "training would stop at what is fatal or bad"
    if report.bad:
        lines = "line is" if report.bad == 1 else "lines are"
        return f'{report.bad:,} bad {lines} skipped (data.on_bad_line = "skip")'
    return "the data can be read"


def _describe(kind: "Summary", *, skip: bool) -> tuple[str, str]:
    """Return the problem of the first finding, paths relative to its file, and a remedy."""
    first = kind.first[0]
    problem = first.problem.replace(f"{Path(first.file).parent}{os.sep}", "")
    if len(problem) > _LONGEST:
        problem = f"{problem[:_LONGEST]}…"
    skipped = skip and kind.severity == "bad"
    remedy = "Skipped, as data.on_bad_line says." if skipped else first.remedy
    return f"first: {problem}" if kind.total > 1 else problem, remedy


def _indent(text: str, width: int) -> str:
    margin = " " * 8
    return textwrap.fill(
        text,
        max(40, width),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _list_places(kind: "Summary") -> str:
    """Name the first places, a file only where it changes."""
    shown: list[str] = []
    before = ""
    for finding in kind.first[:_FIRST]:
        name = Path(finding.file).name if finding.file else finding.split
        place = f"{name}:{finding.line}" if finding.line else name
        shown.append(str(finding.line) if name == before and finding.line else place)
        before = name
    more = [f"and {kind.total - len(shown):,} more"] if kind.total > len(shown) else []
    return ", ".join(dict.fromkeys([*shown, *more]))
