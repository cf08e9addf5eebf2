"""The HTML report of a run."""

import difflib
import re
from collections.abc import Sequence

from regard.draw import chart, svg
from regard.draw.confusion import confusion_table
from regard.draw.document import document_html
from regard.draw.frame import page, tabs
from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.page import (
    AttentionMaps,
    Curve,
    Fact,
    Panel,
    ReportData,
    ReportSample,
    SampleWords,
    Score,
)
from regard.draw.picture import Picture
from regard.draw.searches import searches_part
from regard.draw.words import NOT_A_REASON, WHAT_IT_SHOWS

_MOST_CELLS = 24_000
"""Over all heads of a page; above this, maps are pixels."""
BRIEF = 40  # characters of a label; a sample's text then has most of the width


def report_page(data: ReportData) -> str:
    """Draw the whole report as one self-contained page."""
    parts = {
        "Scores": _scores(data.scores),
        "Curves": _curves(data.panels),
        "Confusion": confusion_table(data.confusion) if data.confusion else "",
        "Labels": _facts(data.labels),
        "Searches": searches_part(data.searches) if data.searches else "",
        "Samples": _samples(data.samples, data.sample_words),
        "Attention": _attention(data.attention) if data.attention else "",
        "Document": document_html(data.document) if data.document else "",
        "Recipe": _facts(data.recipe),
        "Cost": _facts(data.cost),
        "Data": _facts(data.data),
        "Environment": _facts(data.environment),
        "Next": _commands(data.commands),
    }
    return page(data.title, data.summary, parts, version=data.version, kind=data.kind)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────


def _scores(scores: Sequence[Score]) -> str:
    return tag("div", *map(_score, scores), class_="cards") if scores else ""


def _score(score: Score) -> str:
    parts = [
        tag("div", text(score.name), class_="name"),
        tag("div", _figure(score, score.value), class_="value"),
    ]
    if score.best:
        parts.append(_bar(score.value / score.best, (score.baseline or 0) / score.best))
    if score.baseline is not None:
        name = text(score.baseline_name or "baseline")
        figure = tag("b", _figure(score, score.baseline))
        parts.append(tag("div", f"{name} {figure}", class_="baseline"))
    if score.together is not None:
        figure = tag("b", _figure(score, score.together))
        parts.append(tag("div", f"both together {figure}", class_="baseline"))
    if score.note:
        parts.append(tag("div", text(score.note), class_="note"))
    if score.signature:
        parts.append(tag("p", _breakable(score.signature), class_="signature"))
    return tag("div", *parts, class_="card")


def _figure(score: Score, value: float | int) -> str:
    return f"{value:.{score.digits}f}{text(score.unit)}"


def _breakable(signature: str) -> str:
    """Let a line end after each of the signature's parts."""
    return text(signature).replace("|", "|<wbr>")


def _bar(share: float, baseline: float) -> str:
    """Draw a score as a bar on its scale, with a mark at the baseline."""
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
    return tabs("axis", views)


def _panel(panel: Panel, axis: str) -> str:
    lines = [chart.Curve(curve.name, _along(curve, axis), curve.values) for curve in panel.curves]
    drawn = chart.line_chart(lines, title=panel.title, x_label=axis, alone=False)
    return tag("div", drawn, class_="card")


def _along(curve: Curve, axis: str) -> Sequence[float | int]:
    return curve.steps if axis == "steps" else curve.minutes


# ── samples ──────────────────────────────────────────────────────────────────────────────────────


def _samples(samples: Sequence[ReportSample], words: SampleWords) -> str:
    if not samples:
        return ""
    names = (words.source, words.reference, words.answer)
    head = tag("thead", tag("tr", *(tag("th", text(name)) for name in names)))
    body = tag("tbody", *(_sample(sample, names) for sample in samples))
    brief = all(max(len(one.reference), len(one.answer)) <= BRIEF for one in samples)
    table = tag("table", head, body, class_="samples brief" if brief else "samples")
    return tag("p", text(words.hint), class_="hint") + table


def _sample(sample: ReportSample, names: tuple[str, str, str]) -> str:
    same = sample.answer == sample.reference
    answer = (
        " ".join(_shade(*word) for word in sample.copied)
        if sample.copied
        else mark_differences(sample.answer, sample.reference)
    )
    answer += tag("span", "✓ as expected", class_="same") if same else ""
    return tag(
        "tr",
        tag("td", text(sample.source), data_name=names[0], dir="auto"),
        tag("td", text(sample.reference), data_name=names[1], dir="auto"),
        tag("td", answer, data_name=names[2], class_="answer", dir="auto"),
    )


def _shade(word: str, share: float) -> str:
    """Shade a word by the share of it that was copied."""
    shade = f"background:color-mix(in srgb,var(--accent) {60 * share:.0f}%,transparent)"
    return tag("span", text(word), style=shade, title=f"{share:.0%} copied")


def mark_differences(answer: str, reference: str) -> str:
    """Mark the words of an answer that differ from the reference."""
    words, expected = (re.split(r"(\s+)", side) for side in (answer, reference))
    matcher = difflib.SequenceMatcher(None, expected, words, autojunk=False)
    shown = []
    for kind, _, _, start, stop in matcher.get_opcodes():
        piece = text("".join(words[start:stop]))
        shown.append(tag("mark", piece) if kind != "equal" and piece.strip() else piece)
    return "".join(shown)


# ── attention ────────────────────────────────────────────────────────────────────────────────────


def _attention(attention: AttentionMaps) -> str:
    if not attention.heads:
        return ""
    cells = len(attention.source) * len(attention.target)
    most_cells = cells if cells * len(attention.heads) <= _MOST_CELLS else 0
    views = [
        (label(head.name, 28), tag("div", _map(attention, place, most_cells), class_="scroll"))
        for place, head in enumerate(attention.heads)
    ]
    shows = WHAT_IT_SHOWS["self" if attention.self_attention else "cross"]
    words = tag(
        "div",
        tag("p", tag("b", "What this shows. "), shows),
        tag("p", tag("b", "What it is not. "), NOT_A_REASON),
        class_="words",
    )
    note = tag("p", text(attention.note), class_="hint") if attention.note else ""
    return note + tabs("head", views, words)


def _map(attention: AttentionMaps, place: int, most_cells: int) -> str:
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
