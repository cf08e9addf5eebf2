from typing import Literal

import pytest
from pydantic import ValidationError

from regard.recipe.recipe import Recipe
from regard.recipe.settings import REQUIRED, Settings, lines, shown


def test_every_field_says_what_it_means():
    assert [line.path for line in lines(Recipe) if not line.means] == []


def test_every_field_says_what_may_be_written_there():
    assert [line.path for line in lines(Recipe) if not line.allowed] == []


def test_every_table_says_what_it_is():
    def tables(kind):
        yield kind
        for inner in kind.__subclasses__():
            yield from tables(inner)

    ours = [t for t in tables(Settings) if t.__module__.startswith("regard.")]
    assert [table for table in ours if not table.__doc__] == []


def test_no_path_and_kind_is_listed_twice():
    seen = [(line.path, line.kind) for line in lines(Recipe)]
    assert len(seen) == len(set(seen))


def test_a_choice_of_tables_lists_each_with_its_kind():
    kinds = {line.kind for line in lines(Recipe) if line.path == "model.mixer.kind"}
    assert kinds == {"attention", "recurrent", "convolution"}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("seed", "a whole number of at least 0 and below 9223372036854775808"),
        ("model.width", "a whole number from 1 to 5000000"),
        ("model.dropout", "a number of at least 0.0 and below 1.0"),
        ("decoding.top_p", "a number above 0.0 and of at most 1.0"),
        ("model.norm", '"layer", "rms"'),
        ("model.tied", "true or false"),
        ("model.mixer.window", "a whole number from 1 to 5000000, or left out"),
        ("data.train", "a list of text"),
        ("training.optimizer.betas", "a list of 2 numbers"),
    ],
)
def test_what_is_allowed_is_said_in_words(path, allowed):
    assert {line.allowed for line in lines(Recipe) if line.path == path} == {allowed}


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        (None, "left out"),
        (True, "true"),
        ("bpe", '"bpe"'),
        ((0.9, 0.98), "[0.9, 0.98]"),
        (3, "3"),
        (REQUIRED, "required"),
    ],
)
def test_a_default_is_spelled_as_a_recipe_spells_it(value, spelling):
    assert shown(value) == spelling


def test_a_table_is_frozen():
    class Table(Settings):
        kind: Literal["a"] = "a"

    with pytest.raises(ValidationError, match="frozen"):
        Table().kind = "a"
