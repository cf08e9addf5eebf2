"""Slow claims are remembered by what they are made of, and go on where they stopped."""

import json

import pytest

from regard.claims import measuring, trials
from regard.claims.claim import Claim, Curves, Figure, Measurement
from regard.claims.measuring import from_json, load_cached, measure, measure_all, to_json
from regard.claims.recipes import classification
from regard.claims.trials import accuracy, run_trial, to_jsonl, watch_trials
from regard.draw.bars import Bars
from regard.draw.chart import Curve
from regard.draw.picture import Picture
from regard.training.watcher import SilentWatcher

CALLS = []


def counted():
    """Count the calls."""
    CALLS.append(1)
    return Measurement(f"call {len(CALLS)}", (Figure("calls", len(CALLS), True),))


def broken():
    """Break."""
    raise RuntimeError("a layer\nbroke")


def claim(measure, **more):
    words = dict.fromkeys(("statement", "meaning", "next_step"), "Words enough for this.")
    return Claim(measure, numbers=(1,), source="D0", layer="errors.py", **words, **more)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    CALLS.clear()


def test_what_breaks_is_part_of_the_outcome():
    outcome = measure(claim(broken))
    assert (outcome.kind, outcome.problem) == ("not measured", "RuntimeError: a layer")
    assert outcome.as_json()["figure"] is None


def test_measuring_leaves_the_random_state_alone():
    import torch

    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    measure(claim(lambda: Measurement(str(torch.randn(1)), (Figure("a", 1, True),))))
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_slow_claim_is_measured_only_if_asked_and_only_once():
    slow = claim(counted, slow=True)
    (unasked,) = measure_all([slow], slow=False)
    assert (unasked.measurement, unasked.problem, CALLS) == (None, "", [])
    first, second = (next(measure_all([slow], slow=asked)) for asked in (True, False))
    assert first.measurement == second.measurement == load_cached(slow).measurement
    assert len(CALLS) == 1


def test_another_version_or_other_code_is_measured_again(monkeypatch):
    slow = claim(counted, slow=True)
    list(measure_all([slow], slow=True))
    monkeypatch.setattr(measuring, "__version__", "99")
    assert load_cached(slow) is None
    monkeypatch.undo()


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Stand in for the package's source."""
    folder = tmp_path / "package"
    for name in ("layers/attention.py", "training/step.py", "run.py", "cli/train.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a = 1\n")
    monkeypatch.setattr(trials, "SOURCE", folder)
    trials.source_hash.cache_clear()
    yield folder
    trials.source_hash.cache_clear()


@pytest.mark.parametrize("name", ["layers/attention.py", "training/step.py", "run.py"])
def test_changed_code_of_what_trains_is_measured_and_trained_again(source, name):
    slow = claim(counted, slow=True)
    list(measure_all([slow], slow=True))
    trained = trials.trial_folder("toy", tables(), FILES)
    assert load_cached(slow) is not None
    (source / name).write_text("a = 2\n")
    trials.source_hash.cache_clear()
    assert load_cached(slow) is None
    assert trials.trial_folder("toy", tables(), FILES) != trained


def test_changed_code_of_the_terminal_is_measured_no_second_time(source):
    slow = claim(counted, slow=True)
    list(measure_all([slow], slow=True))
    (source / "cli/train.py").write_text("a = 2\n")
    trials.source_hash.cache_clear()
    assert load_cached(slow) is not None


def test_the_code_that_two_claims_share_is_part_of_both():
    from regard.claims.attention import head_training

    found = measuring.claims_modules(head_training.__name__)
    assert {"regard.claims.transformer.translator", "regard.claims.trials"} <= found
    assert "regard.claims.documents.context" not in found


def test_a_spoilt_memory_is_no_memory():
    slow = claim(counted, slow=True)
    list(measure_all([slow], slow=True))
    measuring._cache_file(slow).write_text("{")
    assert load_cached(slow) is None


def test_a_slow_claim_that_breaks_is_not_remembered():
    slow = claim(broken, slow=True)
    list(measure_all([slow], slow=True))
    assert load_cached(slow) is None


@pytest.mark.parametrize(
    "drawing",
    [
        None,
        Bars("bars", (("a", 1), ("b", 2.5))),
        Curves("curves", "x", (Curve("l", [1, 2], [3.0, 4.0], [2, 3], [4, 5]),)),
        Picture(["r"], ["c", "d"], [[0.1, 0.2]], "map"),
    ],
)
def test_what_was_measured_comes_back_from_json(drawing):
    found = Measurement(
        "name", (Figure("a", 1, True, given=2, note="n"), Figure("b", 0.5)), drawing
    )
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


ROWS = [(f"{word} {n}", word) for word in ("yes", "no") for n in range(40)]


def tables():
    made = classification(
        30, longest=8, width=8, feed_forward=8, depth=1, mixer={"kind": "attention", "heads": 2}
    )
    made["training"]["checkpoints"] = 10
    return made


FILES = {"train.jsonl": to_jsonl(ROWS), "valid.jsonl": to_jsonl(ROWS[:10])}


class Counter(SilentWatcher):
    def __init__(self, stop_at=None):
        self.steps, self.stop_at, self.said = [], stop_at, []

    def say(self, text):
        self.said.append(text)

    def step(self, progress):
        self.steps.append(progress.step)
        if progress.step == self.stop_at:
            raise KeyboardInterrupt


def test_an_interrupted_trial_continues_and_a_finished_one_is_opened_again():
    first, second, third = Counter(stop_at=17), Counter(), Counter()
    with watch_trials(first), pytest.raises(KeyboardInterrupt):
        run_trial("toy", tables(), FILES)
    with watch_trials(second):
        run = run_trial("toy", tables(), FILES)
    assert 1 < second.steps[0] <= 18 and second.steps[-1] == 30
    assert second.said[0].startswith("toy: ")
    with watch_trials(third):
        again = run_trial("toy", tables(), FILES)
    assert third.steps == [] and again.folder == run.folder
    assert 0.0 <= accuracy(run, ROWS) <= 1.0
    assert not (run.folder / "checkpoints").exists()


def test_other_tables_or_other_texts_are_another_trial():
    fewer = {**FILES, "train.jsonl": to_jsonl(ROWS[1:])}
    folders = {run_trial("toy", tables(), files).folder for files in (FILES, fewer)}
    assert len(folders) == 2
    assert all(folder.is_relative_to(trials.cache_folder()) for folder in folders)
