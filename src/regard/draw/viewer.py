"""The page of an explanation: every head of every stack, one of them large, and the attribution.

The weights stand in the page as packed numbers (:mod:`.payload`), and ``viewer.js`` draws them on
canvases, so that 512 words in 12 × 12 heads are one small file. Words reach the page as escaped
text or inside an escaped data block, and the script only ever sets them as text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.draw import svg
from regard.draw.bars import STYLE as BARS_STYLE
from regard.draw.bars import bar_chart
from regard.draw.frame import page
from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.overview import score_bars
from regard.draw.payload import Packed, pack_all
from regard.draw.picture import Picture
from regard.draw.words import NOT_A_REASON

STYLE = """
.regard-bench{display:flex;flex-wrap:wrap;gap:1.5rem 2.5rem;align-items:flex-start}
.regard-bench>div{max-width:100%}
.regard-bench canvas{display:block;font:12px var(--sans);outline-offset:4px}
#regard-grid{cursor:pointer}
.regard-name{font-weight:600;margin:.2rem 0 .6rem}
#regard-stack{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:.3rem .6rem;margin-bottom:1rem}
#regard-tip{position:absolute;z-index:2;background:var(--ink);color:var(--paper);
font-size:.85rem;padding:.25rem .6rem;border-radius:6px;pointer-events:none;max-width:20rem}
.regard-words{max-height:14rem;overflow:auto;line-height:1.9;overflow-wrap:anywhere}
.regard-words span{padding:.1em .18em;border-radius:4px;margin-right:.12em}
#regard-rows span{cursor:pointer}
#regard-rows .now{outline:2px solid var(--ink)}
.large #regard-overview{display:none}
.regard-read{font-size:1.1rem;line-height:2;overflow-wrap:anywhere}
.regard-read span{padding:.12em .22em;border-radius:5px}
.bars{max-width:34rem;margin:1rem 0}
.regard-read .for{background:color-mix(in srgb,var(--accent) var(--part),transparent)}
.regard-read .against{background:color-mix(in srgb,var(--second) var(--part),transparent)}
kbd{font:.8rem var(--mono);border:1px solid var(--line);border-radius:4px;padding:0 .3em}
@media print{#regard-stack,#regard-tip,.keys{display:none}.regard-words{max-height:none}
.regard-bench canvas{max-width:100%;height:auto!important}}
"""
ATTENTION_SCRIPT = Path(__file__).with_name("attention.js")
"""Draws attention maps; the studio serves it as a module."""
_SCRIPT = Path(__file__).with_name("viewer.js")
_COLOUR = "Colour grows with the root of the weight, so that low weights show."
_POSITIVE = "Only words that support an answer are drawn; the others have negative scores."
TESTED = (
    "output",
    "attributed to",
    "probability",
    "without these words",
    "without other words (95% of draws)",
    "depends on them",
)
_MOST_DRAWN = 80  # words on a side of the map for browsers without scripts


@dataclass(frozen=True)
class ViewedStack:
    """One stack of attention, as the page shows it."""

    title: str
    """What it is: "cross-attention (answer to source)"."""
    rows: Sequence[str]
    columns: Sequence[str]
    weights: NDArray[np.floating]
    """Axes: layer, head, row, column."""
    caption: str
    """What its rows, columns and cells are, in sentences."""


@dataclass(frozen=True)
class Shading:
    """An attribution: how much each word contributes to each answer."""

    answers: Sequence[str]
    words: Sequence[str]
    scores: NDArray[np.floating]
    """By answer and word; negative where a word counts against the answer."""
    description: str
    faithfulness: str
    tested: Sequence[Sequence[str]] = ()
    """The test of each answer by itself: the lines of :data:`TESTED`."""


@dataclass(frozen=True)
class ExplanationView:
    """All that the page of an explanation says."""

    title: str
    summary: str
    stacks: Sequence[ViewedStack]
    start: tuple[int, int] = (0, 0)
    """Layer and head shown first, in the first stack."""
    shading: Shading | None = None
    notes: Sequence[str] = ()
    """What was done to the weights: merged into words, sinks hidden."""
    document: str = ""
    """A text with its attention weights drawn behind the words, as markup."""
    version: str = ""


def explanation_page(view: ExplanationView) -> str:
    """Draw an explanation as one self-contained page."""
    parts = {
        "Document": view.document,
        "Attribution": _draw_attribution(view.shading) if view.shading else "",
        "Attention": _draw_attention(view) if view.stacks else "",
    }
    scripts = (ATTENTION_SCRIPT, _SCRIPT) if view.stacks else ()
    script = "".join(file.read_text(encoding="utf-8") for file in scripts)
    return page(
        label(view.title), view.summary, parts, version=view.version, kind="Explanation",
        script=script,
    )  # fmt: skip


def _draw_attribution(shading: Shading) -> str:
    faithful = tag("p", tag("b", "Faithfulness. "), text(shading.faithfulness))
    description = tag("p", text(f"{shading.description}."), class_="hint")
    style = tag("style", STYLE, BARS_STYLE)
    tested = _tabulate(shading.tested) if shading.tested else ""
    if len(shading.answers) == 1:
        scores = shading.scores[0]
        named = tag(
            "p",
            tag("span", "For", class_="for", style="--part:60%"),
            " and ",
            tag("span", "against", class_="against", style="--part:60%"),
            " ",
            tag("b", text(label(shading.answers[0]))),
            ":",
            class_="regard-read",
        )
        drawn = tag("p", _shade_words(shading.words, scores), class_="regard-read", dir="auto")
        bars = tag("div", bar_chart(score_bars(shading.words, scores), alone=False), class_="bars")
        return style + faithful + named + drawn + bars + description + tested
    shown = np.maximum(shading.scores, 0.0)
    picture = Picture(shading.answers, shading.words, shown, "Which words each answer comes from")
    drawn = tag("div", svg.svg_map(picture, alone=False), class_="scroll")
    left_out = tag("p", _POSITIVE, class_="hint") if (shading.scores < 0).any() else ""
    return style + faithful + drawn + left_out + description + tested


def _tabulate(rows: Sequence[Sequence[str]]) -> str:
    """Draw the test of each answer by itself as a table."""
    head = tag("tr", *(tag("th", name) for name in TESTED))
    body = (tag("tr", *(tag("td", text(label(cell))) for cell in row)) for row in rows)
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="figures")
    return tag("div", table, class_="scroll")


def _shade_words(words: Sequence[str], scores: NDArray[np.floating]) -> str:
    peak = float(np.abs(scores).max(initial=0.0)) or 1.0
    return " ".join(
        tag(
            "span",
            text(label(word)),
            class_="for" if score >= 0 else "against",
            style=f"--part:{abs(score) / peak * 80:.0f}%",
            title=f"{score:+.3g}",
        )
        for word, score in zip(words, scores.tolist(), strict=True)
    )


def _draw_attention(view: ExplanationView) -> str:
    first = view.stacks[0]
    layer, head = view.start
    name = f"{first.title}: layer {layer + 1}, head {head + 1}"
    return "".join(
        [
            "" if view.shading else tag("style", STYLE),
            *(tag("p", text(note), class_="hint") for note in view.notes),
            tag("p", _KEYS, class_="hint keys"),
            tag("select", id="regard-stack", aria_label="Which attention"),
            tag(
                "div",
                tag(
                    "div",
                    tag("div", "All heads: layers downwards, heads across", class_="regard-name"),
                    tag("div", _canvas("regard-grid", "All heads"), class_="scroll"),
                    id="regard-overview",
                ),
                tag(
                    "div",
                    tag("div", text(name), class_="regard-name", id="regard-name"),
                    tag("div", _canvas("regard-map", "One head"), class_="scroll"),
                ),
                class_="regard-bench",
            ),
            tag("div", "", id="regard-tip", hidden="hidden", role="tooltip"),
            tag("p", "", class_="hint", id="regard-kept"),
            _draw_words("From (point at a word)", "regard-rows"),
            _draw_words("To", "regard-columns"),
            tag(
                "div",
                tag(
                    "p",
                    tag("b", "What this shows. "),
                    tag("span", text(first.caption), id="regard-caption"),
                ),
                tag("p", tag("b", "What it is not. "), NOT_A_REASON),
                class_="words",
            ),
            tag("noscript", _draw_still(first, view.start, name)),
            tag("script", _data(view), type="application/json", id="regard-data"),
        ]
    )


_KEYS = (
    "<kbd>←</kbd> <kbd>→</kbd> change the head, <kbd>↑</kbd> <kbd>↓</kbd> the layer, "
    "<kbd>Enter</kbd> shows one head alone, <kbd>Esc</kbd> all again. Point at a cell or a word "
    "for its figures."
)


def _canvas(name: str, description: str) -> str:
    return tag("canvas", id=name, role="img", aria_label=description)


def _draw_words(title: str, name: str) -> str:
    return tag("div", text(title), class_="regard-name") + tag(
        "p", id=name, class_="regard-words", dir="auto"
    )


def _draw_still(stack: ViewedStack, start: tuple[int, int], name: str) -> str:
    """Draw the first head for browsers that run no scripts."""
    if max(len(stack.rows), len(stack.columns)) > _MOST_DRAWN:
        return tag("p", "The maps of a text of this length are drawn by the page's script.")
    weights = stack.weights[start[0], start[1]]
    return svg.svg_map(Picture(stack.rows, stack.columns, weights, name), alone=False)


def view_data(view: ExplanationView) -> dict[str, Any]:
    """Return what the viewer's script reads."""
    packed = pack_all([stack.weights for stack in view.stacks])
    stacks = [
        {
            "title": stack.title,
            "caption": stack.caption,
            "rows": [label(word) for word in stack.rows],
            "columns": [label(word) for word in stack.columns],
            "layers": stack.weights.shape[0],
            "heads": stack.weights.shape[1],
            "kept": one.kept,
            "full": one.full,
            "note": _note(stack, one),
            "data": one.data,
        }
        for stack, one in zip(view.stacks, packed, strict=True)
    ]
    return {"start": list(view.start), "stacks": stacks}


def _data(view: ExplanationView) -> str:
    """Write the data block; nothing in it can end the block or begin a tag."""
    written = json.dumps(view_data(view), separators=(",", ":"))
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _note(stack: ViewedStack, packed: Packed) -> str:
    if packed.kept == len(stack.columns):
        return f"Every weight is here. {_COLOUR}"
    return (
        f"To keep this page small it holds the {packed.kept} highest weights of every row: "
        f"{packed.share:.0%} of all weight. --json gives every weight. {_COLOUR}"
    )
