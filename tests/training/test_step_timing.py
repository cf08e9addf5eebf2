"""Timed steps are real ones, on the first texts of the data or on synthetic ones."""

import numpy as np
import pytest

from regard.account.facts import facts_of, load_of
from regard.data.windows import Windows
from regard.ledger.load import Load
from regard.recipe.load import load
from regard.training import step_timing
from regard.training.step_timing import (
    build_training,
    measure_pace,
    representative_steps,
    seconds_per_step,
    time_on_data,
    time_on_sample,
    typical_load,
)
from regard.training.synthetic_data import TextShape, make_synthetic_data

SMALL = ["model.width=16", "model.feed_forward=16", "training.batch_tokens=128"]


@pytest.fixture
def recipe():
    return load("scenes", [*SMALL, "text.vocabulary=300"])


@pytest.fixture
def paired(tmp_path, monkeypatch):
    """Make a recipe whose data are pairs of different lengths on either side."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    pairs = "".join(f"a {n} b {'c ' * (n % 7)}\td {n} e f g h i j k\n" for n in range(60))
    (tmp_path / "pairs.tsv").write_text(pairs)
    file = f'["{tmp_path}/pairs.tsv"]'
    return load("scenes", [*SMALL, f"data.train={file}", f"data.valid={file}", "data.test=[]"])


def test_the_vocabulary_and_the_batches_are_the_recipes(recipe, tmp_path):
    prepared = make_synthetic_data(recipe, TextShape(300, 16, equal=True), tmp_path)
    stepper, state = build_training(prepared.task.recipe, prepared)
    assert stepper.task.tokenizer.size == 300
    batch = stepper.task.batch(stepper.store, stepper.stream[0], (1,))
    assert abs(batch.fields[0].ids.shape[1] - 16) <= 2
    before = {name: w.detach().clone() for name, w in state.parameters.items()}
    result = stepper.take(state, 0)
    assert result.finite
    assert any((before[name] != w).any() for name, w in state.parameters.items())


def test_texts_differ_in_length_unless_they_are_to_be_equal(recipe, tmp_path):
    store = make_synthetic_data(recipe, TextShape(300, 20), tmp_path).store
    assert len({len(store[number][0]) for number in range(len(store))}) > 3


def test_shards_are_timed_by_one_and_the_optimizer_is_counted_once(recipe, monkeypatch, tmp_path):
    taken = []

    def time_steps(stepper, state, **_):
        taken.append(stepper.recipe.training)
        return 5.0, 11.0

    monkeypatch.setattr(step_timing, "time_steps", time_steps)
    monkeypatch.setattr(step_timing, "_time_optimizers", lambda state: 1.0)
    parted = recipe.training.model_copy(update={"shards": 4})
    recipe = recipe.model_copy(update={"training": parted})
    found = seconds_per_step(make_synthetic_data(recipe, TextShape(300, 16), tmp_path))
    assert found == (4 * 5.0 - 3 * 1.0, 44.0)
    assert [(one.shards, one.batch_tokens) for one in taken] == [(1, 32)]


def test_slow_deep_models_are_timed_by_shallow_ones(recipe, monkeypatch, tmp_path):
    def costs(prepared):
        model = prepared.task.recipe.model
        return 1.0 + 10.0 * model.depth + 100.0 * model.decoder_depth, 7.0

    monkeypatch.setattr(step_timing, "seconds_per_step", costs)
    monkeypatch.setattr(step_timing, "SLOW", 0.0)
    model = recipe.model.model_copy(update={"depth": 5, "decoder_depth": 3})
    deep = recipe.model_copy(update={"model": model})
    prepared = make_synthetic_data(deep, TextShape(300, 16), tmp_path)
    found = measure_pace(prepared, facts_of(deep), load_of(deep), on="synthetic text")
    assert found.step == pytest.approx(1.0 + 50.0 + 300.0)
    assert "shallower" in found.how


def test_the_first_few_steps_represent_all_of_an_epoch():
    class Shuffled(Windows):
        def __getitem__(self, step):
            return np.arange(1 + 31 * step % 127)

    stream = Shuffled(127 * 3 + 2, context=3, seed=1, batch_tokens=3)
    assert stream.steps_per_epoch == 127
    rows = [len(stream[step]) for step in representative_steps(stream)]
    assert rows[:3] == [64, 32, 96]
    assert sorted(rows) == [n * 127 // 32 + 1 for n in range(1, 32)]


def test_a_typical_batch_is_the_one_nearest_to_the_mean(recipe):
    loads = [Load(rows, 11, target_length=11) for rows in (2, 3, 5, 29)]
    assert typical_load(recipe, facts_of(recipe), loads) == loads[2]


def test_the_first_texts_say_how_long_both_sides_are(paired):
    found = time_on_sample(paired, timed=True)
    assert found.pace.step > 0
    assert found.pace.steps_per_epoch > 1  # that was all of the data
    assert found.facts.vocabulary < paired.text.vocabulary
    reported = found.facts.assumed[-1]
    assert reported.startswith("lengths as in all 60 texts of the data: ")
    read, written = (int(word) for word in reported.split(": ")[1].split() if word.isdecimal())
    assert read < written
    assert found.load.target_length > found.load.length - 7


def test_all_of_the_data_says_the_same_as_its_first_texts_if_they_are_all(paired):
    sampled, read = time_on_sample(paired, timed=False), time_on_data(paired)
    assert sampled.pace is None
    assert sampled.load == read.load
    assert sampled.facts.vocabulary == read.facts.vocabulary
    assert read.facts.output_vocabulary <= read.facts.vocabulary
    assert read.pace.steps_per_epoch > 1
    assert read.recipe.task == "translation"
