"""Runs of one recipe as one group, named by the settings in which it differs from the others.

If these are more than three, the group is named by what its folders' names have in common.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import UsageError
from regard.run import Run
from regard.tasks.scores import ScoreRow, tabulate_scores
from regard.tasks.significance import Interval, interval

NOT_NAMED = ("seed", "training.threads", "training.device", "decoding.device")
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
        alike[json.dumps(_settings(run), sort_keys=True)].append(run)
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


def _settings(run: Run) -> dict[str, Any]:
    flat = run.recipe.flat()
    # Seeds may each begin from a run of their own, numbered as they are.
    if flat["model.start.run"]:
        flat["model.start.run"] = flat["model.start.run"].removesuffix(f"-{run.recipe.seed}")
    # The same data may lie elsewhere on another day; its last folder and its name tell it.
    for part in ("data.train", "data.valid", "data.test", "data.labelled"):
        flat[part] = ["/".join(Path(file).parts[-2:]) for file in flat[part]]
    return {path: value for path, value in flat.items() if path not in NOT_NAMED}


def _names(groups: list[list[Run]]) -> list[str]:
    """Name every group by the settings in which it differs from another, if these are few."""
    settings = [_settings(runs[0]) for runs in groups]
    apart = _distinguish(settings)
    folders = [_common_name(runs) for runs in groups]
    if len(apart) > MOST_NAMED and all(folders) and len(set(folders)) == len(folders):
        return folders
    more = f" and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    names: list[str] = []
    for each in settings:
        values = [f"{path} {_format(each.get(path))}" for path in apart[:MOST_NAMED]]
        name = (", ".join(values) or groups[0][0].recipe.task) + more
        names.append(f"{name} ({len(names) + 1})" if name in names else name)
    return names


def _distinguish(settings: list[dict[str, Any]]) -> list[str]:
    """Return the settings that differ, first those that tell the most groups apart."""
    paths = sorted({path for each in settings for path in each})
    values = {path: [json.dumps(each.get(path)) for each in settings] for path in paths}
    left = [path for path in paths if len(set(values[path])) > 1]
    chosen: list[str] = []
    while left:

        def count_distinct(path: str) -> int:
            return len(set(zip(*(values[one] for one in (*chosen, path)), strict=True)))

        best = max(left, key=count_distinct)
        chosen.append(best)
        left.remove(best)
    return chosen


def _common_name(runs: list[Run]) -> str:
    """Return what the names of folders begin with, up to where they number their seeds."""
    letters = zip(*(run.folder.resolve().name for run in runs), strict=False)
    begin = "".join(one[0] for one in takewhile(lambda one: len(set(one)) == 1, letters))
    if len(runs) == 1:
        begin = begin.removesuffix(str(runs[0].recipe.seed))
    return begin.rstrip("-_. ").removesuffix("seed").rstrip("-_. ")


def _format(value: Any) -> str:  # noqa: ANN401 - whatever a setting can be
    match value:
        case None:
            return "left out"
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(_format(part) for part in value) or "none"
        case str():
            return Path(value).name if "/" in value else value
        case _:
            return str(value)
