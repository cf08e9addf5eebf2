"""Runs of one recipe as one group, named by the settings in which it differs from the others.

If these are more than three, the group is named by what its folders' names have in common.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from regard.errors import UsageError
from regard.recipe.differences import comparable_settings, format_setting, rank_differing
from regard.run import Run
from regard.tasks.scores import ScoreRow, tabulate_scores
from regard.tasks.significance import Interval, interval

MOST_NAMED = 3  # settings that name a group


class Group(NamedTuple):
    """Runs of one recipe."""

    name: str
    runs: list[Run]
    scores: dict[str, Interval]
    together: dict[str, Interval]
    """What model and baseline score together, where they can."""

    @property
    def seeds(self) -> list[int]:
        """The seeds it was trained with."""
        return [run.recipe.seed for run in self.runs]


def group_runs(runs: Sequence[Run], names: Sequence[str] = ()) -> list[Group]:
    """Group runs whose recipes differ in nothing but the seed; ``names`` are the groups' own."""
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in {run.folder.resolve(): run for run in runs}.values():
        alike[json.dumps(comparable_settings(run.recipe), sort_keys=True)].append(run)
    for same in alike.values():
        _check_seeds(same)
    names = names or _names(list(alike.values()))
    if len(set(names)) != len(alike) or len(names) != len(alike):
        raise UsageError(
            f"every group needs one name of its own. Got {len(names)} names ({', '.join(names)}) "
            f"for {len(alike)} groups.",
            "The groups, in order: "
            + "; ".join(", ".join(str(run.folder) for run in same) for same in alike.values()),
        )
    return [_group(name, same) for name, same in zip(names, alike.values(), strict=True)]


def _check_seeds(runs: list[Run]) -> None:
    by_seed: dict[int, Run] = {}
    for run in runs:
        other = by_seed.setdefault(run.recipe.seed, run)
        if other is not run:
            raise UsageError(
                f"runs of one recipe are compared by their seeds. {other.folder} and {run.folder} "
                f"both have seed {run.recipe.seed}.",
                "Leave one of them out, or train it with another seed.",
            )


def _group(name: str, runs: list[Run]) -> Group:
    tables = [{row.metric: row for row in tabulate_scores(run.evaluation)} for run in runs]
    return Group(
        name,
        sorted(runs, key=lambda run: run.recipe.seed),
        {name: interval([table[name].model for table in tables]) for name in tables[0]},
        {
            name: interval(together)
            for name in tables[0]
            if len(together := _together(tables, name)) == len(tables)
        },
    )


def _together(tables: Sequence[Mapping[str, ScoreRow]], name: str) -> list[float]:
    found = (table[name].together for table in tables)
    return [score for score in found if score is not None]


def _names(groups: list[list[Run]]) -> list[str]:
    """Name every group by the settings in which it differs from another, if these are few."""
    settings = [comparable_settings(runs[0].recipe) for runs in groups]
    apart = rank_differing(settings)
    folders = [_common_name(runs) for runs in groups]
    if len(apart) > MOST_NAMED and all(folders) and len(set(folders)) == len(folders):
        return folders
    more = f" and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    names: list[str] = []
    for each in settings:
        values = [f"{path} {format_setting(each.get(path))}" for path in apart[:MOST_NAMED]]
        name = (", ".join(values) or groups[0][0].recipe.task) + more
        names.append(f"{name} ({len(names) + 1})" if name in names else name)
    return names


def _common_name(runs: list[Run]) -> str:
    """Return what the names of folders begin with, up to where they number their seeds."""
    letters = zip(*(run.folder.resolve().name for run in runs), strict=False)
    begin = "".join(one[0] for one in takewhile(lambda one: len(set(one)) == 1, letters))
    if len(runs) == 1:
        begin = begin.removesuffix(str(runs[0].recipe.seed))
    return begin.rstrip("-_. ").removesuffix("seed").rstrip("-_. ")
