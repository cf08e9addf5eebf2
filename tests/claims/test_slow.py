"""Every slow claim trains and is measured; three steps each, so that no figure means anything."""

import pytest

from regard.claims import trials
from regard.claims.measuring import measure
from regard.claims.registry import load_claims

SLOW = {name: claim for name, claim in load_claims().items() if claim.slow}


@pytest.fixture(scope="module", autouse=True)
def short_trials(tmp_path_factory):
    make = trials.make

    def make_short(tables):
        epochs = tables["training"]["budget"].endswith("epochs")
        short = {"budget": "3 epochs", "evaluations": 3} if epochs else {"budget": "3 steps"}
        average = min(tables["training"].get("average", 0), 2)
        training = {**tables["training"], "checkpoints": 3, "average": average, **short}
        return make({**tables, "training": training})

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(trials, "make", make_short)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_claim_can_be_measured(name):
    outcome = measure(SLOW[name])
    assert (outcome.problem, outcome.measurement is None) == ("", False)
