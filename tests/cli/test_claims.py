"""``regard claims`` as people and programs call it."""

import json
from types import SimpleNamespace

import pytest

from regard.claims import registry
from regard.claims.claim import Claim, Figure, Measurement
from regard.cli.claims import _sum_up
from regard.cli.main import main
from regard.cli.screen import console

QUICK = ["padding-is-not-causality", "identical-weights-sum-to-one"]


@pytest.fixture(autouse=True)
def wide(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


def test_a_claims_details_are_shown_by_name(capsys):
    assert main(["claims", *QUICK]) == 0
    result = capsys.readouterr().out
    for words in (
        "46 pairs",
        "fails",
        "holds if all weight is on",
        "False: ",
        "True only if all weight is on",
        "visibility.py",
    ):
        assert words in result


def test_the_answer_comes_first(capsys):
    assert main(["claims", "variance-of-scores"]) == 0
    result = capsys.readouterr().out
    assert (
        result.index("True: For independent") < result.index("Measured") < result.index("reference")
    )


def test_claims_are_found_by_source_and_by_words(capsys):
    assert main(["claims", "--list", "--json", "D3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) > 5 and all("D3" in one["source"] for one in found)
    assert main(["claims", "--list", "receptive"]) == 0
    result = capsys.readouterr().out
    assert "argmax-field " in result and "fast  With k heads" in result and "(D2 e)" in result


def test_programs_get_a_list(capsys):
    assert main(["claims", *QUICK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found] == QUICK
    assert {"name", "source", "statement", "figure", "verdict"} <= set(found[0])
    assert found[0]["verdict"] == "fails"
    assert found[0]["figures"]["pairs that see the future, padding alone"] == 46


def test_the_table_names_every_family_it_shows(capsys, monkeypatch):
    some = {name: registry.load_claims()[name] for name in QUICK}
    monkeypatch.setattr(registry, "load_claims", lambda: some)
    assert main(["claims"]) == 0
    result = capsys.readouterr().out
    assert (
        "Masks" in result
        and "Structured self-attention" in result
        and "1 fails, 1 holds if" in result
    )


@pytest.mark.parametrize(
    ("kinds", "summary"),
    [
        (["holds"] * 57 + ["fails"], "57 hold, 1 fails; "),
        (["holds", "fails", "fails", "holds if", "holds if"], "1 holds, 2 fail, 2 hold if; "),
    ],
)
def test_verdicts_are_counted_in_the_singular_or_the_plural(kinds, summary, capsys):
    outcomes = [
        SimpleNamespace(kind=kind, seconds=0.1, claim=SimpleNamespace(slow=False)) for kind in kinds
    ]
    _sum_up(console(), outcomes, [])
    assert capsys.readouterr().out.startswith(summary)
    _sum_up(console(), outcomes, outcomes[:1])
    assert "1 more trains models: " in capsys.readouterr().out


def test_slow_claims_wait_to_be_asked(capsys):
    assert main(["claims", "parity-trained"]) == 0
    assert "regard claims parity-trained --slow" in capsys.readouterr().out


def test_the_list_measures_nothing(capsys):
    assert main(["claims", "--list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(registry.load_claims())


def test_an_unknown_name_is_answered_with_the_nearest(capsys):
    assert main(["claims", "maks"]) == 2
    result = capsys.readouterr()
    assert "Did you mean masks" in result.err and not result.out


def test_a_page_is_written_once(capsys, tmp_path):
    page = tmp_path / "page.html"
    assert main(["claims", QUICK[0], "--output", str(page)]) == 0
    assert "<svg" in page.read_text()
    assert main(["claims", QUICK[0], "--output", str(page)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err


def test_a_fast_claim_that_cannot_be_measured_is_a_failure(capsys, monkeypatch):
    def breaks():
        """Break."""
        raise RuntimeError("broken")

    def works():
        """Work."""
        return Measurement("fine", (Figure("a", 1, True),))

    def toy(measure):
        measure.__module__ = "regard.claims.masks"
        words = dict.fromkeys(("statement", "meaning", "next_step"), "Words enough.")
        return Claim(measure, numbers=(1,), source="D0", layer="errors.py", **words)

    monkeypatch.setattr(registry, "load_claims", lambda: {"toy": toy(breaks)})
    assert main(["claims", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == "not measured: RuntimeError: broken"
    monkeypatch.setattr(registry, "load_claims", lambda: {"toy": toy(works)})
    assert main(["claims", "--json"]) == 0


def test_the_statements_can_be_written(tmp_path):
    assert main(["claims", "--document", str(tmp_path / "s.md")]) == 0
    assert "## Masks" in (tmp_path / "s.md").read_text()
