"""The judgement of finalists on examples that the search never saw, and the word chance.

The search ranks trials on ``valid``. Where the recipe has test files, these judge; otherwise a hash
of every example, or of its group, keeps half of ``valid`` for the judgement.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from regard.data.split import is_held_out
from regard.inference.comparison import ComparedPair
from regard.randomness import Purpose
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.examples import examples, first
from regard.tasks.scores import format_score
from regard.tasks.significance import Chance, compare_paired, paired_corpus
from regard.tasks.task import Texts
from regard.training.preparation import MAX_TEST

EQUAL = 1e-9  # apart by rounding only
BLOCKS = 20  # that are compared where single examples have no score


class Halves(NamedTuple):
    """The held-out examples, divided."""

    search: list[Texts]
    """Those that rank the trials."""
    judgement: list[Texts]
    """Those that judge the finalists; empty where there are too few."""
    numbers: list[int]
    """The places of the latter among the examples that a run is evaluated on."""


class Verdict(NamedTuple):
    """Two finalists on the examples of the judgement."""

    pair: ComparedPair
    examples: int

    @property
    def words(self) -> str:
        """Say it plainly, with the interval."""
        chance, metric = self.pair.examples, self.pair.metric
        if chance is None or chance.interval is None:
            return self.pair.words
        sign = 1 if self.pair.difference >= 0 else -1
        low, high = sorted(sign * end for end in chance.interval)
        ends = f"{_format_signed(metric, low)} to {_format_signed(metric, high)}"
        return f"{self.pair.words} The 95% interval of the difference is {ends}."

    def as_json(self) -> dict[str, Any]:
        """Return it under names that scripts rely on."""
        pair = self.pair._asdict()
        chance = pair.pop("examples")
        del pair["seeds"]
        p = max(chance.bootstrap, chance.randomisation) if chance else None
        interval = chance.interval if chance else None
        return {**pair, "p": p, "interval": interval, "count": self.examples, "words": self.words}


def divide(recipe: Recipe) -> Halves:
    """Divide the held-out examples between search and judgement."""
    valid = first(examples(recipe, "valid"), MAX_TEST)
    if recipe.data.test:
        judgement = first(examples(recipe, "test"), MAX_TEST)
        return Halves(valid, judgement, list(range(len(judgement))))
    if len(valid) == 1:
        return _divide_text(valid[0])
    searched = _choose(recipe, valid)
    numbers = [number for number, mine in enumerate(searched) if not mine]
    search = [example for example, mine in zip(valid, searched, strict=True) if mine]
    return Halves(search, [valid[number] for number in numbers], numbers)


def _choose(recipe: Recipe, valid: Sequence[Texts]) -> list[bool]:
    """Say of each held-out example whether the search sees it."""
    if recipe.data.group and not recipe.data.valid:
        # Those that half the share would hold out: groups stay whole.
        half = recipe.data.model_copy(update={"holdout": recipe.data.holdout / 2})
        inner = set(examples(recipe.model_copy(update={"data": half}), "valid")())
        chosen = [example in inner for example in valid]
    else:
        seed = (Purpose.JUDGEMENT << 32) + recipe.seed
        chosen = [is_held_out(example, share=0.5, seed=seed) for example in valid]
    if all(chosen) or not any(chosen):
        chosen = [number < (len(valid) + 1) // 2 for number in range(len(valid))]
    return chosen


def _divide_text(example: Texts) -> Halves:
    """Cut one long text in two, and the second half into blocks."""
    (text, *rest) = example
    if rest or len(text) < 4 * BLOCKS:
        return Halves([example], [], [])
    middle = len(text) // 2
    cuts = np.linspace(middle, len(text), BLOCKS + 1).astype(int)
    return Halves([(text[:middle],)], [(text[a:b],) for a, b in pairwise(cuts.tolist())], [])


def judge(first: tuple[str, Run], second: tuple[str, Run], halves: Halves) -> Verdict:
    """Compare two finalists, each with its name."""
    (one, mine), (other, theirs) = first, second
    metric = mine.task.metric
    scores = [_example_scores(run, halves) for run in (mine, theirs)]
    chance: Chance | None
    if scores[0] and scores[1]:
        chance = compare_paired(scores[0], scores[1])
    elif mine.task.corpus_metric:
        chance = _compare_corpora(mine, theirs, halves).get(metric)
    else:
        chance = _compare_blocks(mine, theirs, halves)
    difference = chance.difference if chance else _difference(mine, theirs)
    return Verdict(
        ComparedPair(one, other, metric, difference, chance, None), len(halves.judgement)
    )


def _difference(mine: Run, theirs: Run) -> float:
    """Return the difference on all held-out examples, where there are too few to divide."""
    metric = mine.task.metric
    return float(mine.evaluation["metrics"][metric] - theirs.evaluation["metrics"][metric])


def _answers(run: Run, halves: Halves) -> list[dict[str, Any]]:
    """Return the run's answers to the examples of the judgement, if it kept all of them."""
    complete = len(run.answers) == run.evaluation["count"] > max(halves.numbers, default=0)
    return [run.answers[number] for number in halves.numbers] if complete else []


def _example_scores(run: Run, halves: Halves) -> list[float]:
    """Return each answer's score, if the task's metric is the mean of such scores."""
    scores = [answer["score"] for answer in run.answers]
    if not scores or None in scores:
        return []
    if abs(run.evaluation["metrics"][run.task.metric] - float(np.mean(scores))) > EQUAL:
        return []
    return [answer["score"] for answer in _answers(run, halves)]


def _compare_corpora(mine: Run, theirs: Run, halves: Halves) -> dict[str, Chance]:
    answers = [_answers(run, halves) for run in (mine, theirs)]
    if not all(answers):
        return {}
    texts = [[each["answered"] for each in some] for some in answers]
    return paired_corpus(texts[0], texts[1], [each["expected"] for each in answers[0]])


def _compare_blocks(mine: Run, theirs: Run, halves: Halves) -> Chance | None:
    """Compare the scores of blocks of examples, where single ones have none."""
    blocks = _cut_blocks(halves.judgement)
    if len(blocks) < 2:
        return None
    scores = [
        [
            run.task.measure(run.model, block, quick=True).metrics[run.task.metric]
            for block in blocks
        ]
        for run in (mine, theirs)
    ]
    return compare_paired(scores[0], scores[1])


def _cut_blocks(judged: Sequence[Texts]) -> list[list[Texts]]:
    cuts = np.linspace(0, len(judged), min(BLOCKS, len(judged)) + 1).astype(int).tolist()
    return [list(judged[begin:end]) for begin, end in pairwise(cuts)]


def _format_signed(metric: str, value: float) -> str:
    written = format_score(metric, abs(value))
    return f"{'-' if value < 0 else '+'}{written}"
