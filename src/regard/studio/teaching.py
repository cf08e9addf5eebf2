"""What the background process computes for the teaching views: chapters and claims, as JSON."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from regard.claims.claim import FAMILIES, Claim, Curves, Drawing, answer_briefly, choose_drawing
from regard.claims.measuring import Outcome, measure_all
from regard.claims.registry import load_claims
from regard.draw.bars import Bars
from regard.draw.picture import make_matrix
from regard.errors import UsageError
from regard.mechanisms.chapters import find_chapter, list_chapters
from regard.mechanisms.mechanism import Chart, Line, Matrix, Panel, Table


def describe_chapters() -> dict[str, Any]:
    """Describe all chapters, with the statements that their claims measure."""
    known = load_claims()
    chapters = list_chapters()
    for chapter in chapters:
        chapter["claims"] = [_describe(known[name]) for name in chapter["claims"]]
    return {"chapters": chapters}


def show_chapter(name: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Compute the panels of a chapter."""
    return {"panels": find_chapter(name).show(values)}


def describe_claims() -> dict[str, Any]:
    """Describe all claims, in the order of their families."""
    return {"families": FAMILIES, "claims": [_describe(one) for one in load_claims().values()]}


def measure_claim(name: str) -> dict[str, Any]:
    """Measure one claim; of those that train, only what was measured before is given."""
    known = load_claims()
    if name not in known:
        raise UsageError(f"there is no claim {name!r:.60}.", "See the list of claims.")
    (outcome,) = measure_all([known[name]], slow=False)
    return {**_describe(outcome.claim), **_judge(outcome)}


def _describe(one: Claim) -> dict[str, Any]:
    return {
        **{"name": one.name, "family": one.family, "numbers": one.numbers, "source": one.source},
        **{"statement": one.statement, "correction": one.correction, "slow": one.slow},
        **{"method": one.method, "meaning": one.meaning, "next_step": one.next_step},
        "layer": one.layer,
    }


def _judge(outcome: Outcome) -> dict[str, Any]:
    measured = outcome.measurement
    judged: dict[str, Any] = {
        **{"kind": outcome.kind, "verdict": outcome.verdict, "problem": outcome.problem},
        "seconds": round(outcome.seconds, 2),
    }
    if measured is None:
        return judged
    supports = {True: "yes", False: "no", None: ""}
    rows = [
        [
            figure.name,
            f"{figure.value:.6g}",
            supports[figure.supports],
            "" if figure.given is None else f"{figure.given:.6g}",
        ]
        for figure in measured.figures
    ]
    heads = ["figure", "value", "supports it", "reference"]
    panels = [_convert(choose_drawing(measured)), Table("Figures", heads, rows)]
    return {
        **judged,
        "summary": measured.summary,
        "answer": answer_briefly(outcome.claim, measured),
        "panels": [asdict(panel) for panel in panels if panel is not None],
    }


def _convert(drawing: Drawing) -> Panel | None:
    """Turn a claim's picture into a panel; bars are what the table of figures says."""
    if isinstance(drawing, Bars):
        return None
    if isinstance(drawing, Curves):
        lines = [
            Line(line.name, [float(x) for x in line.xs], [float(y) for y in line.ys])
            for line in drawing.lines
        ]
        return Chart(drawing.title, drawing.x_label, lines)
    values: list[list[float | None]] = make_matrix(drawing).tolist()
    return Matrix(drawing.title, values, list(drawing.rows), list(drawing.columns))


FUNCTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe_chapters": describe_chapters,
    "show_chapter": show_chapter,
    "describe_claims": describe_claims,
    "measure_claim": measure_claim,
}
