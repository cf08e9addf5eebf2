"""Draw clauses that make sense: a frame, a verb, and nouns that can play its parts."""

from functools import cache

from regard.data.worlds.scenes import verbs
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.clause import Clause
from regard.data.worlds.scenes.draw_phrase import draw_phrase, draw_place, draw_subject
from regard.data.worlds.scenes.modifiers import (
    ICH,
    MANNERS,
    MANNERS_OF,
    NO,
    NONE,
    PRONOUNS,
    TIMES,
    A,
)
from regard.data.worlds.scenes.nouns import NOUNS, Noun, nouns_of
from regard.data.worlds.scenes.phrase import Phrase, own
from regard.data.worlds.scenes.places import Relation, relations_of
from regard.data.worlds.scenes.verbs import Verb

Frames = dict[tuple[Verb, ...], float]

DOING: Frames = {
    verbs.TRANSITIVE: 0.50,
    verbs.INTRANSITIVE: 0.20,
    verbs.MOTION: 0.12,
    verbs.DATIVE: 0.06,
    verbs.GIVING: 0.07,
    verbs.PUTTING: 0.05,
}
ANYTHING: Frames = DOING | {verbs.EVENTS: 0.10, verbs.STATES: 0.05, verbs.REST: 0.12}

_TENSES = {"present": 0.50, "perfect": 0.13, "past": 0.13, "modal": 0.17, "future": 0.07}
_TRIES = 40
_FEW = 8


class Rejected(Exception):
    """The draw makes no sense; draw again (rejection sampling)."""


def draw_clause(
    chance: Chance,
    frames: Frames,
    *,
    tense: str = "",
    subject: Noun | None = None,
    asked: str = "",
) -> Clause:
    """Draw a clause from one of the frames; in the given tense, about the given noun, if any.

    What is ``asked`` for stays open.
    """
    verb = chance.pick(_filter_able(chance.pick_weighted(frames), subject))
    who, what = _parts(chance, verb, subject, asked)
    clause = Clause(draw_subject(chance, who), verb)
    if isinstance(what, Relation):
        clause = clause._replace(place=draw_place(chance, what))
    elif isinstance(what, Noun):
        clause = _add_object(chance, clause, what)
    clause = _add_circumstances(chance, clause)
    return negate(chance, add_tense(chance, clause, tense or _draw_tense(chance, verb)))


def _filter_able(frame: tuple[Verb, ...], subject: Noun | None) -> tuple[Verb, ...]:
    if subject is None:
        return frame
    able = tuple(verb for verb in frame if subject in nouns_of(verb.subject))
    if not able:
        raise Rejected
    return able


