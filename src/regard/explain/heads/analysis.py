"""Every head of a run over a corpus: its roles, its importance, and what pruning costs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from regard.device import device_of
from regard.errors import UsageError
from regard.explain.attributions.occlusion import occlude
from regard.explain.heads.masks import (
    HeadName,
    list_heads,
    measure_importance,
    order_heads,
    prune_heads,
)
from regard.explain.heads.roles import (
    RoleCounts,
    RoleShare,
    find_cross_roles,
    find_self_roles,
)
from regard.explain.trace import no_attention, trace_batch
from regard.inference.predictor import Predictor
from regard.run import Run

READ, TRACED, LOSSES, ALIGNED = 400, 200, 64, 24  # examples
POINTS = 10  # of the pruning curve
Examples = Sequence[tuple[str, ...]]
Rows = list[tuple[list[int], ...]]


@dataclass(frozen=True)
class PruningCurve:
    """The score as heads are pruned one after another."""

    pruned: list[int]
    scores: list[float]
    """After each number of pruned heads, the least important first."""
    random: list[float]
    """The same, in a random order."""


@dataclass(frozen=True)
class HeadAnalysis:
    """What every head of a run does over a corpus."""

    run: str
    texts: int
    roles: dict[HeadName, dict[str, RoleShare]]
    importance: dict[HeadName, float]
    metric: str
    pruning: PruningCurve

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
                    "roles": [role for role, found in shares.items() if found.has_role],
                    "shares": {role: found.share for role, found in shares.items()},
                    "chance": {role: found.chance for role, found in shares.items()},
                }
                for head, shares in self.roles.items()
            ],
            "metric": self.metric,
            "pruning": {
                "pruned": self.pruning.pruned,
                "least_important_first": self.pruning.scores,
                "random_order": self.pruning.random,
            },
        }

    def lines(self) -> list[str]:
        """Return lines for a terminal, the most important heads of each stack first."""
        lines = [f"{len(self.roles)} heads over {self.texts} texts"]
        for head, shares in sorted(self.roles.items(), key=self._rank):
            best = max(shares.items(), key=lambda item: item[1].share / max(item[1].chance, 0.02))
            roles = [role for role, found in shares.items() if found.has_role]
            share = f"{best[0]} {best[1].share:.0%} (chance {best[1].chance:.0%})"
            lines.append(
                f"{head!s:<28} importance {self.importance[head]:.2f}  "
                f"{'/'.join(roles) or '-':<20} {share}"
            )
        lines.append(f"{self.metric} after pruning heads, the least important first (random order)")
        lines += [
            f"{pruned:>4} pruned  {score:8.3f}  ({other:.3f})"
            for pruned, score, other in zip(
                self.pruning.pruned, self.pruning.scores, self.pruning.random, strict=True
            )
        ]
        return lines

    def _rank(self, item: tuple[HeadName, Any]) -> tuple[str, float]:
        return item[0].stack, -self.importance[item[0]]


def analyse(run: Run, *, split: str = "test", files: Sequence[str] = ()) -> HeadAnalysis:
    """Analyse every head over a split of the recipe, or over files like the training data."""
    names = list_heads(run.model)
    if not names:
        raise no_attention(run)
    examples = list(Predictor(run).examples(split=split, files=files, most=READ))
    if not examples:
        raise UsageError("there must be examples. Got none.", "Name a file that has some.")
    rows = run.task.encode_truncated(examples)
    roles = _find_roles(run, examples, rows)
    importance = measure_importance(run.model.eval(), _losses(run, rows[:LOSSES]))
    found = {name: roles[name] for name in names if name in roles}
    measured = examples[: run.task.pruning_examples]
    return HeadAnalysis(
        str(run.folder),
        min(len(rows), TRACED),
        found,
        importance,
        run.task.metric,
        _prune(run, measured, list(found), importance),
    )


def _find_roles(run: Run, examples: Examples, rows: Rows) -> dict[HeadName, dict[str, RoleShare]]:
    frequency = Counter(id for row in rows for id in row[-1])
    frequency.update(id for row in rows for id in row[0] if len(row) > 1)
    counts = RoleCounts()
    for number, row in enumerate(rows[:TRACED]):
        for trace in trace_batch(run, run.task.pad([row])).values():
            if trace.stack == "cross":
                counts.add(trace, find_cross_roles(trace, _align(run, examples, number)))
            elif trace.stack != "pool":
                counts.add(trace, find_self_roles(trace, [frequency[id] for id in trace.ids]))
    return counts.shares()


def _align(run: Run, examples: Examples, number: int) -> np.ndarray | None:
    """Find which source word each written word needs most, by occlusion; for some texts only."""
    if number >= ALIGNED:
        return None
    try:
        return occlude(run.task.question(run.model, *examples[number][:2])).scores
    except UsageError:  # a document without masks leaves a denoiser nothing to predict
        return None


def _losses(run: Run, rows: Rows) -> Iterator[Tensor]:
    for row in rows:
        batch = run.task.pad([row]).to(device_of(run.model))
        yield run.task.loss(run.model, batch).smoothed


def _prune(
    run: Run, examples: Examples, heads: list[HeadName], importance: dict[HeadName, float]
) -> PruningCurve:
    numbers = sorted({round(n * len(heads) / POINTS) for n in range(POINTS + 1)})

    def measure(order: list[HeadName]) -> list[float]:
        found = []
        for count in numbers:
            with prune_heads(run.model, order[:count]):
                measured = run.task.measure(run.model, examples, quick=True)
            found.append(measured.metrics[run.task.metric])
        return found

    return PruningCurve(
        numbers,
        measure(order_heads(heads, importance)),
        measure(order_heads(heads, importance, seed=run.recipe.seed)),
    )
