"""Old names of settings: refused in a recipe with the new name, translated in a run's folder."""

import pytest

from regard.errors import RecipeError
from regard.recipe.load import load, make
from regard.recipe.recipe import Recipe
from regard.recipe.renamed import REMOVED, RENAMED, VALUES, translate_names
from regard.recipe.settings import lines

KNOWN = {line.path for line in lines(Recipe)}


def tables(path, value):
    made = {"task": "translation", "data": {"train": ["x"]}}
    *steps, name = path.split(".")
    table = made
    for step in steps:
        table = table.setdefault(step, {})
    table[name] = value
    return made


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_is_refused_with_the_new_one(old, new):
    assert old not in KNOWN and new in KNOWN
    with pytest.raises(RecipeError) as caught:
        make(tables(old, 1))
    assert f"{old} is now called {new}" in caught.value.problem
    assert caught.value.remedy == f"Write {new} instead."


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_is_translated_in_a_run(old, new):
    assert translate_names(tables(old, 7)) == tables(new, 7)


@pytest.mark.parametrize(("path", "reason"), REMOVED.items())
def test_a_removed_setting_is_refused_with_the_reason(path, reason):
    assert path not in KNOWN
    with pytest.raises(RecipeError) as caught:
        make(tables(path, 1))
    assert caught.value.problem.endswith(f"{path} was removed: {reason}")
    assert caught.value.remedy == f"Take {path} out."


@pytest.mark.parametrize("path", REMOVED)
def test_a_removed_setting_is_left_out_of_a_run(path):
    found, table = translate_names(tables(path, 1)), path.partition(".")[0]
    assert path.rpartition(".")[2] not in found[table]


def test_an_old_value_is_refused_and_translated():
    was, now = tables("training.softmax", "step"), tables("training.softmax", "sampled")
    with pytest.raises(RecipeError, match='= "sampled"'):
        make(was)
    assert translate_names(was) == now
    assert all(path in KNOWN for path in VALUES)


def test_translating_leaves_the_rest_and_its_argument_alone():
    given = tables("text.longest", 5) | {"model": {"width": 8}}
    assert translate_names(given)["model"] == {"width": 8}
    assert given["text"] == {"longest": 5}


def test_a_recipe_is_translated_only_where_it_lies_in_a_folder(tmp_path):
    file = tmp_path / "recipe.toml"
    file.write_text('task = "translation"\n[data]\ntrain = ["x"]\n[text]\nlongest = 11\n')
    assert load(tmp_path).text.max_length == 11
    with pytest.raises(RecipeError, match=r"text\.max_length"):
        load(file)
