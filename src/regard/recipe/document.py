"""Generate the reference of recipe settings: documentation, explanation, JSON schema."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.recipe.settings import SettingLine, Settings, kind_of, lines, shown, tables_in

_OPENING = """\
# Recipe reference

<!-- Generated from the sentences under the fields of src/regard/recipe by `make docs`. -->

A recipe is one TOML file with everything a run needs. Settings that it omits have the defaults
below; a run's own `recipe.toml` contains all defaults. Unknown names are refused, with the closest
spelling. Any setting can be overridden for one run: `--set model.depth=6`; the value is TOML, and a
bare word is text.

Paths are relative to the recipe. The shipped recipes (`regard recipe list`) have no data next to
them: their paths are relative to the current folder. A single file needs no brackets. `kind` may be
omitted for the default kind.
"""


def reference() -> str:
    """Return ``docs/recipe.md``."""
    return "\n".join([_OPENING, *_section(Recipe, "")]).rstrip() + "\n"


def explanation(path: str = "") -> list[SettingLine]:
    """Return the fields at a dotted path or below it; refuse a path that does not exist."""
    every = list(lines(Recipe))
    chosen = [line for line in every if f"{line.path}.".startswith(f"{path}.") or not path]
    if not chosen:
        meant = get_close_matches(path, [line.path for line in every], n=1)
        raise UsageError(
            f"{path} is not a setting of a recipe",
            f"Did you mean {meant[0]}?" if meant else "`regard recipe explain` lists them all.",
        )
    return chosen


def schema() -> dict[str, Any]:
    """Return the JSON schema, for editors that validate recipes."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Recipe.model_json_schema()}


_WORDS = ("required", "left out")


def _section(table: type[Settings], path: str) -> Iterator[str]:
    """Yield one table of the recipe, then the tables inside it."""
    if path:
        kind = kind_of(table)
        yield f'## `[{path}]` with `kind = "{kind}"`\n' if kind else f"## `[{path}]`\n"
        yield f"{_sentence(table)}\n"
    inner = {name: tables_in(field.annotation) for name, field in table.model_fields.items()}
    plain = [line for line in lines(table) if "." not in line.path]
    if plain:
        yield "| setting | default | allowed | meaning |\n|---|---|---|---|"
        yield from map(_row, plain)
        yield ""
    for name, choices in inner.items():
        for choice in choices:
            yield from _section(choice, f"{path}.{name}" if path else name)


def _sentence(table: type[Settings]) -> str:
    return " ".join((table.__doc__ or "").split())


def _row(line: SettingLine) -> str:
    default = shown(line.default)
    cells = [f"`{line.path}`", default if default in _WORDS else f"`{default}`", line.allowed]
    return "| " + " | ".join(_cell(text) for text in [*cells, line.means]) + " |"


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())
