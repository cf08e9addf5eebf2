"""Draw a sentence of the scenes' grammar, with placeholders where names are to stand."""

from collections.abc import Sequence
from typing import Literal

from regard.data.worlds.names import words as lists
from regard.data.worlds.scenes import english_order as english
from regard.data.worlds.scenes.chance import Chance, side_of
from regard.data.worlds.scenes.clause import Clause, Predicate
from regard.data.worlds.scenes.draw_clause import ANYTHING, Rejected, draw_clause, is_indefinite
from regard.data.worlds.scenes.modifiers import (
    ADJECTIVES,
    HER,
    HIS,
    NONE,
    Adjective,
    Adverb,
    Pronoun,
)
from regard.data.worlds.scenes.nouns import NOUNS, Noun
from regard.data.worlds.scenes.phrase import Location, Phrase, Subject
from regard.data.worlds.scenes.places import Relation
from regard.data.worlds.scenes.verbs import WANT
from regard.data.worlds.scenes.words import Word, Words, punctuate

Sex = Literal["he", "she"]

LONGEST = 20
"""Most words of a sentence, a name counted as one."""

_UNSEEN = 0.5
"""Share of the names in valid and test that are in no other split."""
_TOWARDS = {"in": "in", "into": "to", "to": "to", "through": "through", "out of": "from"}
_TENSES = {"": 0.5, "past": 0.3, "future": 0.2}
_JOINTS = ("and", "but", "while", "because", "although")
_DEGREES = (None, ("", "very"), ("", "too"))
_PERSON, _TOWN, _VILLAGE = NOUNS["Mann"], NOUNS["Stadt"], NOUNS["Dorf"]
_ELDER = NOUNS["Großmutter"]


def _find_suiting(*nouns: Noun) -> set[Adjective]:
    return {one for one in ADJECTIVES.values() if any(one.suits(noun) for noun in nouns)}


_OF_PERSONS = _find_suiting(_PERSON, _ELDER, NOUNS["Kind"])
_OF_PLACES = _find_suiting(_TOWN, _VILLAGE)
# What can be said of both would not tell "Charlotte is old" from "Charlotte is old".
_PERSONAL = tuple(a for a in ADJECTIVES.values() if a in _OF_PERSONS and a not in _OF_PLACES)
_LOCAL = tuple(a for a in ADJECTIVES.values() if a in _OF_PLACES and a not in _OF_PERSONS)


class Names:
    """Draws names and hands out a placeholder for each.

    Args:
        chance: The choices of one split.

    """

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self.given: list[tuple[str, str]] = []
        """Each name with its type, in the order of the placeholders."""

    def person(self, sex: Sex) -> str:
        """Draw a person: a first name, a family's name, or both."""
        form = self._chance.pick_weighted(
            {"first": 0.5, "both": 0.25, "title": 0.15, "family": 0.1}
        )
        if form == "first":
            return self._give(self._first(sex), "PER")
        family = self._compound("family")
        if form == "both":
            return self._give(f"{self._first(sex)} {family}", "PER")
        title = f"{self._chance.pick(lists.TITLES[sex])} " if form == "title" else ""
        return title + self._give(family, "PER")

    def place(self) -> str:
        """Draw a town."""
        both = (*lists.WOMEN_AND_PLACES, *lists.MEN_AND_PLACES)
        form = self._chance.pick_weighted(
            {"both": 0.25, "known": 0.25, "compound": 0.35, "two": 0.15}
        )
        if form == "both":
            return self._give(self._chance.pick(both), "LOC")
        if form == "known":
            return self._give(self._own(lists.PLACES), "LOC")
        if form == "compound":
            return self._give(self._compound("place"), "LOC")
        named_after = self._first(self._chance.pick(("he", "she")))
        return self._give(f"{self._chance.pick(lists.BEFORE_PLACES)} {named_after}", "LOC")

    def time(self, meaning: str) -> str:
        """Draw a time with what stands before it."""
        chance = self._chance
        month, weekday = chance.pick(lists.MONTHS), chance.pick(lists.WEEKDAYS)
        if meaning == "habit":
            return f"every {self._give(weekday, 'TIME')}"
        form = chance.pick_weighted({"month": 0.35, "weekday": 0.25, "date": 0.2, "year": 0.2})
        year = self._own(lists.YEARS)
        if form in ("month", "weekday"):
            named = month if form == "month" else weekday
            usual = "in" if form == "month" else "on"
            before = chance.pick((usual, usual, "last" if meaning == "past" else "next"))
            return f"{before} {self._give(named, 'TIME')}"
        if form == "year":
            return f"in {self._give(chance.pick((year, f'{month} {year}')), 'TIME')}"
        date = f"{chance.pick(range(1, 29))} {month}"
        return f"on {self._give(chance.pick((date, f'{date} {year}')), 'TIME')}"

    def _give(self, name: str, label: str) -> str:
        self.given.append((name, label))
        return f"@{len(self.given) - 1}"

    def _first(self, sex: Sex) -> str:
        plain = lists.WOMEN if sex == "she" else lists.MEN
        if self._chance.happens(0.7):
            return self._own(plain)
        women = (*lists.WOMEN_AND_PLACES, *lists.WOMEN_AND_TIMES, *lists.WOMEN_AND_WORDS)
        men = (*lists.MEN_AND_PLACES, *lists.MEN_AND_TIMES, *lists.MEN_AND_WORDS)
        return self._chance.pick(women if sex == "she" else men)

    def _compound(self, what: str) -> str:
        side = self._side()
        while True:
            name = self._chance.pick(lists.STEMS) + self._chance.pick(lists.ENDINGS)
            if side_of(("name", name)) == side:
                return name

    def _own(self, pool: Sequence[str]) -> str:
        """Pick a name of the split's own, or one that training has as well."""
        side = self._side()
        return self._chance.pick([name for name in pool if side_of(("name", name)) == side])

    def _side(self) -> str:
        unseen = self._chance.split != "train" and self._chance.happens(_UNSEEN)
        return self._chance.split if unseen else "train"


