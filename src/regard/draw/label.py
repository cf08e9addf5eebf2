"""Labels: words from anywhere on one line, as wide as there is room for."""

from collections.abc import Iterable

from rich.cells import cell_len

from regard.draw.clean import clean

_SHOWN = str.maketrans({"\n": "⏎", "\t": "⇥"})


def label(word: str, most: int | None = None) -> str:
    """Make any text fit one line of at most ``most`` cells."""
    shown = clean(word.strip("\r")).translate(_SHOWN) or "␀"
    shown = "␣" * len(shown) if shown.isspace() else shown
    return shown if most is None else shorten(shown, most)


def strip_marks(words: Iterable[str]) -> list[str]:
    """Strip the tokenizer's mark of a space from words."""
    return [word.replace("▁", "") for word in words]


def shorten(text: str, most: int) -> str:
    """Truncate a text to at most ``most`` terminal cells, with an ellipsis."""
    if cell_len(text) <= most:
        return text
    kept = ""
    for character in characters(text):
        if cell_len(kept + character) > most - 1:
            break
        kept += character
    return kept + "…" if most > 0 else ""


def characters(text: str) -> list[str]:
    """Split a text into single places; combining marks stay with their letter."""
    found: list[str] = []
    for character in text:
        if found and cell_len(character) == 0:
            found[-1] += character
        else:
            found.append(character)
    return found
