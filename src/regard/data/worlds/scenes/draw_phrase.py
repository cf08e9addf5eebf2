"""Draw noun phrases: a determiner, a number or none, adjectives that suit the noun."""

from functools import cache

from regard.data.worlds.scenes.chance import Chance, side_of
from regard.data.worlds.scenes.modifiers import (
    ADJECTIVES,
    MY,
    NONE,
    NUMBERS,
    OUR,
    PRONOUNS,
    THE,
    THIS,
    A,
    Adjective,
    Determiner,
)
from regard.data.worlds.scenes.nouns import NOUNS, Noun
from regard.data.worlds.scenes.phrase import Location, Phrase, Subject
from regard.data.worlds.scenes.places import Relation
from regard.data.worlds.splits import Split

_SINGULAR = {THE: 0.50, A: 0.42, THIS: 0.08}
_MASS = {THE: 0.35, NONE: 0.60, THIS: 0.05}
_PLURAL = {THE: 0.40, NONE: 0.52, THIS: 0.08}
_DEFINITE = {THE: 0.9, THIS: 0.1}
_FEW = 10


def draw_subject(chance: Chance, name: str | Noun, *, definite: bool = False) -> Subject:
    """Draw the subject a name means: a pronoun, or a phrase about the noun."""
    if isinstance(name, Noun):
        phrase = draw_phrase(chance, name, definite=definite)
        # A plural that starts the scene is counted: "Sieben Enten" rather than "Enten".
        bare = phrase.determiner is NONE and phrase.number is None and phrase.plural
        return phrase._replace(number=_draw_number(chance)) if bare else phrase
    return next(pronoun for pronoun in PRONOUNS if pronoun.german == name)


def draw_phrase(
    chance: Chance, noun: Noun, *, own: Determiner = THE, definite: bool = False
) -> Phrase:
    """Draw a phrase about a noun; ``own`` is the possessive that points back at the subject."""
    plural = chance.happens(_plural_share(noun))
    kinds = noun.kinds
    known = definite or ("kin" in kinds and not plural)
    determiner = _draw_determiner(chance, noun, plural=plural, definite=known)
    if "kin" in kinds and chance.happens(0.8):
        determiner = chance.pick((MY, OUR)) if own is THE else own
    if own is not THE and kinds & {"clothing", "luggage", "pet"} and chance.happens(0.3):
        determiner = own
    counted = plural and (determiner is NONE or chance.happens(0.1)) and chance.happens(0.7)
    number = _draw_number(chance) if counted else None
    return Phrase(noun, determiner, draw_adjectives(chance, noun), plural, number)


def _draw_number(chance: Chance) -> int:
    return chance.pick(range(len(NUMBERS)))


def _plural_share(noun: Noun) -> float:
    if noun.mass or "single" in noun.kinds:
        return 0.0
    return 0.7 if "many" in noun.kinds else 0.27


def _draw_determiner(chance: Chance, noun: Noun, *, plural: bool, definite: bool) -> Determiner:
    if definite:
        return chance.pick_weighted(_DEFINITE)
    return chance.pick_weighted(_PLURAL if plural else _MASS if noun.mass else _SINGULAR)


def draw_adjectives(chance: Chance, noun: Noun, share: float = 0.5) -> tuple[Adjective, ...]:
    """Draw no, one or two adjectives; of two, only the second is a colour."""
    fitting = _find_fitting(noun, chance.split)
    if not fitting or not chance.happens(share):
        return ()
    first = chance.pick(fitting)
    colours = [adjective for adjective in fitting if adjective.colour]
    drawn = [first]
    if colours and not first.colour and chance.happens(0.25):
        drawn.append(chance.pick(colours))
    for adjective in drawn:
        chance.record(adjective.german, noun.german)
    return tuple(drawn)


@cache
def _find_fitting(noun: Noun, split: Split) -> tuple[Adjective, ...]:
    suited = (adjective for adjective in ADJECTIVES.values() if adjective.suits(noun))
    return tuple(adjective for adjective in suited if _side(adjective, noun) == split)


def _side(adjective: Adjective, noun: Noun) -> Split:
    # An ending goes by gender: training has to see "langer" though few masculine things are long.
    alike = [one for one in NOUNS.values() if one.gender == noun.gender and adjective.suits(one)]
    return "train" if len(alike) < _FEW else side_of((adjective.german, noun.german))


def draw_place(chance: Chance, relation: Relation) -> Location:
    """Draw a place: almost always a known one, sometimes described."""
    determiner = chance.pick_weighted({THE: 0.85, A: 0.1, THIS: 0.05})
    adjectives = draw_adjectives(chance, relation.noun, share=0.2)
    return Location(relation, Phrase(relation.noun, determiner, adjectives))
