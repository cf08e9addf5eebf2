"""What sets recipes apart."""

from regard.recipe.differences import (
    comparable_settings,
    format_setting,
    list_differing,
    rank_differing,
)
from regard.recipe.load import load


def settings(*changes):
    return comparable_settings(load("scenes", changes))


def test_the_seed_and_the_folder_of_the_data_set_nothing_apart():
    assert list_differing([settings("seed=3"), settings("seed=5", "training.threads=2")]) == []


def test_settings_that_differ_are_listed_in_the_order_of_a_recipe():
    found = list_differing([settings(), settings("training.clip=0.7", "model.width=96")])
    assert found == ["model.width", "training.clip"]


def test_the_setting_that_tells_the_most_apart_comes_first():
    three = [settings("model.width=96", f"training.clip={clip}") for clip in (0.5, 0.7, 0.9)]
    found = rank_differing([settings("training.clip=0.5"), *three])
    assert found == ["training.clip", "model.width"]


def test_settings_are_written_as_a_recipe_has_them():
    written = [format_setting(value) for value in (None, True, ["a/b.de", "c"], [], 0.5)]
    assert written == ["left out", "true", "b.de, c", "none", "0.5"]
