"""Rehearsals take real steps on made-up text of the right shape."""

import pytest

from regard.account.facts import facts_of
from regard.recipe.load import load
from regard.training import rehearsal as stage
from regard.training.rehearsal import Pages, pace, pace_on_data, rehearsal, seconds_per_step

SMALL = ["model.width=16", "model.feed_forward=16", "training.batch_tokens=128"]


@pytest.fixture
def recipe():
    return load("scenes", [*SMALL, "text.vocabulary=300"])


def test_the_vocabulary_and_the_batches_are_the_recipes(recipe, tmp_path):
    stepper, state = rehearsal(recipe, Pages(300, 16, even=True), tmp_path)
    assert stepper.task.tokenizer.size == 300
    batch = stepper.task.batch(stepper.store, stepper.stream[0], (1,))
    assert abs(batch.fields[0].ids.shape[1] - 16) <= 2
    before = {name: w.detach().clone() for name, w in state.parameters.items()}
    stepped = stepper.take(state, 0)
    assert stepped.finite
    assert any((before[name] != w).any() for name, w in state.parameters.items())


def test_texts_differ_in_length_unless_they_are_to_be_even(recipe, tmp_path):
    stepper, _ = rehearsal(recipe, Pages(300, 20), tmp_path)
    lengths = {len(stepper.store[number][0]) for number in range(len(stepper.store))}
    assert len(lengths) > 3


def test_shards_are_timed_by_one_and_the_move_is_counted_once(recipe, monkeypatch):
    monkeypatch.setattr(stage, "timed", lambda *_, **__: (5.0, 11.0))
    monkeypatch.setattr(stage, "_moving", lambda state: 1.0)
    parted = recipe.training.model_copy(update={"shards": 4})
    found = seconds_per_step(recipe.model_copy(update={"training": parted}), Pages(300, 16))
    assert found == (4 * 5.0 - 3 * 1.0, 44.0)


def test_slow_deep_models_are_timed_by_shallow_ones(recipe, monkeypatch):
    def costs(made, pages, **_):
        return 1.0 + 10.0 * made.model.depth + 100.0 * made.model.decoder_depth, 7.0

    monkeypatch.setattr(stage, "seconds_per_step", costs)
    monkeypatch.setattr(stage, "SLOW", 0.0)
    model = recipe.model.model_copy(update={"depth": 5, "decoder_depth": 3})
    deep = recipe.model_copy(update={"model": model})
    found = pace(deep, facts_of(deep))
    assert found.step == pytest.approx(1.0 + 50.0 + 300.0)
    assert "shallower" in found.how


def test_real_data_says_how_long_an_epoch_is(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "pairs.tsv").write_text("".join(f"a {n} b\tc {n} d\n" for n in range(60)))
    recipe = load(
        "scenes", [*SMALL, f'data.train=["{tmp_path}/pairs.tsv"]', "data.valid=[]", "data.test=[]"]
    )
    complete, facts, found = pace_on_data(recipe)
    assert found.steps_per_epoch > 1
    assert found.step > 0
    assert facts.written <= facts.vocabulary
    assert complete.task == "translation"
