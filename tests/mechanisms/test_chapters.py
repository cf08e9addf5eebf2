"""Chapters: each computes what it says, for every value of its controls, and refuses others."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.claims.registry import load_claims
from regard.errors import UsageError
from regard.mechanisms.chapters import CHAPTERS, find_chapter, list_chapters
from regard.mechanisms.mechanism import Choice, Slider, Switch

SOURCE = Path(__file__).parents[2] / "src" / "regard"
EVERY = pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=CHAPTERS)


def panel(name, title, **values):
    found = [one for one in find_chapter(name).show(values) if one["title"].startswith(title)]
    assert len(found) == 1, [one["title"] for one in found]
    return found[0]


def rows(name, title, **values):
    return {row[0]: row[1:] for row in panel(name, title, **values)["rows"]}


def check(panels):
    """Check that a page can draw it: matrices are rectangular, lines have a place for every number."""
    json.dumps(panels, allow_nan=False)
    for one in panels:
        if one["kind"] == "matrix":
            assert len(one["values"]) == len(one["rows"])
            assert all(len(row) == len(one["columns"]) for row in one["values"])
        if one["kind"] == "chart":
            assert all(len(line["xs"]) == len(line["ys"]) for line in one["lines"])
        if one["kind"] == "table":
            assert all(len(row) == len(one["heads"]) for row in one["rows"])


@EVERY
def test_a_chapter_and_all_its_attempts_can_be_drawn(chapter):
    check(chapter.show({}))
    for attempt in chapter.attempts:
        check(chapter.show(attempt.values))


@EVERY
def test_a_chapter_names_claims_that_exist_and_a_file_that_exists(chapter):
    assert chapter.claims and set(chapter.claims) <= set(load_claims())
    assert (SOURCE / chapter.layer).is_file()


@EVERY
def test_the_same_values_give_the_same_panels(chapter):
    assert chapter.show({}) == chapter.show({})


@EVERY
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_setting_of_the_controls_can_be_drawn(chapter, data):
    values = {}
    for control in chapter.controls:
        if isinstance(control, Slider):
            steps = round((control.high - control.low) / control.step)
            values[control.name] = str(
                control.low + control.step * data.draw(st.integers(0, steps))
            )
        elif isinstance(control, Choice):
            values[control.name] = data.draw(st.sampled_from(control.options))
        elif isinstance(control, Switch):
            values[control.name] = data.draw(st.sampled_from(("on", "off")))
        else:
            values[control.name] = data.draw(st.sampled_from(("a", "a b a c", "ein kurzer Satz")))
    check(chapter.show(values))


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("sinusoids", {"shift": "65"}, "from 0 to 64"),
        ("sinusoids", {"shift": "nan"}, "from 0 to 64"),
        ("sinusoids", {"shift": "<b>"}, "is a number"),
        ("masks", {"method": "magic"}, "is one of"),
        ("masks", {"hides_future": "yes"}, "on or off"),
        ("attention", {"source": " "}, "1 to 12 words. Got 0"),
        ("attention", {"source": "a " * 13}, "Got 13"),
        ("attention", {"source": "a" * 1000}, "words"),
        ("attention", {"depth": "3"}, "no control"),
        ("magic", {}, "no chapter"),
    ],
)
def test_other_values_are_refused_by_name(name, values, said):
    with pytest.raises(UsageError, match=said):
        find_chapter(name).show(values)


def test_chapters_are_numbered_in_the_order_of_the_documents():
    found = list_chapters()
    assert [one["number"] for one in found] == list(range(1, len(CHAPTERS) + 1))
    documents = [one["source"][:2] for one in found]
    assert documents == sorted(documents)


# ── each computes what it says ───────────────────────────────────────────────────────────────────


def test_weights_of_attention_sum_to_one_and_argmax_picks_one():
    for row in panel("attention", "Weights")["values"]:
        assert math.isclose(sum(row), 1, abs_tol=1e-4)
    for row in panel("attention", "Weights", select="argmax")["values"]:
        assert sorted(row)[-1] == 1 and sum(row) == 1


def test_the_shift_operator_fits_sinusoids_and_no_learned_table():
    assert float(panel("sinusoids", "T(7) e", shift="7")["note"].split()[-1].rstrip(".")) < 1e-6
    note = panel("sinusoids", "T(7) e", shift="7", table="learned table")["note"]
    assert float(note.split()[-1].rstrip(".")) > 0.1


def test_wrong_masks_leak_and_the_right_one_does_not():
    leaks = {
        method: float(
            rows("masks", "Does it hide?", method=method, length="40")[
                "attention on hidden keys (mean of rows)"
            ][0].rstrip("%")
        )
        for method in ("scores to -∞", "scores to 0", "weights to 0, renormalised")
    }
    assert leaks["scores to -∞"] == leaks["weights to 0, renormalised"] == 0
    assert 30 < leaks["scores to 0"] < 50


def test_parameters_of_the_base_model_are_63_million_whatever_the_heads():
    for heads in ("1", "16"):
        assert rows("parameters", "63.0 million", heads=heads)["all"][0] == "63,045,632"


def test_attention_costs_as_much_as_an_lstm_at_twice_the_width():
    assert rows("cost", "Self-attention costs less", width="128")["LSTM"][0] == "256 = 2·d"


def test_receptive_fields_follow_the_formula():
    for heads, residual, expected in ((1, "off", 1), (1, "on", 16), (2, "on", 81), (3, "off", 81)):
        found = panel("receptive-field", "Size", heads=str(heads), residual=residual, length="128")
        assert found["lines"][0]["ys"][-1] == expected


def test_berts_input_is_the_sum_of_three_tables():
    assert rows("bert-input", "Counts")[
        "largest difference of the layer from the sum of its tables"
    ] == ["0.0e+00"]


def test_without_positions_order_does_not_matter_and_with_any_scheme_it_does():
    figure = "largest change of a weight between the same two words"
    for scheme in ("none", "added", "concatenated", "rotary", "ALiBi", "relative table"):
        change = float(rows("positions", "Does order matter?", scheme=scheme)[figure][0])
        assert (change < 1e-6) == (scheme == "none"), scheme


def test_masked_words_are_those_that_are_asked_for():
    read = panel("masked-words", "What the model reads", share="50")["words"]
    asked = panel("masked-words", "What it is asked for", share="50")["words"]
    assert [bool(mark) for _, mark in read] == [bool(mark) for _, mark in asked]
    assert all(word == "[MASK]" for word, mark in read if mark == "masked")


@pytest.mark.parametrize(("masked", "marks"), [("100", {"masked"}), ("0", {"kept"})])
def test_chosen_words_are_marked_by_what_happened_to_them(masked, marks):
    read = panel("masked-words", "What the model reads", masked=masked, replaced="0")["words"]
    assert {mark for _, mark in read} - {""} == marks
    assert {word == "[MASK]" for word, mark in read if mark} == {masked == "100"}


def test_the_unscaled_softmax_of_a_large_key_is_saturated():
    found = rows("scaling", "Means", size="1024")
    assert float(found["q·k"][0]) > 0.9
    assert float(found["q·k / √d"][0]) < 0.2
