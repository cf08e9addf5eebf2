"""The page of a search over settings: the judgement, curves of the trials, and their table."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard import __version__
from regard.draw.chart import Curve, line_chart
from regard.draw.frame import page
from regard.draw.markup import tag, text
from regard.recipe.settings import shown
from regard.tasks.scores import find_scale, format_score

MOST_CURVES = 4  # as many as there are colours
_SHORT = {"class_": "short"}
_HINT = (
    "A trial is trained from scratch on every rung, for the number of steps below its point; the "
    "best third, and the recipe itself, go on to three times as many. Scores are those on the "
    "held-out examples that rank the trials. They favour the winner; the judgement does not."
)


def tuning_page(found: Mapping[str, Any]) -> str:
    """Draw a search, as its JSON has it, as one self-contained page."""
    metric, winner, trials = found["metric"], found["winner"], found["trials"]
    done = [record for record in trials if record["status"] == "done"]
    count = len({record["trial"] for record in done})
    examples = found["examples"]
    summary = (
        f"{count} trials, ranked on {examples['search']:,} held-out examples and judged on "
        f"{examples['judgement']:,} others."
        + (" The search was interrupted." if found["interrupted"] else "")
    )
    parts = {
        "Judgement": _judgement(found),
        "Winner": _changes(winner) if winner else "",
        "Scores": _curves(done, metric),
        "Trials": _table(trials, metric),
    }
    title = f"Search over settings: {found['task']}"
    return page(title, summary, parts, version=__version__, kind="Search")


def _judgement(found: Mapping[str, Any]) -> str:
    words = [verdict["words"] for verdict in found["verdicts"]]
    return "".join(tag("p", text(each), dir="auto") for each in words)


def _changes(winner: Mapping[str, Any]) -> str:
    if not winner["changes"]:
        return tag("p", "The recipe itself: no change was better.")
    rows = [["setting", "value"], *([path, shown(v)] for path, v in winner["changes"].items())]
    return _rows(rows)


def _curves(done: Sequence[Mapping[str, Any]], metric: str) -> str:
    """Draw the scores of the trials that got furthest, and of all against the rung."""
    scale = find_scale(metric)
    by_trial: dict[int, list[Mapping[str, Any]]] = {}
    for record in done:
        by_trial.setdefault(record["trial"], []).append(record)
    lasting = sorted(by_trial, key=lambda n: (-len(by_trial[n]), n))[:MOST_CURVES]
    lines = [
        Curve(
            _name(number),
            [record["steps"] for record in by_trial[number]],
            [record["score"] * scale.factor for record in by_trial[number]],
        )
        for number in lasting
    ]
    unit = f"{metric}, {scale.unit}" if scale.unit else metric
    by_rung = [
        Curve(
            f"rung {rung + 1}",
            [place + 1 for place in range(len(scores))],
            scores,
        )
        for rung in sorted({record["rung"] for record in done})
        if (scores := sorted(r["score"] * scale.factor for r in done if r["rung"] == rung))
    ]
    charts = [
        line_chart(lines, title=f"{unit} by length of training", x_label="steps", alone=False),
        line_chart(by_rung, title=f"{unit} on every rung, sorted", x_label="place", alone=False),
    ]
    cards = [tag("div", chart, class_="card") for chart in charts]
    return tag("p", _HINT, class_="hint") + tag("div", *cards, class_="charts") if done else ""


def _table(trials: Sequence[Mapping[str, Any]], metric: str) -> str:
    """List every trial once, by the highest rung that it reached."""
    last = {record["trial"]: record for record in sorted(trials, key=lambda r: r["rung"])}
    rows = [["trial", "rung", "steps", metric, "minutes", "changes"]]
    for number, record in sorted(last.items(), key=lambda pair: (-pair[1]["rung"], pair[0])):
        score = "" if record["score"] is None else format_score(metric, record["score"])
        changes = ", ".join(f"{path} = {shown(v)}" for path, v in record["changes"].items())
        rows.append(
            [
                _name(number),
                str(record["rung"] + 1),
                f"{record['steps']:,}",
                score or record["status"],
                f"{record['seconds'] / 60:.1f}",
                f"{changes}. {record['problem']}" if record["problem"] else changes,
            ]
        )
    return _rows(rows)


def _name(number: int) -> str:
    return f"trial {number}" if number else "the recipe itself"


def _rows(rows: list[list[str]]) -> str:
    """Make a table whose last column has the room that the others leave."""
    head = tag("thead", tag("tr", *(tag("th", text(cell), **_SHORT) for cell in rows[0])))
    body = (
        tag(
            "tr",
            *(tag("td", text(cell), dir="auto", **_SHORT) for cell in row[:-1]),
            tag("td", text(row[-1]), dir="auto"),
        )
        for row in rows[1:]
    )
    return tag("div", tag("table", head, tag("tbody", *body)), class_="scroll")
