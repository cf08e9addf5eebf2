"""Words from anywhere, made safe to show: what a picture prints never moves the cursor or lies.

Control characters can drive a terminal, bidirectional overrides can show one text and mean another,
and some code points are not allowed in XML at all. They are dropped everywhere.
"""

import re

from rich.cells import cell_len

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line break
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks and overrides
    "\u00ad\u2028\u2029\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\ud800-\udfff\ufdd0-\ufdef"  # halves of characters, and no characters
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_SHOWN = str.maketrans({"\n": "⏎", "\t": "⇥"})


def clean(text: str) -> str:
    """Drop what must not be shown; line breaks and tabs stay."""
    return _HIDDEN.sub("", text)


def label(word: str, most: int | None = None) -> str:
    """Make a word fit one line of at most ``most`` cells, whatever it holds."""
    shown = clean(word.strip("\r")).translate(_SHOWN) or "␀"
    shown = "␣" * len(shown) if shown.isspace() else shown
    return shown if most is None else shorten(shown, most)


def shorten(text: str, most: int) -> str:
    """Cut a text to at most ``most`` terminal cells, with an ellipsis for what is gone."""
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
