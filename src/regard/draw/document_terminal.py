"""A document in the terminal: a bar for each sentence, a shade behind each word.

    console.print(TerminalDocument(picture))

Without colours (NO_COLOR, a pipe) the words of the highest weights are followed by one of ░▒▓█.
"""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.draw.document import (
    DocumentPicture,
    DocumentView,
    DrawnSentence,
    overlap_picture,
)
from regard.draw.label import label
from regard.draw.terminal import INK, RAMPS, Background, TerminalMap, render_text

_BAR = 12
_PARTS = " ▏▎▍▌▋▊▉█"
_SHADES = "░▒▓█"
_FAINT = 0.06
_MARKED = 0.2
"""Without colours, words below this shade carry no mark."""


class TerminalDocument:
    """A document that rich can print.

    Args:
        picture: What to draw.
        background: Whether the terminal is dark or light.
        most_views: Views drawn before the rest is left out, with a line that says so.

    """

    def __init__(
        self, picture: DocumentPicture, *, background: Background = "dark", most_views: int = 9
    ) -> None:
        self.picture, self.background, self.most_views = picture, background, most_views

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text | Table | TerminalMap]:
        coloured = console.color_system is not None and not console.no_color
        shown = self.picture.views[: self.most_views]
        for view in shown:
            if len(self.picture.views) > 1:
                yield Text(label(view.name), style="bold")
            yield self._table(view, coloured=coloured)
        if len(shown) < len(self.picture.views):
            left = len(self.picture.views) - len(shown)
            yield Text(f"{left} more views are in the HTML page.", style="dim")
        if found := overlap_picture(self.picture):
            yield TerminalMap(found, background=self.background)
        yield Text(self.picture.verdict)
        if self.picture.note:
            yield Text(self.picture.note, style="dim")

    def _table(self, view: DocumentView, *, coloured: bool) -> Table:
        table = Table.grid(padding=(0, 1), expand=False)
        bars = any(sentence.weight is not None for sentence in view.sentences)
        if bars:
            table.add_column(no_wrap=True)
            table.add_column(no_wrap=True, justify="right")
        table.add_column(overflow="fold")
        for sentence, shades in zip(view.sentences, view.shades(), strict=True):
            words = self._words(sentence, shades, coloured=coloured)
            if sentence.weight is None:
                table.add_row(words)
            else:
                share = Text(f"{sentence.weight:.0%}", style="bold")
                table.add_row(Text(_bar(sentence.weight), style="cyan"), share, words)
        return table

    def _words(self, sentence: DrawnSentence, shades: list[float], *, coloured: bool) -> Text:
        line = Text()
        for word, shade in zip(sentence.words, shades, strict=True):
            shown = label(word)
            if line:
                line.append(" ")
            if not coloured:
                mark = _SHADES[min(int(shade * 4), 3)] if shade >= _MARKED else ""
                line.append(shown + mark)
            else:
                line.append(shown, style=self._style(shade) if shade >= _FAINT else None)
        return line

    def _style(self, shade: float) -> Style:
        ramp = RAMPS[self.background]
        place = min(int(shade * len(ramp)), len(ramp) - 1)
        far = place >= len(ramp) - 3
        return Style(bgcolor=ramp[place], color=INK[self.background][far], bold=far)


def document_text(picture: DocumentPicture, *, width: int = 100, colour: bool = False) -> str:
    """Draw a document into a string: with ``colour`` it holds escape codes."""
    return render_text(TerminalDocument(picture), width=width, colour=colour)


def _bar(share: float) -> str:
    """Draw a share to an eighth of a cell."""
    eighths = round(min(max(share, 0.0), 1.0) * _BAR * 8)
    bar = _PARTS[-1] * (eighths // 8) + _PARTS[eighths % 8].strip()
    return bar + " " * (_BAR - cell_len(bar))
