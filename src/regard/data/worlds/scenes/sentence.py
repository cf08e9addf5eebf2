"""Draw a sentence of any pattern, short enough for a small translator."""

from collections.abc import Callable

from regard.data.worlds.scenes import compound, simple
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.draw_clause import Rejected
from regard.data.worlds.scenes.words import Sentence

LONGEST = 16
"""Most words of a sentence on either side."""

_TRIES = 50

PATTERNS: dict[Callable[[Chance], Sentence], float] = {
    simple.draw_statement: 0.48,
    simple.draw_question: 0.10,
    simple.draw_open_question: 0.04,
    simple.draw_description: 0.05,
    simple.draw_comparison: 0.03,
    compound.draw_coordination: 0.06,
    compound.draw_meanwhile: 0.06,
    compound.draw_reason: 0.07,
    compound.draw_report: 0.07,
    compound.draw_relative: 0.04,
}


def draw_sentence(chance: Chance) -> Sentence:
    """Draw a pattern by weight, then sentences of it until one is not rejected."""
    pattern = chance.pick_weighted(PATTERNS)
    for _ in range(_TRIES):
        chance.combinations.clear()
        try:
            sentence = pattern(chance)
        except Rejected:
            continue
        if max(len(sentence.german), len(sentence.english)) <= LONGEST:
            return sentence
    raise Rejected
