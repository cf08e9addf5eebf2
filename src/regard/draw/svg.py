"""A heat map as a self-contained SVG, without external fonts, scripts or pictures.

Target words are rows, source words are columns. One colour on no background, as opaque as the
weight is great, reads in light and in dark. Small maps name every cell when the pointer rests on
it; large ones are pixels, so that 512 words still make a small file.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.picture import Picture, find_peak, make_matrix
from regard.draw.pixels import png_address

STYLE = """
.regard-map{--regard-ink:#26221c;--regard-heat:#c2410c;--regard-line:#26221c;
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.regard-map text{fill:var(--regard-ink)}
.regard-map .title{font-weight:600;font-size:13px}
.regard-map .heat{fill:var(--regard-heat)}
.regard-map .frame{fill:none;stroke:var(--regard-line);stroke-opacity:.14}
@media screen and (prefers-color-scheme:dark){
.regard-map{--regard-ink:#ece6dc;--regard-heat:#ff8a4c;--regard-line:#ece6dc}}
"""
"""Colours of every map; a page that holds several needs it once."""

_PIXEL_COLOUR = (224, 96, 36)
_LETTER = 7.6
_LONGEST_LABEL = 22
_LEGIBLE = 10.0
"""Cells smaller than this are too close for labels."""
_MOST_CELLS = 6_000
"""Above this many cells a map is pixels."""
_FAINT = 0.004
"""A cell below this share of the peak cannot be seen and is left out."""


def svg_map(picture: Picture, *, alone: bool = True, most_cells: int = _MOST_CELLS) -> str:
    """Draw a map; ``alone`` puts the style inside, as a file of its own needs it."""
    weights = make_matrix(picture)
    paper = _paper(picture, weights.shape)
    parts = [tag("style", STYLE)] if alone else []
    parts.append(tag("title", text(picture.title or "Weights by row and column")))
    if picture.title:
        parts.append(tag("text", text(picture.title), x=0, y=14, class_="title"))
    if paper.cell >= _LEGIBLE:
        parts += _labels(picture, paper)
    draw = _cells if weights.size <= most_cells else _pixels
    corner = f"translate({paper.left:.5g} {paper.top:.5g})"
    parts.append(tag("g", *draw(picture, weights, paper.cell), transform=corner))
    parts.append(
        tag("rect", class_="frame", x=paper.left, y=paper.top, width=paper.wide, height=paper.high)
    )
    parts += _legend(paper, find_peak(weights))
    return tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="regard-map",
        viewBox=f"0 0 {paper.width:.5g} {paper.height:.5g}",
        width=paper.width,
        height=paper.height,
        role="img",
    )


class _Paper(NamedTuple):
    """Layout: position and size of the cells, and size of the drawing."""

    cell: float
    left: float
    top: float
    wide: float
    high: float
    width: float
    height: float


def _paper(picture: Picture, shape: tuple[int, ...]) -> _Paper:
    cell = _cell_size(max(shape, default=0))
    above = _space(picture.columns) if cell >= _LEGIBLE else 10.0
    left = _space(picture.rows) if cell >= _LEGIBLE else 10.0
    top = above * 0.8 + 10 + (24 if picture.title else 0)
    wide, high = shape[1] * cell, shape[0] * cell
    # Slanted labels reach to the right of their column; the legend needs a line below.
    return _Paper(cell, left, top, wide, high, left + max(wide + above * 0.6, 150), top + high + 34)


def _legend(paper: _Paper, peak: float) -> list[str]:
    y = paper.top + paper.high + 14
    boxes = [
        tag(
            "rect",
            class_="heat",
            x=paper.left + 14 + place * 16,
            y=y,
            width=15,
            height=10,
            fill_opacity=(place + 1) / 5,
        )
        for place in range(5)
    ]
    zero = tag("text", "0", x=paper.left, y=y + 9)
    return [zero, *boxes, tag("text", f"{peak:.0%}", x=paper.left + 100, y=y + 9)]


def _cell_size(most: int) -> float:
    """Cells shrink as the map grows, down to where labels could not be read."""
    sizes = ((24, 26.0), (48, 18.0), (160, 12.0))
    return next((size for reach, size in sizes if most <= reach), max(900 / max(most, 1), 1.5))


def _space(words: Sequence[str]) -> float:
    longest = max((cell_len(label(word, _LONGEST_LABEL)) for word in words), default=0)
    return longest * _LETTER + 16


def _labels(picture: Picture, paper: _Paper) -> list[str]:
    cell, left, top = paper.cell, paper.left, paper.top
    rows = [
        tag(
            "text",
            tag("title", text(label(word))),
            text(label(word, _LONGEST_LABEL)),
            x=left - 7,
            y=top + (place + 0.5) * cell + 4,
            text_anchor="end",
        )
        for place, word in enumerate(picture.rows)
    ]
    columns = [
        tag(
            "text",
            tag("title", text(label(word))),
            text(label(word, _LONGEST_LABEL)),
            transform=f"translate({left + (place + 0.5) * cell + 3:.5g} {top - 7:.5g}) rotate(-52)",
        )
        for place, word in enumerate(picture.columns)
    ]
    return rows + columns


def _cells(picture: Picture, weights: NDArray[np.float64], cell: float) -> list[str]:
    peak = find_peak(weights)
    drawn = []
    for row, column in np.argwhere(weights > _FAINT * peak).tolist():
        weight = float(weights[row, column])
        name = f"{label(picture.rows[row])} ← {label(picture.columns[column])}: {weight:.1%}"
        drawn.append(
            tag(
                "rect",
                tag("title", text(name)),
                class_="heat",
                x=column * cell + 0.5,
                y=row * cell + 0.5,
                width=cell - 1,
                height=cell - 1,
                rx=2,
                fill_opacity=round(weight / peak, 3),
            )
        )
    return drawn


def _pixels(_picture: Picture, weights: NDArray[np.float64], cell: float) -> list[str]:
    """Draw pixels; the square root makes low weights visible."""
    rows, columns = weights.shape
    return [
        tag(
            "image",
            href=png_address(np.sqrt(weights / find_peak(weights)), _PIXEL_COLOUR),
            width=columns * cell,
            height=rows * cell,
            preserveAspectRatio="none",
            style="image-rendering:pixelated",
        )
    ]
