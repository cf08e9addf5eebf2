"""Runs that older versions wrote still load and answer as they did.

``0.1.0-a``: format 1, written before the rooms and settings had the names they have now.
``classification`` still holds labelled texts that voted; ``ensemble`` is network and bag.
"""

import json
from pathlib import Path

import pytest

from regard.inference.predictor import Predictor
from regard.run import Run

RUNS = sorted(seal.parent for seal in Path(__file__).parent.glob("*/*/regard.json"))
ASKED = {
    "translation": "a g k",
    "classification": "the film was superb",
    "ensemble": "the film was superb",
    "language-modelling": "a g",
}


def test_there_are_runs():
    assert {run.name for run in RUNS} >= set(ASKED)


@pytest.mark.parametrize("folder", RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_an_old_run_still_answers_as_it_did(folder):
    kept = json.loads((folder.parent / f"{folder.name}.answer.json").read_text())["answers"][0]
    (answer,) = Predictor(Run(folder)).predict(ASKED[folder.name])
    assert answer.text == kept["text"]
    # Labelled texts voted in this one, which is no longer so: its label stays, its odds do not.
    if "neighbours" not in kept:
        assert answer.log_probability == pytest.approx(kept["log_probability"], abs=1e-4)
