"""Words from anywhere, made safe to show: what a picture prints never moves the cursor or lies.

Control characters can drive a terminal, bidirectional overrides can show one text and mean another,
and some code points are not allowed in XML at all. They are dropped everywhere.
"""

import unicodedata

from rich.cells import cell_len

_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_INVISIBLE = frozenset("\u00ad\u2028\u2029\ufeff\ufff9\ufffa\ufffb")
_SHOWN = str.maketrans({"\n": "⏎", "\t": "⇥"})


def clean(text: str) -> str:
    """Drop what must not be shown; line breaks and tabs stay."""
    return "".join(character for character in text if _showable(character))


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


def _showable(character: str) -> bool:
    if character in "\n\t":
        return True
    if character in _BIDIRECTIONAL or character in _INVISIBLE:
        return False
    point = ord(character)
    no_character = point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF
    tag = 0xE0000 <= point <= 0xE007F
    return not no_character and not tag and unicodedata.category(character) not in ("Cc", "Cs")
