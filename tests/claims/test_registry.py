"""Every statement of the inventory has a claim, and every claim says all it must."""

from pathlib import Path

import pytest

from regard.claims.claim import (
    FAMILIES,
    Claim,
    Figure,
    Measurement,
    choose_drawing,
    judge,
    state_verdict,
)
from regard.claims.document import render_statements
from regard.claims.registry import load_claims, select_claims
from regard.errors import UsageError

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims()


def test_every_number_of_the_inventory_has_a_claim():
    assert {number for claim in CLAIMS.values() for number in claim.numbers} == set(range(1, 70))


def test_every_family_has_claims():
    assert {claim.family for claim in CLAIMS.values()} == set(FAMILIES)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_says_all_it_must(name):
    claim = CLAIMS[name]
    assert claim.documents
    assert (ROOT / "src" / "regard" / claim.layer).is_file()
    for words in (claim.statement, claim.method, claim.meaning, claim.next_step):
        assert len(words) > 20 and words.endswith((".", "?", ")"))


def test_a_verdict_is_computed_from_the_figures_that_test_it():
    def found(*votes):
        return Measurement("", tuple(Figure(str(n), n, vote) for n, vote in enumerate(votes)))

    assert judge(found(True, None, True)) == "holds"
    assert judge(found(False, None)) == "fails"
    assert judge(found(True, False)) == "holds if"
    with pytest.raises(ValueError, match="tests the statement"):
        judge(found(None))
    claim = CLAIMS["scaling-keeps-gradients"]
    assert state_verdict(claim, found(True, False)) == f"holds if {claim.condition}"


def test_a_claim_without_a_picture_is_drawn_as_bars():
    drawn = choose_drawing(Measurement("", (Figure("a", 3, True), Figure("b", 0.5))))
    assert drawn.rows == (("a", 3), ("b", 0.5))


def test_claims_go_by_name_family_and_number():
    assert [claim.name for claim in select_claims(["laboratory-heads"])] == ["laboratory-heads"]
    assert {claim.family for claim in select_claims(["masks"])} == {"masks"}
    assert {claim.name for claim in select_claims(["52", "laboratory-heads"])} == {
        "laboratory-counts",
        "laboratory-heads",
    }


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="shift-operator"):
        select_claims(["shift-operater"])


def test_the_statements_in_the_docs_are_fresh():
    written = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    assert written == render_statements(), "write `regard claims --document docs/statements.md`"


def test_claims_are_data_that_cannot_be_changed():
    with pytest.raises(AttributeError):
        CLAIMS["masked-words"].name = "other"
    assert isinstance(CLAIMS["masked-words"], Claim)
