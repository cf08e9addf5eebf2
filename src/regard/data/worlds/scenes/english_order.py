"""English word order: subject, auxiliary, verb, objects, manner, place, time.

Questions put the auxiliary first (with *do* where there is none), and so does *there is*.
"""

from typing import NamedTuple

from regard.data.worlds.scenes import english
from regard.data.worlds.scenes.clause import Clause, Front
from regard.data.worlds.scenes.modifiers import NONE, A
from regard.data.worlds.scenes.phrase import (
    Phrase,
    english_phrase,
    english_place,
    english_subject,
)
from regard.data.worlds.scenes.verbs import CAN, WANT, Verb
from regard.data.worlds.scenes.words import Word, Words

_VERB, _AUXILIARY, _NOT = ("verb",), ("auxiliary",), Word("not", ("not",))


class Group(NamedTuple):
    """The verb's words: an auxiliary that can move, what may follow it, and the verb itself."""

    auxiliary: Words
    verb: Words


def clause_in_order(clause: Clause, front: Front = "subject") -> Words:
    """Say *today the man is calling his mother*."""
    group = _group(clause, support=clause.negated)
    if front == "place" and _introduces(clause):
        there = (Word("there"), *group.auxiliary)
        return (*there, *english_subject(clause.subject), *group.verb, *_rest(clause))
    first = {"subject": (), "time": _time(clause), "place": _place(clause)}[front]
    subject = english_subject(clause.subject)
    return (*first, *subject, *_order_verb(clause, group, front), *_rest(clause, without=front))


def question(clause: Clause) -> Words:
    """Say *is the man calling his mother*."""
    group = _group(clause, support=True)
    subject = english_subject(clause.subject)
    return (*group.auxiliary[:1], *subject, *group.auxiliary[1:], *group.verb, *_rest(clause))


def predicate_of(clause: Clause) -> Words:
    """Say everything after the subject, as a relative clause has it."""
    group = _group(clause, support=clause.negated)
    return (*_order_verb(clause, group), *_rest(clause))


def _introduces(clause: Clause) -> bool:
    subject = clause.subject
    new = isinstance(subject, Phrase) and subject.determiner in (A, NONE)
    return new and not (clause.perfect or clause.modal or clause.habitual or clause.negated)


def _order_verb(clause: Clause, group: Group, front: Front = "subject") -> Words:
    if clause.time is not None and clause.time.place == "verb" and front != "time":
        return (*group.auxiliary, *_time(clause), *group.verb)
    if not clause.negated:
        return (*group.auxiliary, *group.verb)
    if clause.modal is CAN:
        return (Word("cannot", (*_AUXILIARY, "not")), *group.verb)
    return (*group.auxiliary, _NOT, *group.verb)


def _rest(clause: Clause, without: Front = "subject") -> Words:
    said: list[Word] = []
    if clause.recipient is not None:
        said += english_phrase(clause.recipient, "recipient")
    if clause.object is not None:
        said += english_phrase(clause.object, "object")
    if clause.manner is not None:
        said.append(Word(clause.manner.english, ("manner",), content=True))
    if clause.companion is not None:
        said += (Word("with", ("with",)), *english_phrase(clause.companion, "companion"))
    if without != "place":
        said += _place(clause)
    at_end = clause.time is not None and clause.time.place == "end" and without != "time"
    return (*said, *_predicate(clause), *(_time(clause) if at_end else ()))


def _time(clause: Clause) -> Words:
    if clause.time is None:
        return ()
    return _mark_head(clause.time.english, "time")


def _mark_head(phrase: str, concept: str) -> Words:
    *before, head = phrase.split()
    return (*(Word(word, (concept,)) for word in before), Word(head, (concept,), content=True))


def _place(clause: Clause) -> Words:
    return () if clause.place is None else english_place(clause.place, "place")


def _predicate(clause: Clause) -> Words:
    if clause.predicate is None:
        return ()
    adjective, degree, than = clause.predicate
    if than is not None:
        compared = _mark_head(adjective.english_comparative, "predicate")
        return (*compared, Word("than", ("than",)), *english_phrase(than, "than"))
    before = () if degree is None else (Word(degree[1], ("degree",), content=True),)
    return (*before, Word(adjective.english, ("predicate",), content=True))


def _group(clause: Clause, *, support: bool) -> Group:
    verb, person = clause.verb, clause.person
    if verb is None:
        return Group((Word(english.be(person), _VERB),), ())
    if clause.modal is not None:
        return _modal(clause, verb)
    if clause.past:
        return _past(verb, support=support)
    if clause.perfect:
        have = Word(english.present_of("have", person), _AUXILIARY)
        return Group((have,), _make_verb(verb, verb.english_participle))
    return _present(clause, verb, support=support)


def _present(clause: Clause, verb: Verb, *, support: bool) -> Group:
    person = clause.person
    if verb.aspect == "action" and not clause.habitual:
        be = Word(english.be(person), _VERB)
        return Group((be,), _make_verb(verb, english.progressive_of(verb.english)))
    if support:
        do = Word(english.present_of("do", person), _VERB)
        return Group((do,), _make_verb(verb, verb.english))
    return Group((), _make_verb(verb, english.present_of(verb.english, person)))


def _modal(clause: Clause, verb: Verb) -> Group:
    assert clause.modal is not None
    modal = clause.modal
    first = english.present_of("want", clause.person) if modal is WANT else modal.english
    words = (first, *modal.after.split())
    return Group(tuple(Word(w, _AUXILIARY) for w in words), _make_verb(verb, verb.english))


def _past(verb: Verb, *, support: bool) -> Group:
    if support:
        return Group((Word("did", _AUXILIARY),), _make_verb(verb, verb.english))
    head, *particle = _make_verb(verb, verb.past)
    return Group((), (head._replace(concepts=(*_VERB, *_AUXILIARY)), *particle))


def _make_verb(verb: Verb, form: str) -> Words:
    particle = (Word(verb.particle, _VERB),) if verb.particle else ()
    return (Word(form, _VERB, content=True), *particle)
