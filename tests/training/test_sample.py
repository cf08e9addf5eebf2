"""The first texts of the data represent all of it."""

import json

import numpy as np
import pytest

from regard.errors import DataError, UsageError
from regard.recipe.load import load
from regard.training import sample
from regard.training.sample import read_sample

SMALL = ["training.batch_tokens=211", "text.vocabulary=307", "data.valid=[]", "data.test=[]"]


@pytest.fixture
def reviews(tmp_path):
    """Make a recipe for texts of drawn lengths, as many as asked, the first label first."""

    def made(count, *sets, labels="abc"):
        rng = np.random.default_rng(3)
        file = tmp_path / "texts.jsonl"
        with file.open("w") as lines:
            for number in range(count):
                text = " ".join(["word"] * int(rng.integers(3, 41)))
                label = labels[number * len(labels) // count]
                lines.write(json.dumps({"text": text, "label": label}) + "\n")
        return load("reviews-scratch", [*SMALL, f'data.train=["{file}"]', *sets])

    return made


def test_if_there_is_no_more_it_is_what_training_would_read(reviews, tmp_path):
    found = read_sample(reviews(59, "data.holdout=0.3"), tmp_path)
    assert found.whole
    assert found.vocabulary == found.prepared.task.tokenizer.size < 307
    assert found.examples == len(found.prepared.store) < 59  # some are held out
    assert found.prepared.task.recipe.data.labels == ("a", "b", "c")


def test_if_there_is_more_the_vocabulary_is_the_recipes(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MAX_TEXTS", 23)
    found = read_sample(reviews(59), tmp_path)
    assert (found.whole, found.examples, found.vocabulary) == (False, 23, None)
    assert found.prepared.task.tokenizer.size == 307
    assert len(found.prepared.store) % 23 == 0  # again and again
    assert found.prepared.stream.steps_per_epoch > sample.MIN_BATCHES / 2


def test_it_ends_with_so_many_characters(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE_CHARACTERS", 701)
    assert read_sample(reviews(59), tmp_path).examples == 59  # so few are all read
    monkeypatch.setattr(sample, "MAX_CHARACTERS", 1009)
    found = read_sample(reviews(59), tmp_path)
    assert not found.whole
    assert 701 / (40 * 5) < found.examples < 1009 / (3 * 5)


def test_what_training_leaves_out_is_left_out(reviews, tmp_path):
    found = read_sample(reviews(59, 'text.overlong="leave-out"', "text.max_length=17"), tmp_path)
    store = found.prepared.store
    assert 0 < len(store) < found.examples
    assert max(len(store[number][1]) for number in range(len(store))) <= 17


def padding(prepared):
    """Share of all batches' places where nothing stands."""
    task, store, stream = prepared.task, prepared.store, prepared.stream
    batches = [task.batch(store, stream[n], (1,)) for n in range(stream.steps_per_epoch)]
    texts = [batch.fields[1] for batch in batches]
    return 1 - sum(text.tokens for text in texts) / sum(text.ids.numel() for text in texts)


def test_a_part_is_padded_as_little_as_all_of_it(reviews, tmp_path, monkeypatch):
    recipe = reviews(1009, "training.batch_tokens=997")
    whole = padding(read_sample(recipe, tmp_path).prepared)
    monkeypatch.setattr(sample, "MAX_TEXTS", 101)
    assert padding(read_sample(recipe, tmp_path).prepared) == pytest.approx(whole, abs=0.03)
    monkeypatch.setattr(sample, "MIN_BATCHES", 1)
    assert padding(read_sample(recipe, tmp_path).prepared) > whole + 0.1


def test_data_sorted_by_label_can_be_sampled(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MAX_TEXTS", 7)
    found = read_sample(reviews(59), tmp_path)
    assert not found.labelled
    assert len(found.prepared.task.recipe.data.labels) == 2
    with pytest.raises(DataError, match="two labels"):
        read_sample(reviews(5, labels="a"), tmp_path)


def test_a_long_text_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE_CHARACTERS", 997)
    monkeypatch.setattr(sample, "MAX_CHARACTERS", 1009)
    file = tmp_path / "text.txt"
    file.write_text("abcde" * 499)
    found = read_sample(
        load("shakespeare", [f'data.train=["{file}"]', "text.max_length=13"]), tmp_path
    )
    assert len(found.prepared.store.flat(0)) % 998 == 0  # its end is a token too
    assert found.vocabulary == 263  # letters are bytes, and those are tokens anyway
    assert not found.whole


def test_what_is_not_there_is_said(tmp_path):
    recipe = load("reviews-scratch", [f'data.train=["{tmp_path}/none.jsonl"]'])
    with pytest.raises(UsageError, match=r"none\.jsonl"):
        read_sample(recipe, tmp_path)
