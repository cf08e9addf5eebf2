import tomllib
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.errors import RecipeError
from regard.recipe.dump import dump
from regard.recipe.load import load, make
from regard.recipe.recipe import Recipe
from regard.recipe.settings import tables_in
from regard.recipe.shipped import list_shipped

BUDGETS = ["15min", "10 epochs", "5000 steps", "20M tokens"]
# POSIX keeps "//" apart from "/"; no system we know does, and neither do relative paths.
PATHS = st.text("a/.ü \"'\\#", min_size=1).filter(lambda path: not path.startswith("//"))
CHOSEN = {
    "budget": st.sampled_from(BUDGETS),
    "shards": st.sampled_from([1, 2, 8]),
    "width": st.sampled_from([48, 96]),
    "heads": st.sampled_from([1, 2, 3]),
    "max_length": st.integers(1, 40),
    "positions": st.integers(41, 50),
    "train": st.just(("world:scenes",)) | st.lists(PATHS, min_size=1),
    "run": st.none() | PATHS,
}
NEUTRAL = [
    "temperature",
    "top_k",
    "top_p",
    "decay",
    "average",
    "format",
    "valid",
    "test",
    "dropout",
    "bare",
    "states",
    "gated",
]


def values(field):
    """Return what may be written in a field, by its type and bounds."""
    return of_type(field.annotation, field.metadata)


def of_type(kind, rules=()):
    if get_origin(kind) is Annotated:
        return of_type(get_args(kind)[0], [*rules, *get_args(kind)[1:]])
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        inner = [of_type(p, [Ge(0.0), Lt(1.0)]) for p in parts if p is not Ellipsis]
        return st.lists(inner[0], max_size=3) if Ellipsis in parts else st.tuples(*inner)
    if get_origin(kind) is not None:
        return st.one_of(*(of_type(part) for part in get_args(kind)))
    if kind is type(None):
        return st.none()
    return scalars(kind, rules)


def scalars(kind, rules):
    low = next((r.gt + 1 if kind is int else r.gt for r in rules if isinstance(r, Gt)), None)
    low = next((r.ge for r in rules if isinstance(r, Ge)), low)
    high = next((r.lt for r in rules if isinstance(r, Lt)), None)
    high = next((r.le for r in rules if isinstance(r, Le)), high)
    if kind is int:
        return st.integers(1 if low is None else low, 10**6)
    if kind is float:
        low = 1.5 if low is None else low
        inside = st.floats(low, high or 1e6, exclude_max=high is not None)
        return inside.filter(lambda x: not any(isinstance(r, Gt) and x <= r.gt for r in rules))
    return st.booleans() if kind is bool else st.text("aü \"'\\\n\t", max_size=5)


def tables(table):
    """Return what may be written in a table; built once, since beartype rolls dice when called."""
    drawn = {}
    for name, field in table.model_fields.items():
        if choices := tables_in(field.annotation):
            drawn[name] = st.one_of(*map(tables, choices))
        elif name not in NEUTRAL:
            drawn[name] = CHOSEN.get(name, values(field))
    return st.fixed_dictionaries(drawn).map(without_none)


def without_none(table):
    return {name: value for name, value in table.items() if value is not None}


RECIPES = tables(Recipe)


@given(RECIPES)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_recipe_written_out_loads_back_equal(tmp_path, drawn):
    try:
        made = make(drawn)
    except RecipeError:  # two settings that contradict each other were drawn
        return
    assert make(tomllib.loads(dump(made))) == made
    assert make(tomllib.loads(dump(made, comments=True))) == made
    file = tmp_path / "recipe.toml"
    file.write_text(dump(made), encoding="utf-8")
    found = load(file)
    (tmp_path / "run").mkdir(exist_ok=True)
    moved = tmp_path / "run" / "recipe.toml"
    moved.write_text(dump(found, folder=moved.parent), encoding="utf-8")
    assert load(moved) == found


@pytest.mark.parametrize("name", list_shipped())
def test_what_other_tasks_read_can_be_left_out(name):
    recipe = load(name)
    written = tomllib.loads(dump(recipe, all_tasks=False))
    assert make(written) == make(tomllib.loads(dump(recipe)))
    tables = {
        "retrieval": "retrieval",
        "denoising": "denoising",
        "pretraining": "masked-pretraining",
    }
    for table, task in tables.items():
        assert (table in written) == (recipe.task == task)
    assert ("scores" in written["data"]) == (
        recipe.task in ("classification", "sentence-pair", "document-vectors")
    )


@pytest.mark.parametrize("name", list_shipped())
def test_nothing_is_left_unsaid(name):
    recipe = load(name)
    written = tomllib.loads(dump(recipe))

    def missing(table, rows, path=""):
        for field in type(table).model_fields:
            value = getattr(table, field)
            if hasattr(type(value), "model_fields"):
                yield from missing(value, rows[field], f"{path}{field}.")
            elif value is not None and field not in rows:
                yield f"{path}{field}"

    assert list(missing(recipe, written)) == []


def test_what_is_left_out_stands_as_a_comment():
    assert "# window is left out\n" in dump(load("scenes"))


def test_files_are_named_as_the_folder_of_the_text_sees_them(tmp_path):
    made = make(
        {"task": "translation", "data": {"train": [str(tmp_path / "a"), str(tmp_path / "~")]}}
    )
    assert 'train = ["../a", "../~"]' in dump(made, folder=tmp_path / "run")
    assert 'train = ["a", "./~"]' in dump(made, folder=tmp_path)


def test_comments_say_what_each_setting_means():
    assert "# Number of attention heads" in dump(load("scenes"), comments=True)


def test_a_recipe_has_no_folder_of_its_own_in_it():
    assert str(Path.cwd()) not in dump(load("multi30k"), folder=Path.cwd())
