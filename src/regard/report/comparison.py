"""The page of a comparison: scores, what can be chance, and curves with bands over seeds."""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

from regard import __version__
from regard.draw.chart import Curve, line_chart
from regard.draw.frame import page, tabs
from regard.draw.markup import tag, text
from regard.inference.comparison import Comparison
from regard.inference.grouping import Group
from regard.tasks.scores import find_scale
from regard.tasks.significance import interval

AXES = ("minutes", "steps", "epochs")
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"±": r"$\pm$", "—": "---"}
)


def comparison_page(compared: Comparison) -> str:
    """Draw a comparison as one self-contained page."""
    runs = sum(len(group.runs) for group in compared.groups)
    summary = (
        f"{compared.task}: {runs} runs in {len(compared.groups)} groups, measured on "
        f"{compared.examples:,} examples of {compared.split}. The baseline is "
        f"{compared.baseline_name}."
    )
    parts = {
        "Scores": _table(compared.rows()),
        "Chance": "".join(tag("p", text(pair.words), dir="auto") for pair in compared.main_pairs),
        "Curves": _curves(compared.groups),
        "Runs": _table(
            [["group", "seed", "folder", "steps", "minutes"]]
            + [row for group in compared.groups for row in _runs(group)]
        ),
    }
    title = f"{len(compared.groups)} groups of {compared.task}, compared"
    return page(title, summary, parts, version=__version__, kind="Comparison")


def comparison_csv(compared: Comparison) -> str:
    """Write the means and half-widths of the 95% intervals as CSV, one row per group and metric."""
    file = StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["group", "seeds", "metric", "mean", "half_interval"])
    for group in compared.groups:
        for metric, (mean, half, seeds) in group.scores.items():
            table.writerow([group.name, seeds, metric, mean, "" if half is None else half])
    for metric, score in compared.baseline.items():
        table.writerow(["baseline", "", metric, score, ""])
    return file.getvalue()


def comparison_latex(compared: Comparison) -> str:
    """Write the table of scores for LaTeX, with the rules of booktabs."""
    cells = [[cell.translate(_LATEX) for cell in row] for row in compared.rows()]
    head, *rows = [" & ".join(row) + r" \\" for row in cells]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(cells[0]) - 1)}}}"
    ends = [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, *ends])


WRITERS = {".html": comparison_page, ".csv": comparison_csv, ".tex": comparison_latex}
"""By the ending of the file."""


def lines_of(groups: Sequence[Group], metric: str, axis: str) -> list[Curve]:
    """Give every group's curve of a metric: the mean over its seeds, least and greatest as band."""
    lines = []
    for group in groups:
        factor = find_scale(metric).factor
        seeds = [_evaluations(run.journal, metric, axis) for run in group.runs]
        length = min(map(len, seeds))
        if not length:
            continue
        at = [[points[n] for points in seeds] for n in range(length)]
        xs = [sum(x for x, _ in points) / len(points) for points in at]
        values = [[y * factor for _, y in points] for points in at]
        means = [sum(ys) / len(ys) for ys in values]
        lows, highs = [min(ys) for ys in values], [max(ys) for ys in values]
        lines.append(Curve(group.name, xs, means, lows, highs))
    return lines


def mean_curves(groups: Sequence[Group]) -> dict[str, list[dict[str, Any]]]:
    """Give by metric every group's curve: the mean over its seeds, and its 95% interval."""
    measured = [_evaluation_events(group.runs[0].journal) for group in groups]
    lines = [line for events in measured for line in events]
    metrics = dict.fromkeys(name for line in lines for name in line["metrics"])
    return {
        metric: [curve for group in groups if (curve := _mean_curve(group, metric))["steps"]]
        for metric in metrics
    }


def _mean_curve(group: Group, metric: str) -> dict[str, Any]:
    """Average where every seed of a group was measured."""
    seeds = [dict(_evaluations(run.journal, metric, "steps")) for run in group.runs]
    steps = sorted(set.intersection(*map(set, seeds)))
    found = [interval([points[step] for points in seeds]) for step in steps]
    return {
        "group": group.name,
        "seeds": len(seeds),
        "steps": steps,
        "mean": [one.mean for one in found],
        "half": [one.half for one in found],
    }


def _evaluation_events(journal: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in journal if line["event"] == "evaluation"]


def _evaluations(
    journal: list[dict[str, Any]], metric: str, axis: str
) -> list[tuple[float, float]]:
    names = {"minutes": "seconds", "steps": "step", "epochs": "epochs"}
    scale = 1 / 60 if axis == "minutes" else 1.0
    return [
        (line[names[axis]] * scale, line["metrics"][metric])
        for line in _evaluation_events(journal)
        if metric in line["metrics"] and names[axis] in line
    ]


def _curves(groups: Sequence[Group]) -> str:
    metrics = [
        metric
        for line in _evaluation_events(groups[0].runs[0].journal)
        for metric in line["metrics"]
    ]
    units = {metric: find_scale(metric).unit for metric in metrics}
    titles = {f"{metric}, {unit}" if unit else metric: metric for metric, unit in units.items()}
    views = []
    for axis in AXES:
        charts = [
            tag("div", line_chart(lines, title=title, x_label=axis, alone=False), class_="card")
            for title, metric in titles.items()
            if (lines := lines_of(groups, metric, axis))
        ]
        views += [(f"against {axis}", tag("div", *charts, class_="charts"))] if charts else []
    hint = tag(
        "p",
        "Measured on valid during training, by the fast evaluation. A line is the mean over "
        "seeds; its band spans their minimum and maximum.",
        class_="hint",
    )
    return hint + tabs("axis", views) if views else ""


def _runs(group: Group) -> list[list[str]]:
    return [
        [
            group.name,
            str(run.recipe.seed),
            run.folder.name,
            f"{run.metrics['training']['steps']:,}",
            f"{run.metrics['training']['seconds'] / 60:.1f}",
        ]
        for run in group.runs
    ]


def _table(rows: list[list[str]]) -> str:
    head = tag("thead", tag("tr", *(tag("th", text(cell)) for cell in rows[0])))
    body = (tag("tr", *(tag("td", text(cell), dir="auto") for cell in row)) for row in rows[1:])
    return tag("div", tag("table", head, tag("tbody", *body), class_="figures"), class_="scroll")
