"""German inflection: articles, adjective endings, nouns and verbs, by gender, case and number.

The tables are those of any school grammar: columns are masculine, feminine, neuter and plural.
"""

from typing import Literal

from regard.data.worlds.scenes.english import Person
from regard.data.worlds.scenes.nouns import Noun

Case = Literal["nominative", "accusative", "dative"]
Pattern = Literal["weak", "mixed", "strong"]
Column = Literal["m", "f", "n", "plural"]
Row = tuple[str, str, str, str]

_COLUMN: dict[Column, int] = {"m": 0, "f": 1, "n": 2, "plural": 3}

_THE: dict[Case, Row] = {
    "nominative": ("der", "die", "das", "die"),
    "accusative": ("den", "die", "das", "die"),
    "dative": ("dem", "der", "dem", "den"),
}
_THIS: dict[Case, Row] = {
    "nominative": ("er", "e", "es", "e"),
    "accusative": ("en", "e", "es", "e"),
    "dative": ("em", "er", "em", "en"),
}
_A: dict[Case, Row] = {
    "nominative": ("", "e", "", "e"),
    "accusative": ("en", "e", "", "e"),
    "dative": ("em", "er", "em", "en"),
}
_ADJECTIVE: dict[Pattern, dict[Case, Row]] = {
    "weak": {
        "nominative": ("e", "e", "e", "en"),
        "accusative": ("en", "e", "e", "en"),
        "dative": ("en", "en", "en", "en"),
    },
    "mixed": {
        "nominative": ("er", "e", "es", "en"),
        "accusative": ("en", "e", "es", "en"),
        "dative": ("en", "en", "en", "en"),
    },
    "strong": {
        "nominative": ("er", "e", "es", "e"),
        "accusative": ("en", "e", "es", "e"),
        "dative": ("em", "er", "em", "en"),
    },
}

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}


def column(noun: Noun, *, plural: bool) -> Column:
    """Find the column of the tables a noun is declined by."""
    return "plural" if plural else noun.gender


def article(stem: str, case: Case, of: Column) -> str:
    """Decline *der*, *dieser* (stem *dies*), or a word like *ein* (*kein*, *mein*, *ihr*)."""
    if stem == "der":
        return _THE[case][_COLUMN[of]]
    endings = _THIS if stem == "dies" else _A
    return stem + endings[case][_COLUMN[of]]


def adjective(stem: str, pattern: Pattern, case: Case, of: Column) -> str:
    """Inflect an adjective: weak after *der*, mixed after *ein*, strong after neither."""
    return stem + _ADJECTIVE[pattern][case][_COLUMN[of]]


def noun_form(noun: Noun, case: Case, *, plural: bool) -> str:
    """Decline *Hund*, *Hunde*, *Hunden*; weak nouns look like their plural in the oblique cases."""
    if not plural:
        return noun.plural if noun.weak and case != "nominative" else noun.german
    return noun.plural + ("n" if case == "dative" and noun.plural[-1] not in "ns" else "")


def present(infinitive: str, third: str, person: Person) -> str:
    """Form a verb's present, without its prefix; preterite-presents (*weiß*) have one singular."""
    if person == "plural":
        return infinitive
    if person == "third" or not third.endswith("t"):
        return third
    return (infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]) + "e"


HAVE: dict[Person, str] = {"first": "habe", "third": "hat", "plural": "haben"}
BE: dict[Person, str] = {"first": "bin", "third": "ist", "plural": "sind"}
