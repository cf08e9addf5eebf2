"""English inflection: -s, -ing, -ed, a or an, and the forms of be, have and do."""

import re
from typing import Literal

Person = Literal["first", "third", "plural"]

_DOUBLING = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_BE: dict[Person, str] = {"first": "am", "third": "is", "plural": "are"}


def third_of(base: str) -> str:
    """Turn *sleep* to *sleeps*, *catch* to *catches*, *carry* to *carries*, *have* to *has*."""
    if base == "have":
        return "has"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + ("es" if re.search(r"(s|x|ch|sh|o)$", base) else "s")


def progressive_of(base: str) -> str:
    """Turn *sleep* to *sleeping*, *dance* to *dancing*, *lie* to *lying*, *sit* to *sitting*."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return _double_consonant(base) + "ing"


def participle_of(base: str) -> str:
    """Form the regular past and participle: *worked*, *cried*, *danced*, *hugged*."""
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + "d" if base.endswith("e") else _double_consonant(base) + "ed"


def present_of(base: str, person: Person) -> str:
    """Form the simple present."""
    return third_of(base) if person == "third" else base


def be(person: Person) -> str:
    """Choose *am*, *is* or *are*."""
    return _BE[person]


def a_or_an(following: str) -> str:
    """Choose the indefinite article before a word; no word of the scenes hides its first sound."""
    return "an" if following[0] in "aeiou" else "a"


def _double_consonant(base: str) -> str:
    return base + base[-1] if _DOUBLING.fullmatch(base) else base
