"""Draw sentences of two clauses: joined, subordinate, reported, nested."""

from regard.data.worlds.scenes import english_order as english
from regard.data.worlds.scenes import german_order as german
from regard.data.worlds.scenes import verbs
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.clause import Clause, Predicate
from regard.data.worlds.scenes.draw_clause import (
    ANYTHING,
    DOING,
    Frames,
    Rejected,
    draw_clause,
    is_allowed,
    is_indefinite,
    lemma,
    subjects_of,
)
from regard.data.worlds.scenes.draw_phrase import draw_subject
from regard.data.worlds.scenes.modifiers import ADJECTIVES, ER, SIE, THE, THIS, Pronoun
from regard.data.worlds.scenes.phrase import Phrase, Subject, german_subject, pronoun_for
from regard.data.worlds.scenes.words import Sentence, Word, end_sentence, prefix_concepts, punctuate

Joint = tuple[str, str]
WHILE, BECAUSE, ALTHOUGH, THAT = (
    ("während", "while"),
    ("weil", "because"),
    ("obwohl", "although"),
    ("dass", "that"),
)
AND, BUT = ("und", "and"), ("aber", "but")


def draw_coordination(chance: Chance) -> Sentence:
    """Join two main clauses: *Der Hund schläft, aber die Katze spielt*."""
    one, other = _draw_two(chance, DOING, tense=chance.pick(("still", "perfect")))
    return coordinate(one, chance.pick((AND, BUT)), other)


def coordinate(one: Clause, joint: Joint, other: Clause) -> Sentence:
    """Say two main clauses with *und* or, after a comma, *aber* between them."""
    comma = "," if joint is BUT else ""
    said, translated = _make_joints(joint)
    return end_sentence(
        (
            *punctuate(prefix_concepts(german.main_clause(one), "1"), comma),
            said,
            *prefix_concepts(german.main_clause(other), "2"),
        ),
        (
            *punctuate(prefix_concepts(english.clause_in_order(one), "1"), comma),
            translated,
            *prefix_concepts(english.clause_in_order(other), "2"),
        ),
    )


def _make_joints(joint: Joint) -> tuple[Word, Word]:
    return Word(joint[0], ("joint",)), Word(joint[1], ("joint",))


def draw_meanwhile(chance: Chance) -> Sentence:
    """Say *während der Mann kocht, liest die Frau ein Buch*, and the other way round."""
    one, other = _draw_two(chance, _LASTING, tense="still")
    if one.negated or other.negated or _is_rare(other):
        raise Rejected
    return subordinate(one, WHILE, other, first=chance.happens(0.4))


_LASTING: Frames = {
    tuple(verb for verb in verbs.INTRANSITIVE if verb.auxiliary == "haben"): 0.4,
    verbs.TRANSITIVE: 0.6,
}


def _draw_two(chance: Chance, frames: Frames, *, tense: str) -> tuple[Clause, Clause]:
    one = draw_clause(chance, frames, tense=tense)
    other = draw_clause(chance, frames, tense=tense)
    clear = all(clause.subject not in (ER, SIE) for clause in (one, other))
    if not clear or one.verb == other.verb or _name(one.subject) == _name(other.subject):
        raise Rejected
    return one, other


def _is_rare(clause: Clause) -> bool:
    # "… dass ich zumache": a form that training may never have seen.
    simple = not (clause.perfect or clause.modal)
    return simple and clause.person == "first" and bool(clause.verb and clause.verb.prefix)


def _name(subject: Subject) -> str:
    return subject.noun.english if isinstance(subject, Phrase) else subject.english


def subordinate(main: Clause, joint: Joint, other: Clause, *, first: bool) -> Sentence:
    """Say a main clause with another after or, ``first``, before it."""
    word, translation = _make_joints(joint)
    said = (word, *prefix_concepts(german.final_clause(other), "2"))
    translated = (translation, *prefix_concepts(english.clause_in_order(other), "2"))
    if first:
        return end_sentence(
            (*punctuate(said, ","), *prefix_concepts(german.inverted_clause(main), "1")),
            (*punctuate(translated, ","), *prefix_concepts(english.clause_in_order(main), "1")),
        )
    return end_sentence(
        (*punctuate(prefix_concepts(german.main_clause(main), "1"), ","), *said),
        (*prefix_concepts(english.clause_in_order(main), "1"), *translated),
    )


