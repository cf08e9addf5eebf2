"""Comparing runs: seeds of one recipe side by side, recipes against each other, on one test set.

Runs whose recipes differ in nothing but the seed are one group, named by what sets it apart from
the others. Between groups two things may be chance: the seeds, and the sample of test examples.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from regard.errors import UsageError
from regard.inference.grouping import Group, group_runs
from regard.run import Run
from regard.tasks.scores import format_interval, format_score, is_better, tabulate_scores
from regard.tasks.significance import Chance, Interval, compare_paired, paired_corpus, seeds_differ

MOST_PAIRED = 4  # groups of which every two are compared; of more, each with the first
UNLIKELY = 0.05
EQUAL = 1e-9  # apart by rounding only


class ComparedPair(NamedTuple):
    """Two groups and one metric."""

    first: str
    second: str
    metric: str
    difference: float
    examples: Chance | None
    """Whether other test examples would turn it round; None where single ones have no score."""
    seeds: float | None
    """Whether other seeds would; None where a group has one only."""

    @property
    def verdict(self) -> Literal["same", "chance", "difference", "unknown"]:
        """Say in a word whether there is a difference: none beyond chance is ``chance``."""
        if abs(self.difference) < EQUAL:
            return "same"
        chances = self._chances()
        if not chances:
            return "unknown"
        return "chance" if max(chances.values()) >= UNLIKELY else "difference"

    @property
    def words(self) -> str:
        """Say it plainly."""
        ahead, behind = self.first, self.second
        if is_better(self.metric, -self.difference, than=0.0):
            ahead, behind = behind, ahead
        apart = f"{format_score(self.metric, abs(self.difference))} in {self.metric}"
        said = f"{ahead} is ahead of {behind} by {apart}."
        verdict = self._judge()
        same = abs(self.difference) < EQUAL
        return f"{ahead} and {behind} score the same." if same else f"{said} {verdict}"

    def _judge(self) -> str:
        chances = self._chances()
        if not chances:
            return "Whether that is chance is unknown: train more seeds."
        doubted = [f"{what} (p = {p:.2g})" for what, p in chances.items() if p >= UNLIKELY]
        if doubted:
            return f"It may be chance: {' or '.join(doubted)} could reverse the order."
        sure = " and ".join(f"{what} (p = {p:.2g})" for what, p in chances.items())
        return f"It is unlikely to be chance: {sure} would seldom reverse the order."

    def _chances(self) -> dict[str, float]:
        """Return p by what else could turn the difference round."""
        chances = {}
        if self.examples is not None:
            chances["other test examples"] = max(
                self.examples.bootstrap, self.examples.randomisation
            )
        if self.seeds is not None:
            chances["other seeds"] = self.seeds
        return chances


class Comparison(NamedTuple):
    """What a comparison came to."""

    task: str
    split: str
    examples: int
    metrics: list[str]
    groups: list[Group]
    baseline: dict[str, float]
    baseline_name: str
    pairs: list[ComparedPair]

    @property
    def main_pairs(self) -> list[ComparedPair]:
        """Return the pairs worth words: by the task's own metric, or by single examples."""
        chief = self.groups[0].runs[0].task.metric
        return [pair for pair in self.pairs if pair.examples or pair.metric == chief]

    def rows(self) -> list[list[str]]:
        """Return a table to be read, heading first."""
        rows = [["", "seeds", *self.metrics]]
        for group in self.groups:
            for name, found in (
                (group.name, group.scores),
                ("— with the baseline", group.together),
            ):
                cells = [
                    format_interval(n, *found[n][:2]) if n in found else "" for n in self.metrics
                ]
                rows += [[name, str(len(group.runs)), *cells]] if found else []
        base = [
            format_score(n, self.baseline[n]) if n in self.baseline else "" for n in self.metrics
        ]
        return [*rows, ["baseline", "", *base]]

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that scripts rely on."""
        return {
            "task": self.task,
            "split": self.split,
            "count": self.examples,
            "groups": [_group_json(group) for group in self.groups],
            "baseline": self.baseline,
            "pairs": [_pair_json(pair) for pair in self.pairs],
        }


def compare(runs: Sequence[Run], names: Sequence[str] = ()) -> Comparison:
    """Group runs, and compare the groups; ``names`` are the groups' own, in order."""
    _check_comparable(runs)
    groups = group_runs(runs, names)
    first, rows = runs[0], tabulate_scores(runs[0].evaluation)
    every = combinations(groups, 2)
    to_first = [pair for pair in every if len(groups) <= MOST_PAIRED or pair[0] is groups[0]]
    return Comparison(
        task=first.recipe.task,
        split=first.split,
        examples=first.evaluation["count"],
        metrics=[row.metric for row in rows],
        groups=groups,
        baseline={row.metric: row.baseline for row in rows if row.baseline is not None},
        baseline_name=first.task.baseline,
        pairs=[found for one, other in to_first for found in _pairs(one, other)],
    )


