"""Draw a sentence of any pattern, short enough for a small translator."""

from collections.abc import Callable

from regard.data.worlds.scenes import compound, simple
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.draw_clause import Unlucky
from regard.data.worlds.scenes.words import Sentence

LONGEST = 16
"""Most words of a sentence on either side."""

_TRIES = 50

PATTERNS: dict[Callable[[Chance], Sentence], float] = {
    simple.statement: 0.48,
    simple.question: 0.10,
    simple.open_question: 0.04,
    simple.description: 0.05,
    simple.comparison: 0.03,
    compound.coordination: 0.06,
    compound.meanwhile: 0.06,
    compound.reason: 0.07,
    compound.report: 0.07,
    compound.relative: 0.04,
}


def draw_sentence(chance: Chance) -> Sentence:
    """Draw one sentence of a pattern drawn by weight, and again until it makes sense."""
    pattern = chance.weighted(PATTERNS)
    for _ in range(_TRIES):
        chance.combinations.clear()
        try:
            sentence = pattern(chance)
        except Unlucky:
            continue
        if max(len(sentence.german), len(sentence.english)) <= LONGEST:
            return sentence
    raise Unlucky
