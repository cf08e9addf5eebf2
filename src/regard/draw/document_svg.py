"""A document as a self-contained SVG: a bar for each sentence, a shade behind each word."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from regard.draw.document import DocumentPicture, DocumentView, DrawnSentence
from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.svg import STYLE

_WIDTH = 720
_BAR = 60
_LEFT = 116
"""Where words begin: behind the bars and their figures."""
_LINE = 24
_LETTER = 6.9
_SPACE = 6.0
_FAINT = 0.02
_MOST_LETTERS = 40


class _Word(NamedTuple):
    word: str
    shade: float
    x: float
    line: int
    width: float


def document_svg(picture: DocumentPicture, *, view: int = 0) -> str:
    """Draw one view of a document, and below it the effect of erasing its words."""
    chosen = picture.views[view]
    title = picture.title or f"{picture.answer}: attention weights ({chosen.name})"
    parts = [
        tag("style", STYLE),
        tag("title", text(title)),
        tag("text", text(label(title, 90)), x=0, y=16, class_="title"),
    ]
    drawn, y = _draw_sentences(chosen)
    parts += drawn
    for line in _fold(picture.verdict):
        y += 18
        parts.append(tag("text", text(line), x=0, y=y))
    return tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="regard-map",
        viewBox=f"0 0 {_WIDTH} {y + 14:.5g}",
        width=_WIDTH,
        height=y + 14,
        role="img",
    )


def _draw_sentences(view: DocumentView) -> tuple[list[str], float]:
    parts: list[str] = []
    top = 34.0
    for sentence, shades in zip(view.sentences, view.shades(), strict=True):
        left = 0.0 if sentence.weight is None else float(_LEFT)
        parts += _draw_bar(sentence, top)
        words = list(_place_words(sentence.words, shades, left))
        for word in words:
            parts += _draw_word(word, top)
        top += (max((word.line for word in words), default=0) + 1) * _LINE + 4
    return parts, top


def _draw_bar(sentence: DrawnSentence, top: float) -> list[str]:
    if sentence.weight is None:
        return []
    wide = max(sentence.weight * _BAR, 0.5)
    share = tag("text", f"{sentence.weight:.0%}", x=_BAR + 42, y=top + 15, text_anchor="end")
    return [tag("rect", class_="heat", x=0, y=top + 5, width=wide, height=12, rx=2), share]


def _draw_word(word: _Word, top: float) -> list[str]:
    y = top + word.line * _LINE
    drawn = tag("text", text(word.word), x=word.x + 2, y=y + 15)
    if word.shade < _FAINT:
        return [drawn]
    opacity = round(0.85 * word.shade, 3)
    wide = word.width + 4
    behind = tag(
        "rect", class_="heat", x=word.x, y=y + 1, width=wide, height=20, rx=3, fill_opacity=opacity
    )
    return [behind, drawn]


def _place_words(words: Sequence[str], shades: Sequence[float], left: float) -> Iterator[_Word]:
    """Wrap words into lines."""
    x, line = left, 0
    for word, shade in zip(words, shades, strict=True):
        shown = label(word, _MOST_LETTERS)
        wide = cell_len(shown) * _LETTER
        if x > left and x + wide > _WIDTH - 4:
            x, line = left, line + 1
        yield _Word(shown, shade, x, line, wide)
        x += wide + _SPACE + 2


def _fold(sentence: str, most: int = 104) -> Iterator[str]:
    line = ""
    for word in sentence.split():
        if line and len(line) + 1 + len(word) > most:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line
