"""German word order.

A clause is ``front | finite | middle | close``: the finite verb comes second in a main clause,
first in a question, and last, after the closing verb parts, in a subordinate clause. What closes is
the separable prefix, the participle or the infinitive.
"""

from typing import NamedTuple

from regard.data.worlds.scenes import german
from regard.data.worlds.scenes.clause import Clause, Front
from regard.data.worlds.scenes.german import Case
from regard.data.worlds.scenes.phrase import german_phrase, german_place, german_subject
from regard.data.worlds.scenes.verbs import FUTURE, Verb
from regard.data.worlds.scenes.words import Word, Words

_VERB = ("verb",)


class Bracket(NamedTuple):
    """The two ends of the verb: where it stands apart, and where it ends the clause."""

    finite: Words
    close: Words
    together: Words
    """Finite and close as they end a subordinate clause."""


def main_clause(clause: Clause, front: Front = "subject") -> Words:
    """Say *heute ruft der Mann seine Mutter an*: the finite verb in second place."""
    bracket, first = _bracket(clause), _front(clause, front)
    subject = () if front == "subject" else german_subject(clause.subject)
    middle = _middle(clause, without=front)
    return (*first, *bracket.finite, *subject, *middle, *bracket.close)


def inverted_clause(clause: Clause) -> Words:
    """Say *ruft der Mann seine Mutter an*: the verb first, in questions and after a clause."""
    bracket = _bracket(clause)
    subject = german_subject(clause.subject)
    return (*bracket.finite, *subject, *_middle(clause), *bracket.close)


def final_clause(clause: Clause, subject: Words | None = None) -> Words:
    """Say *… der Mann seine Mutter anruft*: the finite verb last."""
    subject = german_subject(clause.subject) if subject is None else subject
    return (*subject, *_middle(clause), *_bracket(clause).together)


def _front(clause: Clause, front: Front) -> Words:
    if front == "time":
        return _time(clause)
    return _place(clause) if front == "place" else german_subject(clause.subject)


def _middle(clause: Clause, without: Front = "subject") -> Words:
    said: list[Word] = []
    if without != "time":
        said += _time(clause)
    if clause.recipient is not None:
        said += german_phrase(clause.recipient, "dative", "recipient")
    if clause.object is not None:
        case: Case = "dative" if clause.verb is not None and clause.verb.dative else "accusative"
        said += german_phrase(clause.object, case, "object")
    if clause.says_nicht:
        said.append(Word("nicht", ("not",)))
    if clause.companion is not None:
        said += (Word("mit", ("with",)), *german_phrase(clause.companion, "dative", "companion"))
    if clause.manner is not None:
        said.append(Word(clause.manner.german, ("manner",), content=True))
    if without != "place":
        said += _place(clause)
    return (*said, *_predicate(clause))


def _time(clause: Clause) -> Words:
    if clause.time is None:
        return ()
    return tuple(Word(word, ("time",), content=True) for word in clause.time.german.split())


def _place(clause: Clause) -> Words:
    return () if clause.place is None else german_place(clause.place, "place")


def _predicate(clause: Clause) -> Words:
    if clause.predicate is None:
        return ()
    adjective, degree, than = clause.predicate
    if than is not None:
        compared = Word(adjective.comparative, ("predicate",), content=True)
        return (compared, Word("als", ("than",)), *german_phrase(than, "nominative", "than"))
    before = () if degree is None else (Word(degree[0], ("degree",), content=True),)
    return (*before, Word(adjective.german, ("predicate",), content=True))


def _bracket(clause: Clause) -> Bracket:
    verb = clause.verb
    if verb is None:
        copula = (Word(german.BE[clause.person], _VERB),)
        return Bracket(copula, (), copula)
    if clause.modal is not None:
        return _close_bracket(_modal(clause), verb.infinitive)
    if clause.perfect:
        forms = german.HAVE if verb.auxiliary == "haben" else german.BE
        return _close_bracket(Word(forms[clause.person], ("auxiliary",)), verb.participle)
    return _simple(verb, german.present(verb.stem, verb.third, clause.person))


def _modal(clause: Clause) -> Word:
    assert clause.modal is not None
    if clause.modal is FUTURE and clause.person == "first":
        return Word("werde", ("auxiliary",))
    plural = clause.person == "plural"
    return Word(clause.modal.plural if plural else clause.modal.singular, ("auxiliary",))


def _close_bracket(finite: Word, closing: str) -> Bracket:
    close = Word(closing, _VERB, content=True)
    return Bracket((finite,), (close,), (close, finite))


def _simple(verb: Verb, form: str) -> Bracket:
    finite = Word(form, _VERB, content=True)
    joined = (Word(verb.prefix + form, _VERB, content=True),)
    close = (Word(verb.prefix, _VERB),) if verb.prefix else ()
    return Bracket((finite,), close, joined)
