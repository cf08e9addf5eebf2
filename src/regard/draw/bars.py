"""Figures as bars, one line each: in the terminal and as SVG.

Where the greatest is a thousand times the least, lengths grow with the logarithm, and it is said.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from regard.draw.label import label, shorten
from regard.draw.markup import tag, text

STYLE = """
.regard-bars{--regard-ink:#26221c;--regard-heat:#c2410c;--regard-against:#0f766e;width:100%;height:auto;
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.regard-bars text{fill:var(--regard-ink);font-variant-numeric:tabular-nums}
.regard-bars .title{font-weight:600;font-size:13.5px}
.regard-bars .part{fill:var(--regard-heat);fill-opacity:.8}
.regard-bars .negative{fill:var(--regard-against)}
.regard-bars .zero{stroke:var(--regard-ink);stroke-opacity:.6}
.regard-bars .whole{fill:var(--regard-ink);fill-opacity:.07}
.regard-bars .soft{fill-opacity:.72}
@media screen and (prefers-color-scheme:dark){
.regard-bars{--regard-ink:#ece6dc;--regard-heat:#ff8a4c;--regard-against:#2dd4bf}}
"""

_WIDTH, _ROW, _NAME, _VALUE = 460.0, 22.0, 190.0, 84.0
_LONGEST_NAME = 28  # letters that fit
_WIDE = 1000.0  # times; above this, lengths are logarithms
_BLOCKS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Bars:
    """Names and their numbers; bars of negative numbers end left of zero."""

    title: str
    rows: Sequence[tuple[str, float | int]]


def bar_chart(bars: Bars, *, alone: bool = True) -> str:
    """Draw bars as SVG; ``alone`` puts the style inside."""
    lengths, by_logarithm = _lengths(bars)
    left, right = _find_ends(lengths)
    top = 24.0 if bars.title else 4.0
    parts = [tag("style", STYLE)] if alone else []
    if bars.title:
        parts.append(tag("title", text(bars.title)))
        parts.append(tag("text", text(shorten(bars.title, 70)), x=0, y=14, class_="title"))
    room = _WIDTH - _NAME - _VALUE
    unit = room / (right - left)
    zero = _NAME - left * unit
    for place, ((name, value), length) in enumerate(zip(bars.rows, lengths, strict=True)):
        y = top + place * _ROW
        shown = tag("title", text(f"{name}: {value:.6g}"))
        parts.append(tag("text", shown, text(shorten(name, _LONGEST_NAME)), x=0, y=y + 15))
        parts.append(tag("rect", class_="whole", x=_NAME, y=y + 4, width=room, height=14, rx=3))
        if length:
            parts.append(
                tag(
                    "rect",
                    class_="part" if length > 0 else "part negative",
                    x=zero + min(length, 0.0) * unit,
                    y=y + 4,
                    width=abs(length) * unit,
                    height=14,
                    rx=3,
                )
            )
        parts.append(tag("text", text(number(value)), x=_WIDTH, y=y + 15, text_anchor="end"))
    if left < 0:
        below = top + len(bars.rows) * _ROW
        parts.append(tag("line", class_="zero", x1=zero, x2=zero, y1=top, y2=below))
    height = top + len(bars.rows) * _ROW + (18.0 if by_logarithm else 4.0)
    if by_logarithm:
        parts.append(tag("text", "lengths are logarithms", x=_NAME, y=height - 5, class_="soft"))
    return tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="regard-bars",
        viewBox=f"0 0 {_WIDTH:.5g} {height:.5g}",
        role="img",
    )


def terminal_bars(bars: Bars, *, width: int = 80) -> str:
    """Draw bars as lines of text."""
    lengths, by_logarithm = _lengths(bars)
    left, right = _find_ends(lengths)
    longest = max((cell_len(label(name)) for name, _ in bars.rows), default=0)
    side = min(longest, width // 2)
    numbers = [number(value) for _, value in bars.rows]
    ahead = max(map(len, numbers), default=0)
    room = max(width - side - ahead - 3, 8)
    lines = [
        f"{_pad(shorten(label(name), side), side)}  {shown:>{ahead}} "
        f"{_draw_line(length, left, right, room)}".rstrip()
        for (name, _), shown, length in zip(bars.rows, numbers, lengths, strict=True)
    ]
    title = [bars.title] if bars.title else []
    return "\n".join([*title, *lines, *(["lengths are logarithms"] if by_logarithm else [])])


def number(value: float | int) -> str:
    """Write a number with as many digits as help."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e12):
        return f"{int(value):,}"
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}"
    return f"{value:.4g}"


def _blocks(length: float, room: int) -> str:
    eighths = round(length * room * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + _BLOCKS[rest].strip()


def _draw_line(length: float, left: float, right: float, room: int) -> str:
    """Draw a bar between ``left`` and ``right``; a negative one ends at zero."""
    if left == 0:
        return _blocks(length / right, room)
    before = max(1, round((room - 1) * -left / (right - left)))
    cells = max(1, round(before * length / left)) if length < 0 else 0
    after = _blocks(length / right, room - 1 - before) if length > 0 else ""
    return " " * (before - cells) + "█" * cells + "│" + after


def _pad(word: str, width: int) -> str:
    return word + " " * (width - cell_len(word))


def _find_ends(lengths: Sequence[float]) -> tuple[float, float]:
    """Return how far bars reach to the left and to the right of zero."""
    left, right = min([0.0, *lengths]), max([0.0, *lengths])
    return left, right if left < right else 1.0


def _lengths(bars: Bars) -> tuple[list[float], bool]:
    """Return each bar's length, from -1 to 1, and whether the scale is logarithmic."""
    sizes, by_logarithm = _sizes(bars)
    signs = [math.copysign(1.0, value) for _, value in bars.rows]
    return [size * sign for size, sign in zip(sizes, signs, strict=True)], by_logarithm


def _sizes(bars: Bars) -> tuple[list[float], bool]:
    sizes = [abs(value) if math.isfinite(value) else 0.0 for _, value in bars.rows]
    greatest = max(sizes, default=0.0)
    some = [size for size in sizes if size]
    if not some:
        return [0.0] * len(sizes), False
    if greatest / min(some) < _WIDE:
        return [size / greatest for size in sizes], False
    low, high = math.log(min(some)) - 1.0, math.log(greatest)
    return [(math.log(size) - low) / (high - low) if size else 0.0 for size in sizes], True
