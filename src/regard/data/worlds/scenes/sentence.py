"""Draw a sentence of any pattern, short enough for a small translator."""

from collections.abc import Callable

from regard.data.worlds.scenes import compound, simple
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.draw_clause import Unlucky
from regard.data.worlds.scenes.words import Sentence

LONGEST = 16
"""Most words of a sentence on either side."""

PATTERNS: dict[Callable[[Chance], Sentence], float] = {
    simple.statement: 0.43,
    simple.question: 0.09,
    simple.open_question: 0.04,
    simple.description: 0.06,
    simple.comparison: 0.05,
    compound.coordination: 0.07,
    compound.meanwhile: 0.07,
    compound.reason: 0.08,
    compound.report: 0.07,
    compound.relative: 0.06,
}


def draw_sentence(chance: Chance) -> Sentence:
    """Draw one sentence of a pattern drawn by weight."""
    sentence = chance.weighted(PATTERNS)(chance)
    if max(len(sentence.german), len(sentence.english)) > LONGEST:
        raise Unlucky
    return sentence