def draw_reason(chance: Chance) -> Sentence:
    """Give a reason: *Der Hund schläft, weil er müde ist*, and the other way round."""
    infinitive, joint, adjectives = chance.pick(_REASONS)
    verb = next(verb for verb in verbs.VERBS if verb.infinitive == infinitive)
    main = draw_clause(chance, {(verb,): 1.0}, tense="still")
    subject = main.subject
    if main.negated or (isinstance(subject, Pronoun) and subject.person != "third"):
        raise Rejected
    name = lemma(subject.noun if isinstance(subject, Phrase) else subject.german)
    adjective = ADJECTIVES[chance.pick(adjectives.split())]
    said = isinstance(subject, Phrase) and adjective in subject.adjectives
    if said or not chance.allows(name, "sein", adjective.german):
        raise Rejected
    chance.record(name, "sein", adjective.german)
    return give_reason(main, joint, Predicate(adjective), first=chance.happens(0.35))


def give_reason(main: Clause, joint: Joint, predicate: Predicate, *, first: bool) -> Sentence:
    """Say a main clause and, of its subject, why it is so; the later one has the pronoun."""
    subject = main.subject
    pronoun = pronoun_for(subject) if isinstance(subject, Phrase) else subject
    other = Clause(subject if first else pronoun, predicate=predicate)
    main = main._replace(subject=pronoun) if first else main
    return subordinate(main, joint, other, first=first)


_REASONS = (
    ("schlafen", BECAUSE, "müde krank faul"),
    ("liegen", BECAUSE, "müde krank faul"),
    ("weinen", BECAUSE, "traurig müde hungrig krank"),
    ("lachen", BECAUSE, "glücklich"),
    ("singen", BECAUSE, "glücklich"),
    ("tanzen", BECAUSE, "glücklich"),
    ("essen", BECAUSE, "hungrig"),
    ("kochen", BECAUSE, "hungrig"),
    ("trinken", BECAUSE, "durstig müde"),
    ("arbeiten", BECAUSE, "fleißig"),
    ("arbeiten", ALTHOUGH, "müde krank faul hungrig"),
    ("spielen", ALTHOUGH, "müde krank hungrig"),
    ("singen", ALTHOUGH, "traurig müde krank"),
    ("tanzen", ALTHOUGH, "müde krank"),
    ("aufstehen", ALTHOUGH, "müde krank"),
    ("einkaufen", ALTHOUGH, "müde krank"),
    ("aufräumen", ALTHOUGH, "müde faul"),
)


def draw_report(chance: Chance) -> Sentence:
    """Report: *Die Frau glaubt, dass der Hund schläft*."""
    verb, content = chance.pick(verbs.SAYING), draw_clause(chance, ANYTHING)
    who = chance.pick(subjects_of(verb))
    wished = content.modal not in (None, verbs.FUTURE, verbs.CAN)
    if not is_allowed(chance, who, verb, "dass"):
        raise Rejected
    chance.record(lemma(who), verb.infinitive, "dass")
    main = Clause(draw_subject(chance, who, definite=True), verb)
    alike = _name(main.subject) == _name(content.subject)
    if alike or _is_rare(content) or (wished and verb.english == "hope"):
        raise Rejected
    return subordinate(main, THAT, content, first=False)


def draw_relative(chance: Chance) -> Sentence:
    """Nest a clause: *Der Mann, der im Garten arbeitet, singt*."""
    main = draw_clause(chance, DOING, tense="still")
    subject = main.subject
    if not isinstance(subject, Phrase) or subject.determiner not in (THE, THIS):
        raise Rejected
    about = draw_clause(chance, _LASTING, tense="still", subject=subject.noun)
    about = about._replace(subject=subject)
    alike = about.verb == main.verb or _name_of(about) == _name_of(main)
    if alike or about.negated or main.negated or is_indefinite(main):
        raise Rejected
    return nest(main, about)


def _name_of(clause: Clause) -> str:
    return clause.object.noun.english if clause.object is not None else ""


def nest(main: Clause, about: Clause) -> Sentence:
    """Say a main clause and, inside its subject, a relative clause about it."""
    subject = main.subject
    assert isinstance(subject, Phrase)
    said, length = prefix_concepts(german.main_clause(main), "1"), len(german_subject(subject))
    pronoun = Word(_relative_pronoun(subject), ("relative",))
    inner = (pronoun, *prefix_concepts(german.final_clause(about, subject=()), "2"))
    translated = prefix_concepts(english.clause_in_order(main), "1")
    after = len(translated) - len(english.predicate_of(main))
    who = Word("who" if "person" in subject.noun.kinds else "that", ("relative",))
    return end_sentence(
        (*punctuate(said[:length], ","), *punctuate(inner, ","), *said[length:]),
        (
            *translated[:after],
            who,
            *prefix_concepts(english.predicate_of(about), "2"),
            *translated[after:],
        ),
    )


def _relative_pronoun(phrase: Phrase) -> str:
    return "die" if phrase.plural else {"m": "der", "f": "die", "n": "das"}[phrase.noun.gender]
