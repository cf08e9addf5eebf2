"""Totals explained: the papers' tables, counted again."""

import pytest

from regard.account.facts import facts_of
from regard.account.forensics import (
    BASE,
    TABLE_3,
    BuildChoices,
    Published,
    Shape,
    audit_lab,
    audit_table_3,
    common_vocabulary,
    explain_total,
    without_tokens,
)
from regard.account.parameters import parameters
from regard.errors import UsageError
from regard.recipe.load import load


def test_the_base_model_is_what_the_recipe_counts():
    recipe = load("transformer-base")
    assert parameters(recipe, facts_of(recipe)).total == 63_045_632
    assert without_tokens(BASE, BuildChoices()) == 44_101_632
    assert without_tokens(BASE, BuildChoices()) + 37_000 * 512 == 63_045_632


@pytest.mark.parametrize(
    ("choices", "total"),
    [
        (BuildChoices(), 63_045_632),
        (BuildChoices(attention_biases=True), 63_082_496),
        (BuildChoices(attention_biases=True, final_norms=True), 63_084_544),
        (BuildChoices(tables=3), 100_933_632),
    ],
)
def test_every_choice_has_its_total(choices, total):
    found = explain_total(Published(total), BASE, vocabulary=37_000)
    assert found[0].choices == choices
    assert found[0].total == total
    assert found[0].explains(Published(total))
    assert not found[1].explains(Published(total))


def test_table_3_agrees_on_one_vocabulary_but_for_the_big_row():
    rows = {row.name: row for row in audit_table_3()}
    family = [row for row in rows.values() if row.name != "big"]
    assert common_vocabulary(family) == (41_004, 41_208)
    assert common_vocabulary(list(rows.values())) is None
    assert rows["big"].counted == 214_171_648
    assert rows["big"].vocabulary == (35_368, 36_344)
    assert not any(row.vocabulary[0] <= 37_000 <= row.vocabulary[1] for row in rows.values())


@pytest.mark.parametrize("row", TABLE_3)
def test_a_vocabulary_at_the_edge_is_printed_so_and_one_beyond_is_not(row):
    shape, millions = TABLE_3[row]
    (found,) = [r for r in audit_table_3() if r.name == row]
    low, high = found.vocabulary
    rest = without_tokens(shape, BuildChoices())
    printed = [round((rest + v * shape.width) / 1e6) for v in (low - 1, low, high, high + 1)]
    assert printed[1:3] == [millions, millions]
    assert printed[0] < millions < printed[3]


def test_the_laboratorys_counts_and_the_documents():
    text, sentiment = audit_lab()
    assert (text.document, text.exact) == (21_650_401, 21_018_401)
    assert (sentiment.document, sentiment.exact) == (11_600_602, 10_968_602)
    documents = [audit_lab(heads=heads)[1] for heads in (1, 2, 4, 8)]
    assert [one.document for one in documents] == [10_960_602, 11_600_602, 12_880_602, 15_440_602]
    assert {one.exact for one in documents} == {10_968_602}


@pytest.mark.parametrize(
    ("name", "part", "published"),
    [
        ("transformer-base", "total", 63_045_632),
        ("lab-language-model", "total", 21_018_401),
        ("lab-sentiment", "total", 10_968_602),
        ("bert-tiny", "body", 4_385_920),
        ("bert-base", "body", 109_482_240),
        ("gpt2", "total", 124_439_808),
    ],
)
def test_recipes_of_the_papers_count_what_was_published(name, part, published):
    recipe = load(name)
    assert getattr(parameters(recipe, facts_of(recipe)), part) == published


def test_learned_positions_explain_gpt2():
    shape = Shape(768, 12, 3072, 12)
    found = explain_total(Published(124_439_808), shape, vocabulary=50_257, positions=1024)
    assert found[0].choices == BuildChoices(1, True, True, 1024)
    assert found[0].explains(Published(124_439_808))


@pytest.mark.parametrize(
    ("published", "shape"),
    [
        (Published(0), BASE),
        (Published(65_000_000), BASE._replace(width=0)),
        (Published(65_000_000), BASE._replace(heads=7)),
    ],
)
def test_shapes_that_are_none_are_refused(published, shape):
    with pytest.raises(UsageError):
        explain_total(published, shape)
