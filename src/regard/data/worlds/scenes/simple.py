"""Draw sentences of one clause: statements, questions, descriptions, comparisons."""

from functools import cache

from regard.data.worlds.scenes import english_order as english
from regard.data.worlds.scenes import german_order as german
from regard.data.worlds.scenes import verbs
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.clause import Clause, Front, Predicate
from regard.data.worlds.scenes.draw_clause import (
    ANYTHING,
    Frames,
    Rejected,
    draw_clause,
    is_indefinite,
    negate,
)
from regard.data.worlds.scenes.draw_phrase import draw_phrase
from regard.data.worlds.scenes.modifiers import ADJECTIVES, Adjective
from regard.data.worlds.scenes.nouns import NOUNS, Noun, nouns_of
from regard.data.worlds.scenes.phrase import Phrase
from regard.data.worlds.scenes.words import Sentence, Word, end_sentence


def draw_statement(chance: Chance) -> Sentence:
    """Draw a main clause: *Heute liest der Mann ein Buch*."""
    clause = draw_clause(chance, ANYTHING)
    return make_statement(clause, _draw_front(chance, clause))


def make_statement(clause: Clause, front: Front = "subject") -> Sentence:
    """Say a main clause."""
    return end_sentence(german.main_clause(clause, front), english.clause_in_order(clause, front))


def _draw_front(chance: Chance, clause: Clause) -> Front:
    if clause.time is not None and clause.time.fronts and chance.happens(0.45):
        return "time"
    resting = clause.verb in verbs.REST and is_indefinite(clause)
    staying = clause.verb in verbs.INTRANSITIVE and clause.manner is None
    plain = not (clause.companion or clause.negated or clause.time)
    current = not (clause.perfect or clause.modal)
    if clause.place and plain and current and (resting or staying) and chance.happens(0.6):
        return "place"
    return "subject"


def draw_question(chance: Chance) -> Sentence:
    """Ask whether something is so: *Liest der Mann ein Buch*."""
    clause = draw_clause(chance, ANYTHING)
    if clause.negated or is_indefinite(clause) or clause.modal is verbs.WANT:
        raise Rejected
    # "Füttern wir …?": a first word that training may never have seen with a capital.
    if clause.person != "third" and not (clause.perfect or clause.modal):
        raise Rejected
    if clause.time is not None and clause.time.place == "verb":
        clause = clause._replace(time=None)
    return make_question(clause)


def draw_open_question(chance: Chance) -> Sentence:
    """Ask *wo*, *warum* or *was*, with a clause that leaves the answer open."""
    word, translation, frames = chance.pick(_OPEN)
    tense = chance.pick(("still", "still", "perfect"))
    clause = draw_clause(chance, frames, tense=tense, asked=word)
    if clause.negated or is_indefinite(clause) or clause.person == "first":
        raise Rejected
    return make_question(clause._replace(manner=None), (word, translation))


def make_question(clause: Clause, word: tuple[str, str] | None = None) -> Sentence:
    """Ask whether a clause is so, or with a question word what is open in it."""
    first, translated = (Word(text, ("asked",)) for text in word or ("", ""))
    said, meant = german.inverted_clause(clause), english.question(clause)
    if word is None:
        return end_sentence(said, meant, "?")
    return end_sentence((first, *said), (translated, *meant), "?")


def _asks_what(verb: verbs.Verb) -> bool:
    # Without its object *tragen* is neither *wear* nor *carry*.
    animate = any(noun.kinds & {"person", "animal"} for noun in nouns_of(verb.object))
    return not animate and verb.infinitive != "tragen"


_OPEN: tuple[tuple[str, str, Frames], ...] = (
    (
        "wo",
        "where",
        {tuple(v for v in verbs.INTRANSITIVE if v.places): 0.7, verbs.REST: 0.3},
    ),
    ("warum", "why", {tuple(v for v in verbs.INTRANSITIVE if v.english != "stand"): 1.0}),
    ("was", "what", {tuple(v for v in verbs.TRANSITIVE if _asks_what(v)): 1.0}),
)


def draw_description(chance: Chance) -> Sentence:
    """Describe a noun: *Das Haus ist sehr alt*."""
    noun = chance.pick(tuple(NOUNS.values()))
    fitting = [a for a in ADJECTIVES.values() if a.suits(noun)]
    fitting = [a for a in fitting if chance.allows(noun.german, "sein", a.german)]
    if not fitting:
        raise Rejected
    adjective = chance.pick(fitting)
    chance.record(noun.german, "sein", adjective.german)
    predicate = Predicate(adjective, _draw_degree(chance, adjective))
    return make_statement(
        negate(chance, Clause(_draw_plain(chance, noun), predicate=predicate), 0.2)
    )


def _draw_degree(chance: Chance, adjective: Adjective) -> tuple[str, str] | None:
    degree = chance.pick((None, None, ("sehr", "very"), ("zu", "too")))
    return None if adjective.colour or adjective.german == "kaputt" else degree


def _draw_plain(chance: Chance, noun: Noun) -> Phrase:
    return draw_phrase(chance, noun, definite=True)._replace(adjectives=())


_COMPARED = tuple(adjective for adjective in ADJECTIVES.values() if adjective.comparative)


@cache
def _find_suited(adjective: Adjective) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS.values() if adjective.suits(noun))


def draw_comparison(chance: Chance) -> Sentence:
    """Compare two nouns: *Der Hund ist älter als die Katze*."""
    adjective = chance.pick(_COMPARED)
    fitting = _find_suited(adjective)
    one, other = chance.pick(fitting), chance.pick(fitting)
    words = (one.german, adjective.comparative, other.german)
    alike = bool((one.kinds & other.kinds) - {"weak", "he", "she", "many"})
    if not alike or one.english == other.english or not chance.allows(*words):
        raise Rejected
    chance.record(*words)
    predicate = Predicate(adjective, than=_draw_plain(chance, other))
    return make_statement(Clause(_draw_plain(chance, one), predicate=predicate))
