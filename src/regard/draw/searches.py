"""Example searches: the first results of vectors, BM25 and both, and a chart of their ranks.

In the chart each point is a question: its x is BM25's rank of the first relevant document,
upwards that of the vectors, both on a logarithmic scale with 1 at the best corner. Above the
diagonal the vectors are ahead.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regard.draw.markup import tag, text

_SIDE, _LEFT, _TOP, _BOTTOM, _RIGHT = 300.0, 58.0, 30.0, 46.0, 16.0
_TICKS = (1, 3, 10, 30, 100, 300, 1000)
_NOWHERE = 3000  # where a document that was not found is drawn
NAMES = {"dense": "Vectors", "bm25": "BM25", "hybrid": "Both"}


@dataclass(frozen=True)
class Result:
    """One document of a ranking."""

    shown: str
    grade: int
    """How relevant it was judged; 0 for not at all, or never judged."""


@dataclass(frozen=True)
class Search:
    """One question and what each way of searching found first."""

    query: str
    found: dict[str, Sequence[Result]]
    """By ``dense``, ``bm25`` and ``hybrid``."""


@dataclass(frozen=True)
class Searches:
    """Some questions to read, and the ranks of all."""

    examples: Sequence[Search]
    ranks: Sequence[tuple[int | None, int | None]]
    """Of each question's first relevant document: by vectors and by BM25; None if not found."""


def searches_part(searches: Searches) -> str:
    """Draw the chart and the questions below it."""
    ahead = sum(_rank(dense) < _rank(words) for dense, words in searches.ranks)
    behind = sum(_rank(dense) > _rank(words) for dense, words in searches.ranks)
    hint = (
        f"Of {len(searches.ranks):,} questions the vectors rank a relevant document higher than "
        f"BM25 in {ahead:,}, and lower in {behind:,}. A tick marks documents judged relevant; "
        "others may be relevant and never judged."
    )
    chart = tag("div", rank_chart(searches.ranks), class_="card", style="max-width:34rem")
    tables = "".join(_table(search) for search in searches.examples)
    return tag("p", text(hint), class_="hint") + chart + tables


def rank_chart(ranks: Sequence[tuple[int | None, int | None]]) -> str:
    """Draw BM25's rank against the vectors', a point per question."""
    width, height = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    parts = [
        tag("title", "Rank of the first relevant document, by vectors and by BM25"),
        tag("text", "Rank of the first relevant document", x=4, y=16, class_="title"),
        tag("line", class_="grid", x1=_x(1), y1=_y(1), x2=_x(_NOWHERE), y2=_y(_NOWHERE)),
    ]
    for rank in (*_TICKS, _NOWHERE):
        shown = "none" if rank == _NOWHERE else f"{rank:,}"
        x, y = _x(rank), _y(rank)
        bottom, right = _y(_NOWHERE) + 14, _x(_NOWHERE)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=_TOP, y2=bottom - 8))
        parts.append(tag("line", class_="grid", x1=_LEFT, x2=right, y1=y, y2=y))
        parts.append(tag("text", shown, x=x, y=bottom + 6, text_anchor="middle"))
        parts.append(tag("text", shown, x=_LEFT - 6, y=y + 4, text_anchor="end"))
    for (dense, words), count in Counter(ranks).items():
        parts.append(_point(dense, words, count))
    middle = _LEFT + _SIDE / 2
    parts.append(tag("text", "by BM25", x=middle, y=height - 4, text_anchor="middle"))
    upright = f"rotate(-90 14 {_TOP + _SIDE / 2:.5g})"
    label = tag("text", "by vectors", x=14, y=_TOP + _SIDE / 2, transform=upright)
    return tag(
        "svg",
        *parts,
        label,
        xmlns="http://www.w3.org/2000/svg",
        class_="regard-chart",
        viewBox=f"0 0 {width:.5g} {height:.5g}",
        role="img",
    )


def _point(dense: int | None, words: int | None, count: int) -> str:
    places = [f"{rank:,}" if rank else "not found" for rank in (dense, words)]
    many = f"{count} questions: " if count > 1 else ""
    colour = "two" if _rank(dense) < _rank(words) else "one"
    return tag(
        "circle",
        tag("title", text(f"{many}vectors {places[0]}, BM25 {places[1]}")),
        class_=f"dot {colour}",
        cx=round(_x(_rank(words)), 1),
        cy=round(_y(_rank(dense)), 1),
        r=min(9.0, 2.6 * math.sqrt(count)),
        fill_opacity=0.55,
    )


def _rank(rank: int | None) -> int:
    return _NOWHERE if rank is None else rank


def _along(rank: int) -> float:
    return math.log(rank) / math.log(_NOWHERE) * _SIDE


def _x(rank: int) -> float:
    return _LEFT + _along(rank)


def _y(rank: int) -> float:
    return _TOP + _along(rank)


def _table(search: Search) -> str:
    ways = [way for way in NAMES if way in search.found]
    head = tag("thead", tag("tr", *(tag("th", NAMES[way]) for way in ways)))
    cells = (
        tag("td", _list_results(search.found[way]), data_name=NAMES[way], dir="auto")
        for way in ways
    )
    body = tag("tbody", tag("tr", *cells))
    query = tag("h3", text(search.query), dir="auto")
    return query + tag("table", head, body, class_="samples")


def _list_results(results: Sequence[Result]) -> str:
    if not results:
        return tag("p", "nothing matches", class_="hint")
    items = (
        tag("li", tag("b", "✓ ") + text(each.shown) if each.grade > 0 else text(each.shown))
        for each in results
    )
    return tag("ol", *items, style="padding-left:1.4em;margin:0")
