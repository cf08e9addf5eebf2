"""Load a recipe from its file, apply ``--set``, and validate it.

Paths in a recipe are relative to the recipe, so that a folder with a recipe and its data can be
moved. Those of shipped recipes are relative to the current folder.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from regard.errors import RecipeError, UsageError
from regard.recipe.recipe import MAY_BE_IDLE, Recipe
from regard.recipe.renamed import translate_names
from regard.recipe.settings import REQUIRED, Settings, kind_of, tables_in
from regard.recipe.shipped import is_shipped, list_shipped
from regard.recipe.validation_errors import NOWHERE, Origin, explain_error, explain_syntax_error

Tables = dict[str, Any]

_DEEP_KEY = re.compile(r"(?<![\w-])(?:[\w-]++\s*+\.\s*+){20}")
"""A key of more parts than any setting has, for which the parser takes minutes."""

_LARGEST = 1_000_000
"""Maximum size of a recipe in bytes."""


def load(recipe: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """Load a recipe by its file, its shipped name or a run folder, with ``overrides`` (``a.b=c``).

    In a run folder settings may have older names.
    """
    path = find(recipe)
    text = _read(path)
    try:
        if _DEEP_KEY.search(text):
            raise RecursionError
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise explain_syntax_error(error, text, _short(path)) from None
    if Path(recipe).is_dir():
        tables = translate_names(tables)
    changes = list(overrides)
    for override in changes:
        tables = set_value(tables, override)
    paths = tuple(override.partition("=")[0].strip() for override in changes)
    context = {MAY_BE_IDLE: Path(recipe).is_dir()}
    made = make(tables, Origin(_short(path), text, paths), context=context)
    folder = Path.cwd() if is_shipped(path) else path.absolute().parent
    # Omitted settings stay unset: model.start.run may provide them.
    stated = made.model_dump(exclude_unset=True)
    placed = rebase_paths(stated, lambda file: _resolve(file, folder))
    return Recipe.model_validate(placed, context=context)


def make(
    tables: Tables, origin: Origin = NOWHERE, *, context: dict[str, bool] | None = None
) -> Recipe:
    """Turn plain tables into a recipe; ``origin`` serves the error message."""
    try:
        # Strict, and as JSON: lists pass for tuples there, while "6" does not pass for 6.
        return Recipe.model_validate_json(
            json.dumps(_complete(tables, Recipe), default=str), strict=True, context=context
        )
    except ValidationError as error:
        raise explain_error(error, Recipe, origin) from None


def find(recipe: str | Path) -> Path:
    """Return the file of a recipe given by its path or by its shipped name."""
    path = Path(recipe)
    if path.is_dir() and (path / "recipe.toml").is_file():
        return path / "recipe.toml"
    if path.is_file():
        return path
    names = list_shipped()
    if str(recipe) in names:
        return names[str(recipe)]
    meant = get_close_matches(str(recipe), names, n=1)
    offer = f"did you mean {meant[0]}" if meant else f"the shipped ones are {', '.join(names)}"
    raise RecipeError(
        f"{recipe} is neither a file nor a shipped recipe",
        f"Check the path, or name a shipped recipe: {offer}.",
    )


def set_value(tables: Tables, override: str) -> Tables:
    """Return the tables with ``a.b=c`` set; the value is TOML, and a bare word is text."""
    path, equals, value = override.partition("=")
    steps = [step.strip() for step in path.split(".")]
    if not equals or not all(steps) or len(steps) > 20:
        raise UsageError(
            f'--set takes a setting and its value; got "{override}"',
            "Write it as --set model.depth=6.",
        )
    return _set(tables, steps, _value(value.strip()))


def override(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return the recipe with other settings, each named by its dotted path."""
    tables = recipe.model_dump(mode="json", exclude_unset=True)
    for path, value in changes.items():
        tables = _set(tables, path.split("."), value)
    return make(tables, Origin("overrides", overrides=tuple(changes)))


def _set(tables: Tables, steps: list[str], value: Any) -> Tables:  # noqa: ANN401 - TOML
    """Set a value; another ``kind`` of a table drops settings that the new kind does not have."""
    changed = _insert(tables, steps, value)
    return _drop_settings_of_other_kinds(changed, Recipe, steps) if steps[-1] == "kind" else changed


def rebase_paths(tables: Tables, place: Callable[[str], str]) -> Tables:
    """Apply ``place`` to all file names in the tables, except worlds."""
    data = dict(tables["data"])
    for side in ("train", "valid", "test", "labelled"):
        data[side] = [f if f.startswith("world:") else place(f) for f in data.get(side, ())]
    model = dict(tables.get("model", {}))
    start = model.get("start", {})
    if start.get("run"):
        model["start"] = {**start, "run": place(start["run"])}
    return {**tables, "data": data, "model": model}


def _short(path: Path) -> str:
    path = path.absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _resolve(file: str, folder: Path) -> str:
    # Unlike Path's, this one leaves "~nobody" unchanged.
    home = os.path.expanduser(file)  # noqa: PTH111
    return os.path.normpath(folder.resolve() / home)


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise RecipeError(f"{path} is not a file", "Name a recipe file.")
        if path.stat().st_size > _LARGEST:
            raise RecipeError(
                f"{path} has {path.stat().st_size:,} bytes; a recipe has at most {_LARGEST:,}",
                "Name the recipe here, and the data inside it.",
            )
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise RecipeError(
            f"{path}:{line}: a recipe is UTF-8 text; byte {error.start} is not",
            "Save the file as UTF-8.",
        ) from None
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror}", "Check the file.") from None


def _insert(tables: Tables, steps: list[str], value: Any) -> Tables:  # noqa: ANN401 - TOML
    first, *rest = steps
    if not rest:
        return {**tables, first: value}
    inner = tables.get(first, {})
    return {**tables, first: _insert(inner if isinstance(inner, dict) else {}, rest, value)}


def _drop_settings_of_other_kinds(
    tables: Tables, table: type[Settings], steps: list[str]
) -> Tables:
    first, *rest = steps
    field, inner = table.model_fields.get(first), tables[first]
    if field is None or not rest:
        return tables
    choices = tables_in(field.annotation)
    if len(rest) > 1 and len(choices) == 1:
        return {**tables, first: _drop_settings_of_other_kinds(inner, choices[0], rest)}
    for choice in choices:
        if len(rest) == 1 and kind_of(choice) == inner["kind"]:
            return {**tables, first: {k: v for k, v in inner.items() if k in choice.model_fields}}
    return tables


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML can say
    try:
        tables = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return tables["value"] if list(tables) == ["value"] else text


def _complete(tables: Tables, table: type[Settings]) -> Tables:
    """Add what a recipe may omit: a default ``kind``, and the brackets around a single file."""
    complete = dict(tables)
    for name, field in table.model_fields.items():
        value = complete.get(name)
        choices = tables_in(field.annotation)
        if isinstance(value, str) and field.annotation == tuple[str, ...]:
            complete[name] = [value]
        if not isinstance(value, dict) or not choices:
            continue
        if len(choices) > 1 and "kind" not in value and field.default is not REQUIRED:
            value = {"kind": field.default.kind, **value}
        chosen = [choice for choice in choices if kind_of(choice) in ("", value.get("kind"))]
        complete[name] = _complete(value, chosen[0]) if len(chosen) == 1 else value
    return complete
