"""All heads of a stack in the terminal, each as a few cells, and words shaded by attribution.

With colours a cell is half a character high; without, a shade. Rows and columns are joined where
there are more of them than cells: the greatest of them shows.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from regard.draw.bars import Bars, terminal_bars
from regard.draw.label import label
from regard.draw.terminal import RAMPS, Background

WIDE, HIGH = 10, 8  # cells of one head; two of them above one another are one character
_SHADES = " ░▒▓█"


class TerminalOverview:
    """Every head of a stack, small.

    Args:
        weights: Axes: layer, head, row, column.
        chosen: Layer and head shown enlarged; its number is marked.
        background: Whether the terminal is dark or light.

    """

    def __init__(
        self,
        weights: NDArray[np.floating],
        *,
        chosen: tuple[int, int | None],
        background: Background = "dark",
    ) -> None:
        self.weights, self.chosen, self.background = weights, chosen, background

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text | Segment]:
        coloured = console.color_system is not None and not console.no_color
        layers, heads = self.weights.shape[:2]
        side = len(str(layers)) + 7
        across = max(1, (options.max_width - side) // (WIDE + 2))
        yield Text("all heads: layers downwards, heads across", style="dim")
        for begin in range(0, heads, across):
            some = range(begin, min(heads, begin + across))
            names = "".join(self._name(head) for head in some)
            yield Text(" " * side + names.rstrip(), style="dim")
            for layer in range(layers):
                maps = [_small(self.weights[layer, head]) for head in some]
                for line in range(HIGH // 2):
                    mark = f"layer {layer + 1}" if line == 0 else ""
                    yield Text(mark.ljust(side), style="dim", end="")
                    for one in maps:
                        yield self._line(one[2 * line : 2 * line + 2], coloured)
                    yield Segment.line()

    def _name(self, head: int) -> str:
        mark = f"head {head + 1}" + ("*" if head == self.chosen[1] else "")
        return mark.ljust(WIDE + 2)

    def _line(self, pair: NDArray[np.floating], coloured: bool) -> Text:
        line = Text(end="")
        for above, below in pair.T.tolist():
            if coloured:
                style = Style(color=self._colour(above), bgcolor=self._colour(below))
                line.append("▀", style=style)
            else:
                line.append(_SHADES[min(4, int(max(above, below) * 4.999))])
        return line.append("  ")

    def _colour(self, share: float) -> str:
        ramp = RAMPS[self.background]
        return ramp[min(len(ramp) - 1, int(share * len(ramp)))]


def score_bars(
    words: Sequence[str], scores: NDArray[np.floating], *, most: int = 12, title: str = ""
) -> Bars:
    """Return the words with the highest scores, of either sign, as bars."""
    ranked = np.argsort(-np.abs(scores), kind="stable")[:most].tolist()
    return Bars(title, [(label(words[n]), float(scores[n])) for n in ranked if scores[n]])


class ShadedWords:
    """Words of a text, shaded by how much each contributes to an answer, and the first as bars.

    Args:
        words: The words.
        scores: One for each; negative where it counts against the answer.
        most: How many words are listed with their scores.

    """

    def __init__(
        self, words: Sequence[str], scores: NDArray[np.floating], *, most: int = 12
    ) -> None:
        self.words, self.scores, self.most = [label(word) for word in words], scores, most
        self.peak = float(np.abs(scores).max(initial=0.0)) or 1.0

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text | Segment]:
        if console.color_system is not None and not console.no_color:
            line = Text()
            for word, score in zip(self.words, self.scores.tolist(), strict=True):
                line.append(word, style=self._style(score)).append(" ")
            yield line
        bars = score_bars(self.words, self.scores, most=self.most)
        yield Text(terminal_bars(bars, width=min(80, options.max_width)))

    def _style(self, score: float) -> Style:
        share = abs(score) / self.peak
        if share < 0.05:
            return Style(dim=True)
        level = 0.25 + 0.75 * share
        far = (251, 146, 60) if score > 0 else (45, 212, 191)
        red, green, blue = (round(level * part) for part in far)
        return Style(
            bgcolor=f"rgb({red},{green},{blue})", color="black" if level > 0.6 else "white"
        )


def _small(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Reduce a map to a few cells, the maximum of each; its root, so that low weights show."""
    rows, columns = weights.shape
    small = np.zeros((HIGH, WIDE))
    for y in range(HIGH):
        for x in range(WIDE):
            part = weights[_part(y, HIGH, rows), _part(x, WIDE, columns)]
            small[y, x] = part.max(initial=0.0)
    return np.sqrt(np.clip(small, 0.0, 1.0))


def _part(place: int, places: int, length: int) -> slice:
    """Return which of ``length`` a place shows; fewer than places are spread, each on several."""
    begin = place * length // places
    return slice(begin, max(begin + 1, (place + 1) * length // places))
