import json

import pytest

from regard.errors import UsageError
from regard.recipe.document import explanation, reference, schema
from regard.recipe.recipe import Recipe
from regard.recipe.settings import lines
from regard.recipe.shipped import find_folder, list_shipped


def test_every_setting_is_in_the_reference():
    text = reference()
    leaves = {line.path.rpartition(".")[2] for line in lines(Recipe)}
    assert [leaf for leaf in leaves if f"| `{leaf}` |" not in text] == []


def test_the_sentence_under_a_field_reaches_reference_and_schema():
    sentence = "Layer normalisation or RMS normalisation (RMSNorm)."
    assert sentence in reference()
    assert sentence in json.dumps(schema())


def test_every_row_of_the_reference_has_four_cells():
    rows = [row for row in reference().splitlines() if row.startswith("| `")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_a_table_is_explained_by_its_settings():
    assert {line.path for line in explanation("data")} >= {"data.train", "data.format"}
    assert [line.path for line in explanation("model.width")] == ["model.width"]


def test_a_setting_that_does_not_exist_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match=r"Did you mean model\.width"):
        explanation("model.widht")


def test_the_schema_refuses_unknown_names():
    assert schema()["additionalProperties"] is False


def test_a_wheel_carries_the_recipes_where_the_package_seeks_them():
    import tomllib

    project = tomllib.loads((find_folder().parent / "pyproject.toml").read_text(encoding="utf-8"))
    mapped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert mapped == {"recipes": "regard/recipe/shipped"}
    assert {"scenes", "multi30k"} <= set(list_shipped())
