"""The report page: static HTML and SVG in one file, without scripts, fonts or network.

Its content security policy forbids everything but its own style and ``data:`` pictures, so that
even a text that slipped through the escaping could not run or call anything.
"""

import difflib
import re
from collections.abc import Sequence

from regard.explain.draw import chart, svg
from regard.explain.draw.label import label
from regard.explain.draw.look import PAGE_STYLE, shows
from regard.explain.draw.markup import tag, text
from regard.explain.draw.page import Attention, Curve, Fact, Panel, ReportData, Sample, Score
from regard.explain.draw.picture import Picture

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_WHAT_IT_IS = (
    "Each row is a word the model wrote, each column a word it was given. The stronger a cell, the "
    "more this head drew on that word while writing the row."
)
_WHAT_IT_IS_NOT = (
    "It shows where one head mixed information from, not why the model answered as it did. "
    "Other heads and layers, and the path around attention, carry information too; by the time it "
    "is looked at, a word's state already holds some of its neighbours; and other weights can lead "
    "to the same answer. Before concluding anything from a map, take a word away and see "
    "whether the answer changes."
)
_MOST_CELLS = 24_000
"""Over all heads of a page; above this, maps are pixels."""


def report_page(data: ReportData) -> str:
    """Draw the whole report as one self-contained page."""
    parts = {
        "Scores": _scores(data.scores),
        "Curves": _curves(data.panels),
        "Samples": _samples(data.samples),
        "Attention": _attention(data.attention) if data.attention else "",
        "Recipe": _facts(data.recipe),
        "Data": _facts(data.data),
        "Environment": _facts(data.environment),
        "Next": _commands(data.commands),
    }
    return _page(data.title, data.summary, parts, version=data.version, kind="Training report")


def attention_page(
    attention: Attention, *, title: str, summary: str = "", version: str = ""
) -> str:
    """Draw one attention map with all its heads as a self-contained page."""
    parts = {"Attention": _attention(attention)}
    return _page(title, summary, parts, version=version, kind="Explanation")


def _page(title: str, summary: str, parts: dict[str, str], *, version: str, kind: str) -> str:
    filled = {name: part for name, part in parts.items() if part}
    links = "".join(tag("a", name, href=f"#{name.lower()}") for name in filled)
    header = tag(
        "header",
        tag("p", text(kind), class_="made"),
        tag("h1", text(title), dir="auto"),
        tag("p", text(summary), class_="summary", dir="auto") if summary else "",
        tag("nav", links, aria_label="Parts of this page") if len(filled) > 1 else "",
    )
    sections = (
        tag("section", tag("h2", name), part, id=name.lower()) for name, part in filled.items()
    )
    made_by = f"Made by regard {version}".strip() + ". This page loads nothing and runs nothing."
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", text(title)),
        tag("style", PAGE_STYLE, chart.STYLE, svg.STYLE),
    )
    body = tag("body", tag("main", header, *sections, tag("footer", text(made_by))))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


# ── scores ───────────────────────────────────────────────────────────────────────────────────────


def _scores(scores: Sequence[Score]) -> str:
    return tag("div", *map(_score, scores), class_="cards") if scores else ""


def _score(score: Score) -> str:
    parts = [
        tag("div", text(score.name), class_="name"),
        tag("div", f"{score.value:.{score.digits}f}", class_="value"),
    ]
    if score.best:
        parts.append(_bar(score.value / score.best, (score.baseline or 0) / score.best))
    if score.baseline is not None:
        name = text(score.baseline_name or "baseline")
        figure = tag("b", f"{score.baseline:.{score.digits}f}")
        parts.append(tag("div", f"{name} {figure}", class_="baseline"))
    if score.note:
        parts.append(tag("div", text(score.note), class_="note"))
    if score.signature:
        parts.append(tag("p", _breakable(score.signature), class_="signature"))
    return tag("div", *parts, class_="card")


def _breakable(signature: str) -> str:
    """Let a line end after each of the signature's parts."""
    return text(signature).replace("|", "|<wbr>")


