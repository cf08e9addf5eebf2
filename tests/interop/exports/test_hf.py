"""Runs with random weights of every kind equal transformers' own models to 1e-9 in float64."""

import pytest

from regard.interop.export import export_run, find_target
from regard.interop.exports import compare

from .kinds import KINDS

pytest.importorskip("transformers")


@pytest.fixture(autouse=True)
def few_answers(monkeypatch):
    """Compare few answers: each token of one costs a call of transformers."""
    monkeypatch.setattr(compare, "ANSWERED", 2)
    monkeypatch.setattr(compare, "LONGEST_ANSWER", 11)


@pytest.mark.parametrize("kind", KINDS)
def test_random_weights_are_equal(random_run, exact_transformers, tmp_path, kind):
    task, sets, architecture = KINDS[kind]
    run = random_run(task, *sets)
    target = find_target("hf")._replace(tolerance=1e-9)
    made = export_run(run, target, tmp_path / "hf")
    assert made.fit.architecture == architecture
    assert made.equality.same_tokens == made.equality.texts >= 20
    assert made.equality.largest <= 1e-9
