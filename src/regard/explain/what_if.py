"""What the answer would be without some words: its probability, and what is answered instead.

    before = p(answer | text)      after = p(answer | text without the words)

The words are left out of what the model reads, as the test of faithfulness does it. What is
answered instead is the answer to the remaining words as a text of their own.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.draw.label import strip_marks
from regard.errors import UsageError
from regard.run import Run
from regard.tasks.question import Question


class Output(NamedTuple):
    """One written word or span, and its probability."""

    name: str
    before: float
    after: float


class Without(NamedTuple):
    """An answer, and what becomes of it without some words."""

    words: tuple[str, ...]
    """All words, of which some are erased."""
    erasable: tuple[int, ...]
    """Places of words that can be erased."""
    erased: tuple[int, ...]
    answer: str
    before: float
    """Probability of the answer to the whole text; of a written one, the mean over its tokens."""
    after: float
    """Probability of this answer without the words."""
    outputs: tuple[Output, ...]
    """Each of what was written, where the answer is several words."""
    text: str
    """What is left."""
    instead: str | None
    """What is answered to it; None where it cannot be asked."""


def answer_without(
    run: Run,
    text: str,
    erased: Sequence[int],
    *,
    target: str | None = None,
    label: str | None = None,
    continue_text: bool = False,
) -> Without:
    """Leave out the words at these places, and see what becomes of the answer."""
    question = run.task.question(run.model, text, target, label=label, continue_text=continue_text)
    if not set(erased) <= set(question.erasable):
        raise UsageError(
            f"the words of this text that can be erased are {len(question.erasable)}. Got places "
            f"{', '.join(map(str, erased))}.",
            "Name places of words; special tokens stay.",
        )
    rows = [list(question.ids), question.without(erased)]
    before, after = question.evaluate(rows, score=question.probability).tolist()
    left = run.tokenizer.decode(rows[1])
    return Without(
        question.names,
        question.erasable,
        tuple(erased),
        label or " ".join(strip_marks(question.answers)),
        before,
        after,
        _compare_outputs(question, rows),
        left,
        _ask(run, left) if "\t" not in text and target is None else None,
    )


def _compare_outputs(question: Question, rows: list[list[int]]) -> tuple[Output, ...]:
    """Compare the probability of each output, where they are log-probabilities."""
    if not question.output:
        return ()
    shares = np.exp(question.evaluate(rows)).tolist()
    names = strip_marks(question.answers)
    return tuple(map(Output, names, *shares))


def _ask(run: Run, text: str) -> str | None:
    """Answer what is left of a text; nothing if nothing is left."""
    if not text.strip():
        return None
    return run.task.answer(run.model, [text])[0].text