def _bar(share: float, baseline: float) -> str:
    """Draw how far along its scale a score is, with a mark where the baseline stands."""
    part, mark = (min(max(value, 0.0), 1.0) * 100 for value in (share, baseline))
    return tag(
        "svg",
        tag("rect", class_="whole", width=100, height=8),
        tag("rect", class_="part", width=part, height=8),
        tag("rect", class_="mark", x=max(mark - 0.4, 0), width=0.8, height=8) if baseline else "",
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


# ── curves ───────────────────────────────────────────────────────────────────────────────────────


def _curves(panels: Sequence[Panel]) -> str:
    if not panels:
        return ""
    axes = ("steps", "minutes")
    views = [
        (f"against {axis}", tag("div", *(_panel(one, axis) for one in panels), class_="charts"))
        for axis in axes
    ]
    return _tabs("axis", views)


def _panel(panel: Panel, axis: str) -> str:
    lines = [chart.Line(curve.name, _along(curve, axis), curve.values) for curve in panel.curves]
    drawn = chart.line_chart(lines, title=panel.title, x_label=axis, alone=False)
    return tag("div", drawn, class_="card")


def _along(curve: Curve, axis: str) -> Sequence[float | int]:
    return curve.steps if axis == "steps" else curve.minutes


def _tabs(group: str, views: Sequence[tuple[str, str]], beside: str = "") -> str:
    """Show one view at a time, by radio buttons and style alone, with something beside it."""
    names = [f"{group}-{place}" for place in range(len(views))]
    rules = "".join(shows(name, f"view-{name}", f"tab-{name}") for name in names)
    buttons = (
        tag("input", type="radio", name=group, id=name, class_="choice", **_checked(place))
        for place, name in enumerate(names)
    )
    labels = (
        tag("label", text(title), for_=name, class_=f"tab-{name}")
        for name, (title, _) in zip(names, views, strict=True)
    )
    shown = (
        tag("div", view, class_=f"shown view-{name}")
        for name, (_, view) in zip(names, views, strict=True)
    )
    return tag(
        "div",
        tag("style", rules),
        *buttons,
        tag("div", *labels, class_="tabs"),
        *shown,
        beside,
        class_=f"chosen {group}",
    )


def _checked(place: int) -> dict[str, str]:
    return {"checked": "checked"} if place == 0 else {}


# ── samples ──────────────────────────────────────────────────────────────────────────────────────


def _samples(samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    head = tag("thead", tag("tr", *(tag("th", name) for name in ("Source", "Reference", "Answer"))))
    hint = tag(
        "p",
        "Held-out examples. Marked: where the answer's words differ from the reference, which is "
        "one good answer among many.",
        class_="hint",
    )
    body = tag("tbody", *map(_sample, samples))
    return hint + tag("table", head, body, class_="samples")


def _sample(sample: Sample) -> str:
    same = sample.answer == sample.reference
    answer = compared(sample.answer, sample.reference)
    answer += tag("span", "✓ as the reference", class_="same") if same else ""
    return tag(
        "tr",
        tag("td", text(sample.source), data_name="Source", dir="auto"),
        tag("td", text(sample.reference), data_name="Reference", dir="auto"),
        tag("td", answer, data_name="Answer", class_="answer", dir="auto"),
    )


def compared(answer: str, reference: str) -> str:
    """Mark the words of an answer that are not where the reference has them."""
    words, expected = (re.split(r"(\s+)", side) for side in (answer, reference))
    matcher = difflib.SequenceMatcher(None, expected, words, autojunk=False)
    shown = []
    for kind, _, _, start, stop in matcher.get_opcodes():
        piece = text("".join(words[start:stop]))
        shown.append(tag("mark", piece) if kind != "equal" and piece.strip() else piece)
    return "".join(shown)


# ── attention ────────────────────────────────────────────────────────────────────────────────────


def _attention(attention: Attention) -> str:
    if not attention.heads:
        return ""
    cells = len(attention.source) * len(attention.target)
    most_cells = cells if cells * len(attention.heads) <= _MOST_CELLS else 0
    views = [
        (label(head.name, 28), tag("div", _map(attention, place, most_cells), class_="scroll"))
        for place, head in enumerate(attention.heads)
    ]
    words = tag(
        "div",
        tag("p", tag("b", "What this shows. "), _WHAT_IT_IS),
        tag("p", tag("b", "What it is not. "), _WHAT_IT_IS_NOT),
        class_="words",
    )
    note = tag("p", text(attention.note), class_="hint") if attention.note else ""
    return note + _tabs("head", views, words)


def _map(attention: Attention, place: int, most_cells: int) -> str:
    weights = attention.heads[place].weights
    picture = Picture(attention.target, attention.source, weights)
    return svg.svg_map(picture, alone=False, most_cells=most_cells)


# ── facts ────────────────────────────────────────────────────────────────────────────────────────


def _facts(facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    rows = (
        tag("div", tag("dt", text(name)), tag("dd", text(value), **_code(value)))
        for name, value in facts
    )
    return tag("dl", *rows, class_="facts")


def _code(value: str) -> dict[str, str]:
    """Set fingerprints in a typewriter's letters."""
    return {"class_": "code"} if re.fullmatch(r"[0-9a-f]{12,}", value) else {}


def _commands(commands: Sequence[Fact]) -> str:
    if not commands:
        return ""
    rows = (tag("dt", text(does)) + tag("dd", tag("code", text(line))) for does, line in commands)
    return tag("dl", *rows, class_="commands")
