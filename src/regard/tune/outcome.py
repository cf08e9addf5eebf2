"""What a search came to: the winner, its recipe, the table of trials and the judgement."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from regard.recipe.dump import dump
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.scores import is_better
from regard.tune.halving import Plan
from regard.tune.judgement import Halves, Verdict, judge
from regard.tune.trials import DONE, Record

RECIPE = "recipe.toml"
ITSELF = "the recipe itself"
_OBVIOUS = re.compile(r"^(model|training)\.((optimizer|schedule|embedding)\.)?")


class Outcome(NamedTuple):
    """A search that has ended or was interrupted."""

    folder: Path
    recipe: Recipe
    """The recipe itself."""
    metric: str
    plan: Plan
    own: int
    """Steps of the recipe's own budget."""
    records: list[Record]
    recipes: Mapping[int, Recipe]
    """Of the trials, by number."""
    verdicts: list[Verdict]
    """The winner against the runner-up and against the recipe itself."""
    split: dict[str, int]
    """How many examples ranked the trials, and how many judged."""
    interrupted: bool

    @property
    def winner(self) -> Record | None:
        """The best trial by the search's examples; None if no trial has finished."""
        return find_best(self.metric, self.records)

    def ranked(self) -> list[Record]:
        """Return every trial once, by the highest rung that it finished, best first."""
        found: dict[int, Record] = {}
        for rung in reversed(range(self.plan.rungs)):
            for record in rank(self.metric, (r for r in self.records if r.rung == rung)):
                found.setdefault(record.trial, record)
        return list(found.values())

    def write_recipe(self) -> Path | None:
        """Write the winner's recipe, with its own budget, without settings that have no effect."""
        if (winner := self.winner) is None:
            return None
        recipe = self.recipes[winner.trial].model_copy(update={"data": self.recipe.data})
        reasons = dict.fromkeys(winner.changes, f"by trial {winner.trial} of the search")
        file = self.folder / RECIPE
        file.write_text(
            dump(
                recipe,
                folder=self.folder.absolute(),
                comments=True,
                reasons=reasons,
                all_tasks=False,
            ),
            encoding="utf-8",
        )
        return file

    def as_json(self) -> dict[str, Any]:
        """Return it under names that scripts rely on."""
        winner = self.winner
        return {
            "folder": str(self.folder),
            "task": self.recipe.task,
            "metric": self.metric,
            "plan": {**self.plan._asdict(), "own": self.own},
            "examples": self.split,
            "interrupted": self.interrupted,
            "winner": None if winner is None else winner._asdict(),
            "verdicts": [verdict.as_json() for verdict in self.verdicts],
            "trials": [record._asdict() for record in self.records],
        }


def rank(metric: str, records: Iterable[Record]) -> list[Record]:
    """Sort finished trials, best first; of equal ones the first comes first."""
    ranked: list[Record] = []
    for record in records:
        if record.status != DONE or record.score is None:
            continue
        place = len(ranked)
        while place and is_better(metric, record.score, than=ranked[place - 1].score or 0.0):
            place -= 1
        ranked.insert(place, record)
    return ranked


def find_best(metric: str, records: Sequence[Record]) -> Record | None:
    """Return the best trial of the highest rung that any has finished."""
    for rung in sorted({record.rung for record in records}, reverse=True):
        if ranked := rank(metric, (record for record in records if record.rung == rung)):
            return ranked[0]
    return None


def describe_changes(changes: Mapping[str, Any]) -> str:
    """Name the settings that a trial changes, shortly."""
    words = (f"{_OBVIOUS.sub('', path)} {_format(value)}" for path, value in changes.items())
    return ", ".join(words) or ITSELF


def trials_csv(records: Sequence[Record], metric: str) -> str:
    """Write every trial of every rung as a line, with a column for each setting."""
    settings = list(dict.fromkeys(path for record in records for path in record.changes))
    file = StringIO()
    table = csv.writer(file, lineterminator="\n")
    head = ("trial", "rung", "steps", metric, "seconds", "bytes", "status", "problem")
    table.writerow([*head, *settings])
    for record in records:
        own = (record.trial, record.rung, record.steps, record.score, round(record.seconds, 1))
        changed = (record.changes.get(path, "") for path in settings)
        table.writerow([*own, record.bytes, record.status, record.problem, *changed])
    return file.getvalue()


def judge_finalists(
    metric: str, records: Sequence[Record], folder: Path, halves: Halves
) -> list[Verdict]:
    """Compare the winner with the runner-up and with the recipe itself."""
    last = max((record.rung for record in records), default=0)
    finalists = rank(metric, (record for record in records if record.rung == last))
    if len(finalists) < 2:
        return []
    winner, second = finalists[:2]
    others = (
        [second, *(one for one in finalists[2:] if not one.trial)] if winner.trial else [second]
    )
    named = {
        record.trial: (name_of(record.trial), Run(run_folder(folder, record.trial)))
        for record in (winner, *others)
    }
    return [judge(named[winner.trial], named[other.trial], halves) for other in others]


def run_folder(folder: Path, number: int) -> Path:
    """Return the folder of a finalist."""
    return folder / "runs" / str(number)


def name_of(number: int) -> str:
    """Call a trial by its number."""
    return f"trial {number}" if number else ITSELF


def _format(value: Any) -> str:  # noqa: ANN401 - any setting's
    return f"{value:g}" if isinstance(value, float) else str(value)
