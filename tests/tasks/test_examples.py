"""Examples of a recipe: what is held out of the training files."""

import json

import pytest

from regard.errors import DataError, RecipeError
from regard.recipe.load import make
from regard.tasks.examples import examples

FILMS = 97


def films_recipe(tmp_path, films, **data):
    rows = [
        {"text": f"review {n} of {film}", "label": "ab"[n % 2], "film": film}
        for n, film in enumerate(films)
    ]
    path = tmp_path / "films.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = {"train": [str(path)], "holdout": 0.3, **data}
    return make({"task": "classification", "data": given})


def test_a_group_is_held_out_whole_and_no_example_is_lost(tmp_path):
    recipe = films_recipe(tmp_path, [f"film {n % FILMS}" for n in range(7 * FILMS)], group="film")
    train, valid = list(examples(recipe, "train")()), list(examples(recipe, "valid")())
    films = [{text.partition(" of ")[2] for text, _ in side} for side in (train, valid)]
    assert len(train) + len(valid) == 7 * FILMS and not films[0] & films[1]
    assert 0.15 < len(films[1]) / FILMS < 0.45 and len(valid) == 7 * len(films[1])


def test_without_a_group_examples_of_one_film_are_on_both_sides(tmp_path):
    recipe = films_recipe(tmp_path, ["one film"] * 53)
    assert list(examples(recipe, "train")()) and list(examples(recipe, "valid")())


def test_an_example_without_a_group_is_named_where_groups_decide(tmp_path):
    recipe = films_recipe(tmp_path, ["a", "b", None], group="film")
    with pytest.raises(DataError, match=r"films\.jsonl:3: The column 'film'"):
        list(examples(recipe, "train")())
    given = films_recipe(tmp_path, ["a", None], group="film", valid=recipe.data.train)
    assert len(list(examples(given, "train")())) == len(list(examples(given, "valid")())) == 2


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({"holdout_from": "end"}, "splits by position"),
        ({"fields": [0, 1]}, "files without a header"),
    ],
)
def test_what_cannot_be_grouped_is_refused(tmp_path, data, word):
    with pytest.raises(RecipeError, match=word):
        films_recipe(tmp_path, ["a"], group="film", **data)


def test_retrieval_has_no_groups():
    with pytest.raises(RecipeError, match="retrieval is trained on"):
        make({"task": "retrieval", "data": {"train": ["a.jsonl"], "group": "film"}})


def test_a_group_may_be_a_number(tmp_path):
    assert films_recipe(tmp_path, ["a"], group=2).data.group == "2"
