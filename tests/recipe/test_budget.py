from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.recipe.budget import Budget, parse_budget
from regard.recipe.settings import Refused


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("15min", Budget("time", 900.0)),
        ("15 m", Budget("time", 900.0)),
        ("1h", Budget("time", 3600.0)),
        ("1h 30min", Budget("time", 5400.0)),
        ("1h30min", Budget("time", 5400.0)),
        ("1.5 hours", Budget("time", 5400.0)),
        ("90s", Budget("time", 90.0)),
        ("500ms", Budget("time", 0.5)),
        ("2 days", Budget("time", 172800.0)),
        ("10 epochs", Budget("epochs", 10.0)),
        ("1 epoch", Budget("epochs", 1.0)),
        ("0.5 epochs", Budget("epochs", 0.5)),
        ("5000 steps", Budget("steps", 5000.0)),
        ("5_000 Steps", Budget("steps", 5000.0)),
        ("5k steps", Budget("steps", 5000.0)),
        ("20M tokens", Budget("tokens", 20e6)),
        ("1.5B tokens", Budget("tokens", 1.5e9)),
        ("  7 steps  ", Budget("steps", 7.0)),
    ],
)
def test_a_budget_is_read_as_people_write_it(text, budget):
    assert parse_budget(text) == budget


@pytest.mark.parametrize(
    "text",
    ["", "soon", "5000", "min", "-3 steps", "0 steps", "0s", "1.5 steps", "3 min 4", "5 parsecs",
     "1h and more", "10 epochs 3 steps", "nan steps", "1e999 tokens", "9" * 400 + "s"],
)  # fmt: skip
def test_what_is_no_length_is_refused_with_examples(text):
    with pytest.raises(Refused) as caught:
        parse_budget(text)
    assert "15min" in caught.value.remedy


@given(st.integers(1, 10**9), st.sampled_from(["epochs", "steps", "tokens"]))
def test_a_count_is_the_count_that_was_written(amount, unit):
    assert parse_budget(f"{amount} {unit}") == Budget(unit, float(amount))


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    with suppress(Refused):
        assert parse_budget(text).amount > 0
