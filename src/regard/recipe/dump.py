"""Write a recipe as TOML with all defaults."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomli_w

from regard.recipe.load import rebase_paths
from regard.recipe.recipe import Recipe
from regard.recipe.settings import Settings


def dump(
    recipe: Recipe,
    *,
    folder: Path | None = None,
    comments: bool = False,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the recipe as TOML that loads back equal.

    Omitted settings (``None``) become comments, since TOML has no null. ``folder`` is where the
    file will be saved: paths are written relative to it. With ``comments``, the documentation of
    every field is written above it; ``reasons``, by dotted path, say why a value was chosen.
    """
    if folder is not None:
        recipe = Recipe.model_validate(
            rebase_paths(recipe.model_dump(), lambda file: _relative_path(file, folder))
        )
    return "\n".join(_table(recipe, "", comments, reasons)).strip() + "\n"


def _relative_path(file: str, folder: Path) -> str:
    path = Path(file).absolute()
    try:
        near = Path(os.path.relpath(path, folder.resolve())).as_posix()
        return f"./{near}" if near.startswith(("~", "world:")) else near
    except ValueError:  # another drive
        return str(path)


def _table(table: Settings, path: str, comments: bool, reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of one table: its own fields first, then the tables inside it."""
    if path:
        yield f"\n[{path}]"
    fields = type(table).model_fields
    inner = {name: getattr(table, name) for name in fields}
    for name in [name for name, value in inner.items() if not isinstance(value, Settings)]:
        if comments and (means := fields[name].description):
            yield f"# {' '.join(means.split())}"
        if (where := f"{path}.{name}" if path else name) in reasons:
            yield f"# Chosen: {reasons[where]}"
        yield _field(name, inner[name])
    for name, value in inner.items():
        if isinstance(value, Settings):
            yield from _table(value, f"{path}.{name}" if path else name, comments, reasons)


def _field(name: str, value: Any) -> str:  # noqa: ANN401 - a field can be anything
    if value is None:
        return f"# {name} is left out"
    if isinstance(value, tuple):
        return f"{name} = [{', '.join(_value(part) for part in value)}]"
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:  # noqa: ANN401 - a field can be anything
    return tomli_w.dumps({"value": value}).removeprefix("value = ").rstrip("\n")
