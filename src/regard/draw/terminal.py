"""A heat map in the terminal: target words as rows, source words as columns.

    console.print(TerminalMap(Picture(rows, columns, weights, "layer 3, head 2")))

With colours each cell is shaded and carries its weight in percent; without (NO_COLOR, a pipe) the
shade is one of ░▒▓█. The source words stand above their columns; when they do not fit, they are
written downwards, and when that does not fit either, the map is folded into several.
"""

import io
from collections.abc import Iterator
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from regard.draw.label import characters, label
from regard.draw.picture import Picture, find_peak, make_matrix

Background = Literal["dark", "light"]

_SHADES = " ░▒▓█"
RAMPS = {
    "dark": (
        "#2b1a4a",
        "#4c1d6b",
        "#7a1f6d",
        "#a82c5e",
        "#d14545",
        "#ee6a2c",
        "#fb9b32",
        "#fcd15a",
    ),
    "light": (
        "#fdeee0",
        "#fddcc0",
        "#fcc198",
        "#f9a06c",
        "#f27c45",
        "#df5a2b",
        "#bc3f1d",
        "#8c2a14",
    ),
}
"""From hardly to fully, by the terminal's background."""
INK = {"dark": ("#d9cfe8", "#1b1206"), "light": ("#3a1d0c", "#fff6ee")}
_FAINT = 0.03
"""Below this share of the peak a cell stays empty."""


class _Layout(NamedTuple):
    """Layout of the column labels: horizontal words or vertical letters, and their widths."""

    downwards: bool
    widths: list[int]


class TerminalMap:
    """A picture that rich can print; it fits itself to the console it is printed on.

    Args:
        picture: What to draw.
        background: Whether the terminal is dark or light; it sets the direction of the shades.
        most_rows: Rows drawn before the rest is left out, with a line that says so.
        most_columns: The same for columns.

    """

    def __init__(
        self,
        picture: Picture,
        *,
        background: Background = "dark",
        most_rows: int = 80,
        most_columns: int = 240,
    ) -> None:
        weights = make_matrix(picture)
        self.peak = find_peak(weights)
        self.weights = weights[:most_rows, :most_columns]
        self.rows = [label(word) for word in picture.rows[:most_rows]]
        self.columns = [label(word) for word in picture.columns[:most_columns]]
        self.title = label(picture.title) if picture.title else ""
        self.background = background
        self.left_out = self._describe_omitted(weights.shape)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text | Segment]:
        coloured = console.color_system is not None and not console.no_color
        side = min(max((cell_len(word) for word in self.rows), default=0), options.max_width // 4)
        if self.title:
            yield Text(self.title, style="bold")
        room = max(options.max_width - side - 1, 4)
        layout = _layout(self.columns, room)
        for panel in _panels(layout.widths, room):
            yield from self._header(panel, layout, side)
            for row, word in enumerate(self.rows):
                yield Text(label(word, side).rjust(_pad_width(word, side)) + " ", end="")
                for column in panel:
                    yield self._cell(self.weights[row, column], layout.widths[column], coloured)
                yield Segment.line()
        yield self._legend(side, coloured)
        if self.left_out:
            yield Text(self.left_out, style="dim")

    def _header(self, panel: range, layout: _Layout, side: int) -> Iterator[Text]:
        if not layout.downwards:
            words = (_center(self.columns[place], layout.widths[place]) for place in panel)
            yield Text(" " * (side + 1) + "".join(words).rstrip())
            return
        stacks = [_stack(self.columns[place]) for place in panel]
        height = max((len(stack) for stack in stacks), default=0)
        for line in range(height):
            letters = (_letter(stack, line - height + len(stack)) for stack in stacks)
            yield Text(" " * (side + 1) + "".join(letters).rstrip())

    def _cell(self, weight: float, width: int, coloured: bool) -> Text:
        share = weight / self.peak
        if not coloured:
            return Text(_shade(share) * (width - 1) + " ", end="")
        if share < _FAINT:
            return Text("·".center(width) if width > 2 else "· ", style="dim", end="")
        return Text(_center(_percent(weight, width), width), style=self._style(share), end="")

    def _style(self, share: float) -> Style:
        ramp = RAMPS[self.background]
        place = min(int(share * len(ramp)), len(ramp) - 1)
        far = place >= len(ramp) - 3
        return Style(bgcolor=ramp[place], color=INK[self.background][far], bold=far)

    def _legend(self, side: int, coloured: bool) -> Text:
        legend = Text(" " * (side + 1) + "0 ", style="dim")
        if coloured:
            for colour in RAMPS[self.background]:
                legend.append("  ", style=Style(bgcolor=colour))
        else:
            legend.append(_SHADES[1:])
        return legend.append(f" {self.peak:.0%}")

    def _describe_omitted(self, shape: tuple[int, ...]) -> str:
        drawn = self.weights.shape
        if drawn == shape:
            return ""
        return (
            f"Drawn: {drawn[0]} of {shape[0]} rows, {drawn[1]} of {shape[1]} columns; "
            "the HTML and SVG pictures show all."
        )


def map_text(
    picture: Picture, *, width: int = 100, colour: bool = False, background: Background = "dark"
) -> str:
    """Draw a map into a string: with ``colour`` it holds escape codes, without only characters."""
    return render_text(TerminalMap(picture, background=background), width=width, colour=colour)


def render_text(picture: RenderableType, *, width: int, colour: bool) -> str:
    """Draw what a terminal would show into a string; with ``colour`` it holds escape codes."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="256" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(picture)
    return capture.get()


def _layout(words: list[str], room: int) -> _Layout:
    """Words across if they fit, a little shortened if need be; otherwise letters downwards."""
    for most in (16, 10, 7):
        widths = [max(min(cell_len(word), most) + 2, 5) for word in words]
        if sum(widths) <= room:
            return _Layout(False, widths)
    return _Layout(True, [3] * len(words))


def _panels(widths: list[int], room: int) -> Iterator[range]:
    """Fold the columns so that each panel fits the room."""
    start, used = 0, 0
    for place, width in enumerate(widths):
        if place > start and used + width > room:
            yield range(start, place)
            start, used = place, 0
        used += width
    yield range(start, len(widths))


def _stack(word: str, most: int = 12) -> list[str]:
    return characters(label(word, most))


def _letter(stack: list[str], place: int) -> str:
    letter = stack[place] if place >= 0 else ""
    return " " * (2 - cell_len(letter)) + letter + " "


def _center(text: str, width: int) -> str:
    shown = label(text, width - 1)
    space = width - cell_len(shown)
    return " " * (space // 2) + shown + " " * (space - space // 2)


def _pad_width(word: str, side: int) -> int:
    """How many characters ``rjust`` must fill so that the word takes ``side`` cells."""
    shown = label(word, side)
    return side - cell_len(shown) + len(shown)


def _percent(weight: float, width: int) -> str:
    return f"{min(round(weight * 100), 99 if width < 4 else 100)}"


def _shade(share: float) -> str:
    if share < _FAINT:
        return _SHADES[0]
    return _SHADES[1 + min(int(share * 4), 3)]
