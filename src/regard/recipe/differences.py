"""What sets recipes apart: settings that runs of one group share, and those in which groups differ.

Runs whose settings differ in nothing but the seed are one group.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.recipe.recipe import Recipe

NOT_COMPARED = ("seed", "training.threads", "training.device", "decoding.device")
FILES = ("data.train", "data.valid", "data.test", "data.labelled")


def comparable_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the settings that must be equal within a group, by dotted path."""
    flat = recipe.flat()
    # Seeds may each begin from a run of their own, numbered as they are.
    if flat["model.start.run"]:
        flat["model.start.run"] = flat["model.start.run"].removesuffix(f"-{recipe.seed}")
    # The same data may lie elsewhere on another day; its last folder and its name tell it.
    for part in FILES:
        flat[part] = ["/".join(Path(file).parts[-2:]) for file in flat[part]]
    return {path: value for path, value in flat.items() if path not in NOT_COMPARED}


def list_differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the settings that differ between any two, in the order of a recipe."""
    paths = dict.fromkeys(path for each in settings for path in each)
    return [path for path in paths if len({json.dumps(each.get(path)) for each in settings}) > 1]


def rank_differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the settings that differ, first those that tell the most apart."""
    left = sorted(list_differing(settings))
    values = {path: [json.dumps(each.get(path)) for each in settings] for path in left}
    chosen: list[str] = []
    while left:

        def count_distinct(path: str) -> int:
            return len(set(zip(*(values[one] for one in (*chosen, path)), strict=True)))

        best = max(left, key=count_distinct)
        chosen.append(best)
        left.remove(best)
    return chosen


def format_setting(value: Any) -> str:  # noqa: ANN401 - whatever a setting can be
    """Write the value of a setting; of a path its last part."""
    match value:
        case None:
            return "left out"
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(format_setting(part) for part in value) or "none"
        case str():
            return Path(value).name if "/" in value else value
        case _:
            return str(value)