def _check_comparable(runs: Sequence[Run]) -> None:
    if not runs:
        raise UsageError("there is nothing to compare.", "Name at least one run folder.")
    first = runs[0]
    for run in runs[1:]:
        if run.recipe.task != first.recipe.task:
            raise UsageError(
                f"runs are compared on one task. {first.folder} is {first.recipe.task}, "
                f"{run.folder} is {run.recipe.task}.",
                "Compare runs of one task at a time.",
            )
        here, there = (each.evaluation.get("data", "unknown") for each in (first, run))
        if here != there or here == "unknown":
            raise UsageError(
                "runs are compared on the same test examples. "
                f"{first.folder} was measured on {first.split} {here[:12]}, "
                f"{run.folder} on {run.split} {there[:12]}.",
                "Name the same data.test, or the same data.holdout_seed, in both recipes and train "
                "again.",
            )


def _pairs(one: Group, other: Group) -> list[ComparedPair]:
    by_example = _by_example(one, other)
    found = []
    for metric in one.scores:
        if metric not in other.scores:
            continue
        values = [[run.evaluation["metrics"][metric] for run in g.runs] for g in (one, other)]
        pair = ComparedPair(
            one.name,
            other.name,
            metric,
            one.scores[metric].mean - other.scores[metric].mean,
            by_example.get(metric),
            seeds_differ(*values),
        )
        if pair.examples is not None or pair.seeds is not None or metric == one.runs[0].task.metric:
            found.append(pair)
    return found


def _by_example(one: Group, other: Group) -> dict[str, Chance]:
    """Compare answers one by one; a group's score of an example is the mean over its seeds."""
    if one.runs[0].task.corpus_metric:
        # A corpus score is no mean over examples, so one seed represents each group.
        first, second = (group.runs[0].answers for group in (one, other))
        if not first or len(first) != len(second):
            return {}
        texts = [[each["answered"] for each in answers] for answers in (first, second)]
        return paired_corpus(texts[0], texts[1], [each["expected"] for each in first])
    found = [_example_scores(group) for group in (one, other)]
    return {
        metric: compare_paired(found[0][metric], found[1][metric])
        for metric in found[0]
        if metric in found[1]
    }


def _example_scores(group: Group) -> dict[str, list[float]]:
    """Give each example's score, under the metric whose value is the mean of such scores."""
    every, metrics = [], list(group.scores)
    for run in group.runs:
        scores = [answer["score"] for answer in run.answers]
        if not scores or len(scores) != run.evaluation["count"] or None in scores:
            return {}
        mean, said = float(np.mean(scores)), run.evaluation["metrics"]
        metrics = [name for name in metrics if abs(said[name] - mean) < EQUAL]
        every.append(scores)
    means = np.mean(np.asarray(every, dtype=np.float64), axis=0).tolist()
    return {metrics[0]: means} if metrics else {}


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "runs": [str(run.folder) for run in group.runs],
        "seeds": group.seeds,
        "metrics": {name: _interval_json(each) for name, each in group.scores.items()},
        **(
            {"together": {name: _interval_json(each) for name, each in group.together.items()}}
            if group.together
            else {}
        ),
    }


def _interval_json(found: Interval) -> dict[str, Any]:
    return {"mean": found.mean, "interval": found.half, "seeds": found.seeds}


def _pair_json(pair: ComparedPair) -> dict[str, Any]:
    chance = pair.examples
    return {
        "first": pair.first,
        "second": pair.second,
        "metric": pair.metric,
        "difference": pair.difference,
        "p_bootstrap": chance.bootstrap if chance else None,
        "p_randomisation": chance.randomisation if chance else None,
        "p_seeds": pair.seeds,
        "verdict": pair.verdict,
        "words": pair.words,
    }
