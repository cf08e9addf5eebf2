"""A clause before it is said: who does what to whom, where, when, and in which tense."""

from typing import Literal, NamedTuple

from regard.data.worlds.scenes.english import Person
from regard.data.worlds.scenes.modifiers import NO, Adjective, Adverb
from regard.data.worlds.scenes.phrase import Location, Phrase, Subject
from regard.data.worlds.scenes.verbs import Modal, Verb

Front = Literal["subject", "time", "place"]


class Predicate(NamedTuple):
    """What the copula says of its subject: *sehr alt*, *älter als die Katze*."""

    adjective: Adjective
    degree: tuple[str, str] | None = None
    """A word before the adjective in either language: *sehr* and *very*."""
    than: Phrase | None = None


class Clause(NamedTuple):
    """The meaning of one clause. Without a verb it is a copula with a predicate."""

    subject: Subject
    verb: Verb | None = None
    predicate: Predicate | None = None
    object: Phrase | None = None
    recipient: Phrase | None = None
    place: Location | None = None
    companion: Phrase | None = None
    manner: Adverb | None = None
    time: Adverb | None = None
    perfect: bool = False
    modal: Modal | None = None
    negated: bool = False

    @property
    def person(self) -> Person:
        return self.subject.person

    @property
    def habitual(self) -> bool:
        return self.time is not None and self.time.meaning == "habit"

    @property
    def past(self) -> bool:
        """A German perfect with a past time is an English past."""
        return self.perfect and self.time is not None and self.time.meaning == "past"

    @property
    def says_nicht(self) -> bool:
        """Negated, and not by *kein* already."""
        return self.negated and not (self.object and self.object.determiner is NO)
