"""The texts on which both sides are compared: of the run's test split, or made up; and odd ones."""

import random
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from regard.errors import RegardError
from regard.interop.exports.target import Texts
from regard.run import Run
from regard.tasks.examples import examples, require_files
from regard.tasks.foreign import Export
from regard.text.special import SPECIAL

TEXTS = 24
"""Compared texts, besides the odd ones."""
SCORED = 1000
"""Examples of the test split that both sides are scored on, at most."""
ODD = (
    "a",
    " two  spaces ",
    "a </s> [CLS] b <pad>",
    "Ünïcode, 漢字 ☃ and 🙂!",
    "A line.\nAnother\tline.",
)
MASK = SPECIAL[-1]
WORDS = (4, 24)
"""Fewest and most tokens of a text that is made up."""


class Samples(NamedTuple):
    """Texts to compare, and examples to score."""

    texts: list[Texts]
    split: str
    """Of the scored examples; empty without data."""
    examples: list[Texts]


def draw_samples(run: Run, shape: Export) -> Samples:
    """Take texts from the test split of the run's recipe; without data, make some up."""
    try:
        require_files(run.recipe)
        found = list(islice(examples(run.recipe, "test")(), SCORED))
        split = "test" if run.recipe.data.test else "valid"
    except RegardError:
        found, split = [], ""
    texts = [example[: run.task.texts] for example in found[:TEXTS]]
    if shape.kind == "encoder-decoder" or shape.head == "vector":
        texts = [example[:1] for example in texts]
    texts = [example for example in texts if all(text.strip() for text in example)]
    texts = texts or _make_up(run, 2 if _needs_pairs(shape) else 1)
    several = len(texts[0])
    odd = [(text,) * several for text in ODD]
    asked = [*texts, *odd]
    return Samples(_mask(asked) if shape.reads == "masked" else asked, split, found)


def _needs_pairs(shape: Export) -> bool:
    return bool(shape.pair_template) and shape.head == "labels"


def _make_up(run: Run, several: int) -> list[Texts]:
    """Decode tokens that are drawn at random, the same ones every time."""
    draw = random.Random(7)
    first, last = len(SPECIAL), run.tokenizer.size - 1
    longest = max(1, min(WORDS[1], run.recipe.text.max_length // 4))

    def make() -> str:
        length = draw.randint(min(WORDS[0], longest), longest)
        text = run.tokenizer.decode([draw.randint(first, last) for _ in range(length)])
        return text.replace("\ufffd", "").replace("\x00", "").strip() or "a"

    return [tuple(make() for _ in range(several)) for _ in range(TEXTS)]


def _mask(texts: Sequence[Texts]) -> list[Texts]:
    """Mask a word of every text, in front of a comma, inside, or at an end."""
    masked = []
    for number, example in enumerate(texts):
        words = example[0].split()
        place = number % len(words)
        words[place] = MASK + ("," if number % 3 == 0 else "")
        masked.append((" ".join(words), *example[1:]))
    return masked
