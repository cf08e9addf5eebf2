"""Write a recipe as TOML with all defaults."""

import os
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomli_w

from regard.recipe.load import rebase_paths
from regard.recipe.recipe import Recipe
from regard.recipe.settings import Settings
from regard.recipe.tasks import list_idle_settings


def dump(
    recipe: Recipe,
    *,
    folder: Path | None = None,
    comments: bool = False,
    reasons: Mapping[str, str] = MappingProxyType({}),
    all_tasks: bool = True,
) -> str:
    """Return the recipe as TOML that loads back equal.

    Omitted settings (``None``) become comments, since TOML has no null. ``folder`` is where the
    file will be saved: paths are written relative to it. With ``comments``, the documentation of
    every field is written above it; ``reasons``, by dotted path, say why a value was chosen.
    Without ``all_tasks``, defaults that have an effect on other tasks only are left out.
    """
    if folder is not None:
        recipe = Recipe.model_validate(
            rebase_paths(recipe.model_dump(), lambda file: _relative_path(file, folder))
        )
    omitted = set() if all_tasks else list_idle_settings(recipe.task)
    return "\n".join(_table(recipe, "", comments, reasons, omitted)).strip() + "\n"


def _relative_path(file: str, folder: Path) -> str:
    path = Path(file).absolute()
    try:
        near = Path(os.path.relpath(path, folder.resolve())).as_posix()
        return f"./{near}" if near.startswith(("~", "world:")) else near
    except ValueError:  # another drive
        return str(path)


def _table(
    table: Settings, path: str, comments: bool, reasons: Mapping[str, str], omitted: Set[str]
) -> Iterator[str]:
    """Yield the lines of one table: its own fields first, then the tables inside it."""
    if path:
        yield f"\n[{path}]"
    fields = type(table).model_fields
    paths = {name: f"{path}.{name}" if path else name for name in fields}
    inner = {
        name: getattr(table, name)
        for name, field in fields.items()
        if paths[name] not in omitted or getattr(table, name) != field.get_default()
    }
    for name in [name for name, value in inner.items() if not isinstance(value, Settings)]:
        if comments and (means := fields[name].description):
            yield f"# {' '.join(means.split())}"
        if paths[name] in reasons:
            yield f"# Chosen: {reasons[paths[name]]}"
        yield _field(name, inner[name])
    for name, value in inner.items():
        if isinstance(value, Settings):
            yield from _table(value, paths[name], comments, reasons, omitted)


def _field(name: str, value: Any) -> str:  # noqa: ANN401 - a field can be anything
    if value is None:
        return f"# {name} is left out"
    if isinstance(value, tuple):
        return f"{name} = [{', '.join(_value(part) for part in value)}]"
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:  # noqa: ANN401 - a field can be anything
    return tomli_w.dumps({"value": value}).removeprefix("value = ").rstrip("\n")
