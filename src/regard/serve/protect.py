"""Parts of a text that a translator must not touch: placeholders, URLs, markup, emoji.

    protect  "Hi {name}, see %s."  ->  "Hi ■, see ■."  and the objects {name}, %s
    mask     "Hi ■, see ■."        ->  "Hi X1, see X2."                what the model reads
    restore  "X2 sehen, Hi X1."    ->  "%s sehen, Hi {name}."          if it wrote each once

■ is one private-use character per object, so that sentences are split and cut around objects.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

OBJECT = "\ue000"
_FORMAT = r"[-+\#0]*\d*(?:\.\d+)?(?:hh|ll|[hlLqjzt])?"
_EMOJI = r"\U0001F000-\U0001FAFF\u2600-\u27BF\u2B00-\u2BFF"
_PLACEHOLDERS = re.compile(
    rf"""
    # URLs and addresses
    (?:https?|ftp)://[^\s<>"{{}}|\\^`\ue000]*[^\s<>"{{}}|\\^`.,;:!?'()\[\]\ue000]
    | \bwww\.[\w-]+(?:\.[\w-]+)+(?:/[^\s<>"]*[^\s<>".,;:!?'()\[\]])?
    | \b[\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+
    # {{{{x}}}} {{x}} ${{x}}
    | \{{\{{[^{{}}\n]{{0,200}}\}}\}} | [$\#%]?\{{[^\s{{}}]{{0,100}}\}}
    # %(x)d %1$s %.2f %% %name% $name \n
    | %\(\w{{1,100}}\){_FORMAT}[a-zA-Z] | %\d+\${_FORMAT}[a-zA-Z]
    | (?<![\d%])%{_FORMAT}[diouxXeEfFgGcrsaA@](?![A-Za-z])
    | %% | %\w{{1,100}}% | \$[A-Za-z_]\w{{0,100}} | \\[nrt]
    # markup in plain text, @user, #topic, emoji
    | </?[A-Za-z][^<>\n]{{0,200}}> | &\#?\w{{1,32}};
    | (?<![\w@\#])[@\#]\w[\w@.-]{{0,100}}(?<![.-])
    | [{_EMOJI}][\uFE0F\u200D{_EMOJI}]*
    | [\ue000-\uf8ff]
    """,
    re.VERBOSE,
)
_MASKS = "XQZJ"


class Protected:
    """A text in which each object is one character.

    Args:
        text: The text with ``OBJECT`` in place of each object.
        objects: The objects, in order.

    """

    def __init__(self, text: str, objects: tuple[str, ...]) -> None:
        self.text, self.objects = text, objects

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Protected) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Protected({self.text!r}, {self.objects!r})"

    def __str__(self) -> str:
        return fill(self.text, self.objects)

    @property
    def _key(self) -> tuple[str, tuple[str, ...]]:
        return self.text, self.objects

    @cached_property
    def _places(self) -> list[int]:
        return [place for place, character in enumerate(self.text) if character == OBJECT]

    def cut(self, begin: int, end: int) -> "Protected":
        """Return a part of the text with its objects."""
        part = slice(bisect_left(self._places, begin), bisect_left(self._places, end))
        return Protected(self.text[begin:end], self.objects[part])

    @property
    def translatable(self) -> bool:
        """Whether there is any letter outside the objects."""
        return any(character.isalpha() for character in self.text)


def protect(text: str) -> Protected:
    """Replace the placeholders of a text by ``OBJECT``."""
    objects = tuple(found[0] for found in _PLACEHOLDERS.finditer(text))
    return Protected(_PLACEHOLDERS.sub(OBJECT, text), objects)


def fill(text: str, objects: tuple[str, ...]) -> str:
    """Put the objects back in order."""
    remaining = iter(objects)
    return re.sub(OBJECT, lambda _: next(remaining), text)


def mask(unit: Protected) -> tuple[str, tuple[str, ...]]:
    """Write each object as a short name that the text does not have; return text and names."""
    letter = next((one for one in _MASKS if f"{one}1" not in unit.text), "XX")
    names = tuple(f"{letter}{n}" for n in range(1, len(unit.objects) + 1))
    return fill(unit.text, names), names


def restore(
    answer: str, names: tuple[str, ...], objects: tuple[str, ...], escape: Callable[[str], str]
) -> str | None:
    """Write the objects instead of their names; None unless each is there once, in order."""
    if not names:
        return escape(answer)
    letter = names[0][:-1]
    named = re.compile(rf"(?<!\w){letter}\d+(?!\w)")
    if tuple(named.findall(answer)) != names:
        return None
    return fill(escape(named.sub(OBJECT, answer.replace(OBJECT, ""))), objects)
