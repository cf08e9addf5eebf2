"""Every head of a run over a corpus: its roles, its importance, and what pruning costs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from regard.errors import UsageError
from regard.explain.attributions.occlusion import occlusion
from regard.explain.heads.masks import (
    HeadName,
    chosen_order,
    head_names,
    importance,
    without_heads,
)
from regard.explain.heads.roles import Played, RoleCounts, roles_across, roles_of_itself
from regard.explain.trace import Trace, no_looks, trace_batch
from regard.inference.predictor import Predictor
from regard.run import Run

READ, LOOKED_AT, LOST_ON, ALIGNED, POINTS = 400, 200, 64, 24, 10
Examples = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Pruned:
    """What is left when heads are dropped one after another."""

    dropped: list[int]
    scores: list[float]
    """After each number of heads dropped, the least important first."""
    random: list[float]
    """The same, in a random order."""


@dataclass(frozen=True)
class HeadAnalysis:
    """What every head of a run does over a corpus."""

    run: str
    texts: int
    roles: dict[HeadName, dict[str, Played]]
    importance: dict[HeadName, float]
    metric: str
    pruned: Pruned

    def as_json(self) -> dict[str, Any]:
        """Return everything under the names that scripts rely on."""
        return {
            "run": self.run,
            "texts": self.texts,
            "heads": [
                {
                    "stack": head.stack,
                    "layer": head.layer + 1,
                    "head": head.head + 1,
                    "importance": self.importance[head],
                    "roles": [role for role, found in played.items() if found.plays],
                    "shares": {role: found.share for role, found in played.items()},
                    "chance": {role: found.chance for role, found in played.items()},
                }
                for head, played in self.roles.items()
            ],
            "metric": self.metric,
            "pruning": {
                "dropped": self.pruned.dropped,
                "least_important_first": self.pruned.scores,
                "random_order": self.pruned.random,
            },
        }

    def lines(self) -> list[str]:
        """Tell it in lines for a terminal, the most important heads of each stack first."""
        told = [f"{len(self.roles)} heads over {self.texts} texts"]
        for head, played in sorted(self.roles.items(), key=self._rank):
            best = max(played.items(), key=lambda item: item[1].share / max(item[1].chance, 0.02))
            roles = [role for role, found in played.items() if found.plays]
            share = f"{best[0]} {best[1].share:.0%} (chance {best[1].chance:.0%})"
            told.append(
                f"{head!s:<28} importance {self.importance[head]:.2f}  "
                f"{'/'.join(roles) or '-':<20} {share}"
            )
        told.append(f"{self.metric} after dropping heads, the least important first (random order)")
        told += [
            f"{dropped:>4} dropped  {score:8.3f}  ({other:.3f})"
            for dropped, score, other in zip(
                self.pruned.dropped, self.pruned.scores, self.pruned.random, strict=True
            )
        ]
        return told

    def _rank(self, item: tuple[HeadName, Any]) -> tuple[str, float]:
        return item[0].stack, -self.importance[item[0]]


def analyse(run: Run, files: Sequence[str]) -> HeadAnalysis:
    """Look at every head over a split's name (``test``) or over files like the training data."""
    names = head_names(run.model)
    if not names:
        raise no_looks(run)
    split = files[0] if len(files) == 1 and files[0] in ("train", "valid", "test") else None
    predictor = Predictor(run)
    examples = list(
        predictor.examples(split=split or "test", files=() if split else files, most=READ)
    )
    if not examples:
        raise UsageError("there must be texts to look at. Got none.", "Name a file that has some.")
    rows = run.task.traced_rows(examples)
    roles = _roles(run, examples, rows)
    weight = importance(run.model.eval(), _losses(run, rows[:LOST_ON]))
    told = {name: roles.get(name, {}) for name in names if name in roles}
    measured = examples[: run.task.pruning_examples]
    return HeadAnalysis(
        str(run.folder),
        min(len(rows), LOOKED_AT),
        told,
        weight,
        run.task.metric,
        _prune(run, measured, list(told), weight),
    )


def _roles(
    run: Run, examples: Examples, rows: list[tuple[list[int], ...]]
) -> dict[HeadName, dict[str, Played]]:
    frequency = Counter(id for row in rows for id in row[-1])
    frequency.update(id for row in rows for id in row[0] if len(row) > 1)
    counts = RoleCounts()
    for number, row in enumerate(rows[:LOOKED_AT]):
        for trace in trace_batch(run, run.task.pad([row])).values():
            if trace.stack == "cross":
                counts.add(trace, roles_across(trace, _aligned(run, examples, number)))
            elif trace.stack != "pool":
                counts.add(trace, roles_of_itself(trace, _rarity(trace, frequency)))
    return counts.played()


def _aligned(run: Run, examples: Examples, number: int) -> np.ndarray | None:
    """Which source word each written word needs most, by leaving out; for some texts only."""
    if number >= ALIGNED:
        return None
    try:
        return occlusion(run.task.question(run.model, *examples[number][:2])).scores
    except UsageError:  # a plain document asks a denoiser nothing
        return None


def _rarity(trace: Trace, frequency: Counter[int]) -> list[int]:
    return [frequency[id] for id in trace.ids]


def _losses(run: Run, rows: list[tuple[list[int], ...]]) -> Iterator[Tensor]:
    for row in rows:
        yield run.task.loss(run.model, run.task.pad([row])).smoothed


def _prune(
    run: Run, examples: Examples, heads: list[HeadName], weight: dict[HeadName, float]
) -> Pruned:
    dropped = sorted({round(n * len(heads) / POINTS) for n in range(POINTS + 1)})

    def scores(order: list[HeadName]) -> list[float]:
        found = []
        for count in dropped:
            with without_heads(run.model, order[:count]):
                measured = run.task.measure(run.model, examples, quick=True)
            found.append(measured.metrics[run.task.metric])
        return found

    return Pruned(
        dropped,
        scores(chosen_order(heads, weight)),
        scores(chosen_order(heads, weight, seed=run.recipe.seed)),
    )
