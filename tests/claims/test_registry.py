"""Every statement of the inventory has a claim, and every claim says all it must."""

from pathlib import Path

import pytest

from regard.claims.claim import FAMILIES, Claim, Figure, Measured, drawing_of, kind_of, verdict
from regard.claims.document import document
from regard.claims.registry import chosen, claims
from regard.errors import UsageError

ROOT = Path(__file__).parents[2]
CLAIMS = claims()


def test_every_number_of_the_inventory_has_a_claim():
    assert {number for claim in CLAIMS.values() for number in claim.numbers} == set(range(1, 70))


def test_every_family_has_claims():
    assert {claim.family for claim in CLAIMS.values()} == set(FAMILIES)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_says_all_it_must(name):
    claim = CLAIMS[name]
    assert claim.documents
    assert (ROOT / "src" / "regard" / claim.layer).is_file()
    for words in (claim.statement, claim.method, claim.reading, claim.then):
        assert len(words) > 20 and words.endswith((".", "?", ")"))


def test_a_verdict_is_computed_from_the_figures_that_speak():
    def found(*votes):
        return Measured("", tuple(Figure(str(n), n, vote) for n, vote in enumerate(votes)))

    assert kind_of(found(True, None, True)) == "holds"
    assert kind_of(found(False, None)) == "fails"
    assert kind_of(found(True, False)) == "holds if"
    with pytest.raises(ValueError, match="speaks for or against"):
        kind_of(found(None))
    claim = CLAIMS["scaling-keeps-gradients"]
    assert verdict(claim, found(True, False)) == f"holds if {claim.condition}"


def test_a_claim_without_a_picture_is_drawn_as_bars():
    drawn = drawing_of(Measured("", (Figure("a", 3, True), Figure("b", 0.5))))
    assert drawn.rows == (("a", 3), ("b", 0.5))


def test_claims_go_by_name_family_and_number():
    assert [claim.name for claim in chosen(["laboratory-heads"])] == ["laboratory-heads"]
    assert {claim.family for claim in chosen(["masks"])} == {"masks"}
    assert {claim.name for claim in chosen(["52", "laboratory-heads"])} == {
        "laboratory-counts",
        "laboratory-heads",
    }


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="shift-operator"):
        chosen(["shift-operater"])


def test_the_statements_in_the_docs_are_fresh():
    written = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    assert written == document(), "write `regard claims --document docs/statements.md`"


def test_claims_are_data_that_cannot_be_changed():
    with pytest.raises(AttributeError):
        CLAIMS["masked-words"].name = "other"
    assert isinstance(CLAIMS["masked-words"], Claim)