def draw_sentence(chance: Chance, given: Names) -> str:
    """Draw a sentence of one or two clauses, a question or a description."""
    pattern = chance.pick_weighted({"one": 0.5, "two": 0.2, "question": 0.15, "description": 0.15})
    mark = "."
    if pattern == "description":
        words = english.clause_in_order(_description(chance, given))
    elif pattern == "question":
        clause = _clause(chance, given)
        if clause.negated or is_indefinite(clause) or clause.modal is WANT:
            raise Rejected
        words, mark = english.question(clause), "?"
    else:
        words = _state(chance, given)
        if pattern == "two":
            joint = Word(chance.pick(_JOINTS))
            words = (*punctuate(words, ","), joint, *_state(chance, given))
    if len(words) > LONGEST:
        raise Rejected
    text = " ".join(word.text for word in punctuate(words, mark))
    return text[0].upper() + text[1:]


def _state(chance: Chance, given: Names) -> Words:
    clause = _clause(chance, given)
    fronts = clause.time is not None and clause.time.fronts and chance.happens(0.3)
    return english.clause_in_order(clause, "time" if fronts else "subject")


def _clause(chance: Chance, given: Names) -> Clause:
    """Draw a scene, and give names to most of its persons, places and times."""
    scene = draw_clause(chance, ANYTHING, tense=chance.pick_weighted(_TENSES))
    return Clause(
        subject=_named_subject(chance, given, scene.subject),
        verb=scene.verb,
        object=_name(chance, given, scene.object),
        recipient=_name(chance, given, scene.recipient),
        place=_named_place(chance, given, scene.place),
        companion=_name(chance, given, scene.companion),
        manner=scene.manner,
        time=_named_time(chance, given, scene.time),
        perfect=scene.perfect,
        modal=scene.modal,
        negated=scene.negated,
    )


def _sex(noun: Noun) -> Sex | None:
    if "person" not in noun.kinds:
        return None
    return "she" if "she" in noun.kinds else "he"


def _named_subject(chance: Chance, given: Names, subject: Subject) -> Subject:
    sex = _sex(subject.noun) if isinstance(subject, Phrase) and not subject.plural else None
    if sex is None or not chance.happens(0.8):
        return subject
    return Pronoun("", given.person(sex), "third", HIS if sex == "he" else HER)


def _name(chance: Chance, given: Names, phrase: Phrase | None) -> Phrase | None:
    sex = None if phrase is None or phrase.plural else _sex(phrase.noun)
    if sex is None or not chance.happens(0.8):
        return phrase
    return _phrase(given.person(sex))


def _named_place(chance: Chance, given: Names, place: Location | None) -> Location | None:
    preposition = "in"
    if place is not None:
        goal = "place" in place.relation.noun.kinds
        preposition = _TOWARDS.get(place.relation.english, "") if goal else ""
    if not preposition or not chance.happens(0.4 if place is None else 0.7):
        return place
    phrase = _phrase(given.place())
    return Location(Relation("", "dative", preposition, phrase.noun, "town"), phrase)


def _named_time(chance: Chance, given: Names, time: Adverb | None) -> Adverb | None:
    if time is None or time.meaning == "now":
        return time
    # The scenes' own "on Monday" would name a time that nobody marks.
    if not time.english.startswith("on ") and not chance.happens(0.8):
        return time
    return Adverb("", given.time(time.meaning), time.meaning)


def _description(chance: Chance, given: Names) -> Clause:
    """Say how a person or a place is, sometimes beside another."""
    personal = chance.happens(0.5)
    adjective = chance.pick(_PERSONAL if personal else _LOCAL)

    def someone() -> str:
        return given.person(chance.pick(("he", "she"))) if personal else given.place()

    subject = Pronoun("", someone(), "third", HIS)
    compared = _phrase(someone()) if adjective.comparative and chance.happens(0.4) else None
    if not chance.allows(*(name for name, _ in given.given), adjective.german):
        raise Rejected
    degree = None if compared else chance.pick(_DEGREES)
    return Clause(subject, predicate=Predicate(adjective, degree, compared))


def _phrase(name: str) -> Phrase:
    return Phrase(Noun("", "n", "", name, "", frozenset()), NONE)