@cache
def subjects_of(verb: Verb) -> tuple[str | Noun, ...]:
    """List who can do it: nouns, and pronouns where people can."""
    nouns = nouns_of(verb.subject)
    people = any("person" in noun.kinds for noun in nouns)
    # A quarter of the subjects, and twice "ich", since it makes a form of its own.
    names = [pronoun.german for pronoun in (ICH, *PRONOUNS)] * max(1, len(nouns) // 12)
    return (*nouns, *(names if people else ()))


def _parts(
    chance: Chance, verb: Verb, subject: Noun | None, asked: str
) -> tuple[str | Noun, Noun | Relation | None]:
    for _ in range(_TRIES):
        who = subject or chance.pick(subjects_of(verb))
        what = None if asked else _complement(chance, verb)
        used = what.noun if isinstance(what, Relation) else what
        words = (lemma(who), verb.infinitive, used.german if used else asked)
        if not _is_same(who, used) and is_allowed(chance, who, verb, words[-1]):
            chance.record(*words)
            return who, what
    raise Rejected


def is_allowed(chance: Chance, who: str | Noun, verb: Verb, what: str) -> bool:
    """Tell whether the split may say it; where *ich* has little choice, only training may.

    *Ich* makes a form of its own (*erzähle*) that training has to see.
    """
    choices = len(nouns_of(verb.object)) if verb.object else len(relations_of(verb.places))
    if who == ICH.german and choices < _FEW:
        return chance.split == "train"
    return chance.allows(lemma(who), verb.infinitive, what)


def _complement(chance: Chance, verb: Verb) -> Noun | Relation | None:
    if verb.object:
        return chance.pick(nouns_of(verb.object))
    needed = verb in (*verbs.MOTION, *verbs.REST) or verb.infinitive in (
        "sitzen",
        "liegen",
        "stehen",
    )
    if verb.places and (needed or chance.happens(0.6)):
        return chance.pick(relations_of(verb.places))
    return None


def lemma(who: str | Noun) -> str:
    """Name the word a combination knows a subject by."""
    return who.german if isinstance(who, Noun) else who


def _is_same(one: str | Noun, other: Noun | None) -> bool:
    return isinstance(one, Noun) and other is not None and one.english == other.english


def _add_object(chance: Chance, clause: Clause, noun: Noun) -> Clause:
    verb = clause.verb
    assert verb is not None
    mine = own(clause.subject)
    phrase = draw_phrase(chance, noun, own=mine)
    worn = verb.infinitive in ("tragen", "anziehen", "ausziehen") and "clothing" in noun.kinds
    if worn and phrase.plural and "many" not in noun.kinds:
        raise Rejected
    clause = clause._replace(object=phrase)
    if verb.places:
        return clause._replace(place=draw_place(chance, chance.pick(relations_of(verb.places))))
    if not verb.recipient:
        return clause
    recipient = chance.pick(nouns_of(verb.recipient))
    if isinstance(clause.subject, Phrase) and _is_same(clause.subject.noun, recipient):
        raise Rejected
    return clause._replace(recipient=draw_phrase(chance, recipient, own=mine))


def _add_circumstances(chance: Chance, clause: Clause) -> Clause:
    verb = clause.verb
    assert verb is not None
    manners = MANNERS_OF.get(verb.infinitive, "").split()
    if manners and chance.happens(0.3):
        return clause._replace(manner=MANNERS[chance.pick(manners)])
    together = verb.infinitive in ("spielen", "tanzen", "singen")
    if together and chance.happens(0.4):
        partner = NOUNS[chance.pick(("Hund", "Katze", "Kind", "Mädchen", "Freund", "Bruder"))]
        if isinstance(clause.subject, Phrase) and _is_same(clause.subject.noun, partner):
            raise Rejected
        return clause._replace(companion=draw_phrase(chance, partner, own=own(clause.subject)))
    return clause


def _draw_tense(chance: Chance, verb: Verb) -> str:
    if verb.aspect == "state" or verb in verbs.REST:
        return "still"
    return chance.pick_weighted(_TENSES)


def add_tense(chance: Chance, clause: Clause, tense: str) -> Clause:
    """Add a time, a perfect or a modal to a clause, as its tense has it."""
    if tense in ("past", "future"):
        time = chance.pick([time for time in TIMES if time.meaning == tense])
        modal = verbs.FUTURE if tense == "future" else None
        return clause._replace(time=time, perfect=tense == "past", modal=modal)
    if tense == "perfect":
        return clause._replace(perfect=True)
    if tense == "modal" and _can_want(clause):
        return clause._replace(modal=chance.pick(_modals(clause)))
    if tense == "present" and chance.happens(0.45):
        return clause._replace(
            time=chance.pick([t for t in TIMES if t.meaning in ("now", "habit")])
        )
    return clause


def _modals(clause: Clause) -> tuple[verbs.Modal, ...]:
    event = clause.verb is not None and clause.verb.aspect == "event"
    return (verbs.CAN, verbs.MUST) if event else verbs.MODALS


def _can_want(clause: Clause) -> bool:
    subject, verb = clause.subject, clause.verb
    if verb is not None and verb.infinitive in ("vergessen", "verlieren"):
        return False
    return not isinstance(subject, Phrase) or "person" in subject.noun.kinds


def negate(chance: Chance, clause: Clause, share: float = 0.12) -> Clause:
    """Deny it sometimes, where both languages have one plain way to."""
    if not chance.happens(share) or not _is_deniable(clause):
        return clause
    if clause.object is not None and clause.object.determiner in (A, NONE):
        clause = clause._replace(object=clause.object._replace(determiner=NO))
    return clause._replace(negated=True)


def _is_deniable(clause: Clause) -> bool:
    if clause.modal is not None and clause.modal is not verbs.CAN:
        return False
    if clause.time is not None and clause.time.meaning in ("habit", "future"):
        return False
    said = (clause.subject, clause.object, clause.recipient)
    phrases = [phrase for phrase in said if isinstance(phrase, Phrase)]
    counted = any(phrase.number is not None for phrase in phrases)
    return not counted and not is_indefinite(clause)


def is_indefinite(clause: Clause) -> bool:
    """Tell whether the subject is new to the scene."""
    return isinstance(clause.subject, Phrase) and clause.subject.determiner in (A, NONE)
