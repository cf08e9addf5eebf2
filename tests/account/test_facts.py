"""What is assumed of texts that nobody has read yet."""

import pytest

from regard.account.facts import default_length, load_of
from regard.recipe.load import load


@pytest.mark.parametrize(
    ("name", "sets", "length", "written"),
    [
        ("scenes", [], 32, 32),
        ("sentence-pairs", [], 32, 32),
        ("reviews-scratch", [], 256, 256),
        ("reviews-scratch", ['text.overlong="windows"', "text.longest=101"], 101, 101),
        ("documents-han", ['text.overlong="head"'], 256, 256),
        ("summaries", [], 256, 32),
        ("shakespeare", ["text.longest=67"], 67, 67),
    ],
)
def test_documents_are_long_and_summaries_short(name, sets, length, written):
    recipe = load(name, sets)
    assert default_length(recipe) == length
    assert load_of(recipe).written == written
