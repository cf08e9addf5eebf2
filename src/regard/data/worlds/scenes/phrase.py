"""Noun phrases, said in both languages: determiner, number, adjectives, noun.

Whoever says a phrase names its role in the clause; the role is the prefix of its concepts.
"""

from typing import NamedTuple

from regard.data.worlds.scenes import german
from regard.data.worlds.scenes.english import Person, a_or_an
from regard.data.worlds.scenes.german import Case
from regard.data.worlds.scenes.modifiers import (
    HER,
    HIS,
    NO,
    NUMBERS,
    OF_THE_GIRL,
    THE,
    THEIR,
    A,
    Adjective,
    Determiner,
    Pronoun,
)
from regard.data.worlds.scenes.nouns import Noun
from regard.data.worlds.scenes.places import Relation
from regard.data.worlds.scenes.words import Word, Words


class Phrase(NamedTuple):
    """A noun with what stands before it."""

    noun: Noun
    determiner: Determiner = THE
    adjectives: tuple[Adjective, ...] = ()
    plural: bool = False
    number: int | None = None
    """Index into ``NUMBERS``."""

    @property
    def person(self) -> Person:
        return "plural" if self.plural else "third"


Subject = Phrase | Pronoun


class Location(NamedTuple):
    """A preposition and its phrase."""

    relation: Relation
    phrase: Phrase


def german_phrase(phrase: Phrase, case: Case, role: str) -> Words:
    """Say the phrase in a case."""
    of = german.column(phrase.noun, plural=phrase.plural)
    said = []
    if phrase.determiner.stem:
        concepts = (f"{role}.determiner", *(("not",) if phrase.determiner is NO else ()))
        said.append(Word(german.article(phrase.determiner.stem, case, of), concepts))
    if phrase.number is not None:
        said.append(Word(NUMBERS[phrase.number][0], (f"{role}.number",), content=True))
    for place, adjective in enumerate(phrase.adjectives):
        form = german.adjective(adjective.stem, phrase.determiner.pattern, case, of)
        said.append(Word(form, (f"{role}.adjective{place}",), content=True))
    form = german.noun_form(phrase.noun, case, plural=phrase.plural)
    return (*said, Word(form, (f"{role}.noun",), content=True))


def english_phrase(phrase: Phrase, role: str) -> Words:
    """Say the phrase, with *a* or *an* by the word that follows."""
    said = []
    if phrase.number is not None:
        said.append(Word(NUMBERS[phrase.number][1], (f"{role}.number",), content=True))
    for place, adjective in enumerate(phrase.adjectives):
        said.append(Word(adjective.english, (f"{role}.adjective{place}",), content=True))
    noun = phrase.noun.english_plural if phrase.plural else phrase.noun.english
    said.append(Word(noun, (f"{role}.noun",), content=True))
    determiner = _english_determiner(phrase, said[0].text)
    return (*((Word(determiner, (f"{role}.determiner",)),) if determiner else ()), *said)


def _english_determiner(phrase: Phrase, following: str) -> str:
    if phrase.determiner in (A, NO):
        return "" if phrase.plural or phrase.noun.mass else a_or_an(following)
    return phrase.determiner.english_plural if phrase.plural else phrase.determiner.english


def german_place(place: Location, role: str) -> Words:
    """Say *im* for *in dem*: one word that means both."""
    relation = place.relation
    preposition = Word(relation.german, (f"{role}.preposition",))
    first, *rest = german_phrase(place.phrase, relation.case, role)
    # "in diesem Garten" is never contracted, and neither is an adjective or noun without article.
    merged = german.CONTRACTIONS.get((relation.german, first.text))
    if merged is None:
        return (preposition, first, *rest)
    return (Word(merged, (*preposition.concepts, *first.concepts)), *rest)


def english_place(place: Location, role: str) -> Words:
    """Say the preposition, of up to three words, and the phrase."""
    said = (Word(word, (f"{role}.preposition",)) for word in place.relation.english.split())
    return (*said, *english_phrase(place.phrase, role))


def german_subject(subject: Subject) -> Words:
    """Say a nominative phrase or a pronoun."""
    if isinstance(subject, Pronoun):
        return (Word(subject.german, ("subject.noun",)),)
    return german_phrase(subject, "nominative", "subject")


def english_subject(subject: Subject) -> Words:
    """Say a phrase or a pronoun."""
    if isinstance(subject, Pronoun):
        return (Word(subject.english, ("subject.noun",)),)
    return english_phrase(subject, "subject")


def pronoun_for(phrase: Phrase) -> Pronoun:
    """Find the pronoun that points back at a phrase: by gender in German, by sex in English."""
    if phrase.plural:
        return Pronoun("sie", "they", "plural", THEIR)
    said = {"m": "er", "f": "sie", "n": "es"}[phrase.noun.gender]
    kinds = phrase.noun.kinds
    meant = "he" if "he" in kinds else "she" if "she" in kinds else "it"
    return Pronoun(said, meant, "third", _OWN.get((said, meant), THE))


_OWN = {("er", "he"): HIS, ("sie", "she"): HER, ("es", "she"): OF_THE_GIRL}


def own(subject: Subject) -> Determiner:
    """Find the possessive that points back at the subject; *the* where it would be unclear."""
    if isinstance(subject, Pronoun):
        return subject.own
    return pronoun_for(subject).own if "person" in subject.noun.kinds else THE
