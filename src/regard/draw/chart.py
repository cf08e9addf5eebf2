"""Curves as SVG: axes with round numbers, a light grid, and every point named under the pointer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.draw.label import label
from regard.draw.markup import tag, text

STYLE = """
.regard-chart{--regard-ink:#26221c;--regard-a:#c2410c;--regard-b:#0f766e;--regard-c:#6d28d9;
--regard-d:#a16207;width:100%;height:auto;
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.regard-chart text{fill:var(--regard-ink);fill-opacity:.72;font-variant-numeric:tabular-nums}
.regard-chart .title{font-weight:600;font-size:13.5px;fill-opacity:1}
.regard-chart .grid{stroke:var(--regard-ink);stroke-opacity:.1}
.regard-chart .axis{stroke:var(--regard-ink);stroke-opacity:.45}
.regard-chart .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.regard-chart .touch{fill:transparent;stroke:none}
.regard-chart .touch:hover{fill:currentColor;fill-opacity:.25}
.regard-chart .one{stroke:var(--regard-a);color:var(--regard-a)}
.regard-chart .two{stroke:var(--regard-b);color:var(--regard-b)}
.regard-chart .three{stroke:var(--regard-c);color:var(--regard-c)}
.regard-chart .four{stroke:var(--regard-d);color:var(--regard-d)}
.regard-chart .dot{fill:currentColor;stroke:none}
.regard-chart .band{fill:currentColor;fill-opacity:.14;stroke:none}
.regard-chart .again .line{stroke-dasharray:6 4}
@media screen and (prefers-color-scheme:dark){.regard-chart{--regard-ink:#ece6dc;--regard-a:#ff8a4c;
--regard-b:#5ecdc2;--regard-c:#b9a2ff;--regard-d:#e6bf55}}
"""

_WIDTH, _HEIGHT = 460.0, 262.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 20.0, 52.0, 44.0
_MOST_POINTS = 160
_COLOURS = ("one", "two", "three", "four")
_LONGEST_NAME = 66


@dataclass(frozen=True)
class Curve:
    """One curve: the same number of places along x and values along y."""

    name: str
    xs: Sequence[float | int]
    ys: Sequence[float | int]
    lows: Sequence[float | int] = ()
    """With ``highs``, the edges of a band round the curve, such as the least and greatest seed."""
    highs: Sequence[float | int] = ()


class _Point(NamedTuple):
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class _Scale:
    """A linear map from numbers to coordinates."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)


def line_chart(
    lines: Sequence[Curve], *, title: str, x_label: str, alone: bool = True, from_zero: bool = False
) -> str:
    """Draw curves over one another; ``alone`` puts the style inside."""
    series = [(line.name, _points(line)) for line in lines]
    xs = [point.x for _, points in series for point in points] or [0.0, 1.0]
    ys = [y for _, points in series for point in points for y in point[1:]] or [0.0, 1.0]
    legend, lower = _legend([name for name, _ in series])
    height = _HEIGHT + lower
    x_ticks, y_ticks = ticks(min(xs), max(xs)), ticks(0.0 if from_zero else min(ys), max(ys), 5)
    x_scale = _Scale(min(*xs, x_ticks[0]), max(*xs, x_ticks[-1]), _LEFT, _WIDTH - _RIGHT)
    y_scale = _Scale(y_ticks[0], y_ticks[-1], height - _BOTTOM, _TOP + lower)

    parts = [tag("style", STYLE)] if alone else []
    parts += [tag("title", text(title)), tag("text", text(title), x=4, y=16, class_="title")]
    parts += legend
    parts += _axes(x_scale, y_scale, x_ticks, y_ticks)
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(tag("text", text(x_label), x=middle, y=height - 8, text_anchor="middle"))
    for place, (name, points) in enumerate(series):
        colour = _colour(place)
        parts.append(_curve(points, name, x_label, colour, x_scale, y_scale))
    return tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="regard-chart",
        viewBox=f"0 0 {_WIDTH:.5g} {height:.5g}",
        role="img",
    )


def ticks(low: float | int, high: float | int, most: int = 6) -> list[float]:
    """Return round numbers (1, 2 or 5 times a power of ten) that enclose low and high."""
    if high <= low:
        spare = abs(low) * 0.1 or 1.0
        low, high = low - spare, high + spare
    step = 10 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10, 20) if (high - low) / (step * times) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


def number(value: float | int) -> str:
    """Write a number as short as it can be read: 1200 is 1.2k."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g}M"
    if abs(value) >= 1e3:
        return f"{value / 1e3:.3g}k"
    return f"{value:.3g}"


def _points(line: Curve) -> list[_Point]:
    """Return the finite points, averaged in groups if there are too many to distinguish."""
    edges = (line.lows or line.ys, line.highs or line.ys)
    points = [
        _Point(*map(float, point))
        for point in zip(line.xs, line.ys, *edges, strict=True)
        if all(map(math.isfinite, point))
    ]
    size = math.ceil(len(points) / _MOST_POINTS) or 1
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [
        _Point(*(sum(side) / len(group) for side in zip(*group, strict=True))) for group in groups
    ]


def _axes(
    x_scale: _Scale, y_scale: _Scale, x_ticks: list[float], y_ticks: list[float]
) -> list[str]:
    left, right, bottom = _LEFT, _WIDTH - _RIGHT, y_scale.start
    parts = []
    for tick in y_ticks:
        y = y_scale(tick)
        parts.append(tag("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        parts.append(tag("text", number(tick), x=left - 7, y=y + 4, text_anchor="end"))
    for tick in x_ticks:
        x = x_scale(tick)
        parts.append(tag("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + 4))
        parts.append(tag("text", number(tick), x=x, y=bottom + 17, text_anchor="middle"))
    parts.append(tag("line", class_="axis", x1=left, x2=right, y1=bottom, y2=bottom))
    return parts


def _colour(place: int) -> str:
    """Return a colour; colours repeat with dashed lines."""
    return _COLOURS[place % len(_COLOURS)] + (" again" if place >= len(_COLOURS) else "")


def _legend(names: list[str]) -> tuple[list[str], float]:
    """Return the legend and its height."""
    parts, x, y = [], 5.0, 32.0
    for place, name in enumerate(names):
        shown = label(name, _LONGEST_NAME)
        wide = 28 + 6.2 * len(shown)
        if x > 5 and x + wide > _WIDTH:
            x, y = 5.0, y + 17
        parts.append(tag("circle", class_=f"dot {_colour(place)}", cx=x + 4, cy=y, r=4))
        whole = [tag("title", text(name))] if shown != name else []
        parts.append(tag("text", *whole, text(shown), x=x + 13, y=y + 4))
        x += wide
    return parts, y - 32.0


def _curve(
    points: list[_Point],
    name: str,
    x_label: str,
    colour: str,
    x_scale: _Scale,
    y_scale: _Scale,
) -> str:
    places = [(x_scale(point.x), y_scale(point.y)) for point in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [*_band(points, x_scale, y_scale), tag("polyline", class_="line", points=path)]
    for (x, y, low, high), (px, py) in zip(points, places, strict=True):
        between = f" ({low:.4g} to {high:.4g})" if low < high else ""
        note = f"{name}: {y:.4g}{between} at {number(x)} {x_label}"
        if len(points) <= 40:
            parts.append(tag("circle", class_="dot", cx=round(px, 1), cy=round(py, 1), r=2.2))
        parts.append(
            tag(
                "circle",
                tag("title", text(note)),
                class_="touch",
                cx=round(px, 1),
                cy=round(py, 1),
                r=7,
            )
        )
    return tag("g", *parts, class_=colour)


def _band(points: list[_Point], x_scale: _Scale, y_scale: _Scale) -> list[str]:
    if not any(point.low < point.high for point in points):
        return []
    upper = [(point.x, point.high) for point in points]
    lower = [(point.x, point.low) for point in reversed(points)]
    edge = " ".join(f"{x_scale(x):.1f},{y_scale(y):.1f}" for x, y in (*upper, *lower))
    return [tag("polygon", class_="band", points=edge)]
