"""Numbers that would end in no memory, or never, are refused before anything is read."""

import pytest

from regard.errors import RecipeError
from regard.recipe.load import load

SLIPS = [
    *("text.vocabulary=10000000000", "text.max_length=1000000000", "decoding.beam=1000000"),
    *("model.depth=1000000", "model.decoder_depth=1000000", "model.width=1000000000"),
    *("model.mixer.heads=100000", "training.shards=1099511627776", "training.average=10000"),
    *("training.threads=100000", "decoding.max_length=1000000000", "seed=9223372036854775808"),
    *("decoding.top_k=10000000000", "decoding.lead=1000000", "training.evaluations=10000000000"),
]


@pytest.mark.parametrize("slip", SLIPS)
def test_a_number_that_cannot_be_meant_is_refused(slip):
    with pytest.raises(RecipeError, match=r"from [01] to [0-9]+|below 9223372036854775808"):
        load("scenes", [slip])


def test_the_largest_seed_is_taken():
    assert load("scenes", ["seed=9223372036854775807"]).seed == 2**63 - 1
