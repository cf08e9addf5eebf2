import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.recipe.load import make
from regard.tasks.kinds import make_task
from regard.tasks.labelling.documents import encode_documents, head_tail_of_document, joined, parts
from regard.text.special import CLS, SEP
from regard.text.train import train_tokenizer

TEXT = "The soup was cold. Nobody came! Was it late? yes it was late"


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer([TEXT], kind="words", vocabulary=400)


def recipe(**model):
    settings = {
        "width": 8,
        "depth": 1,
        "feed_forward": 13,
        "mixer": {"kind": "attention", "heads": 2},
    }
    return make(
        {
            "task": "classification",
            "data": {"train": ["x.tsv"], "labels": ["a", "b"]},
            "text": {"max_length": 40, "tokenizer": "words", "overlong": "head-tail"},
            "model": {**settings, **model},
        }
    )


def han(**documents):
    return recipe(head={"pooling": "attention"}, documents={"read": "sentences", **documents})


def test_a_document_is_its_sentences_with_sep_between(tokenizer):
    (ids,) = encode_documents(tokenizer, [TEXT], words=50)
    assert ids.count(SEP) == 2
    pieces = [[]]
    for id in ids:
        if id == SEP:
            pieces.append([])
        else:
            pieces[-1].append(id)
    assert tokenizer.decode_batch(pieces) == [
        "The soup was cold.",
        "Nobody came!",
        "Was it late? yes it was late",
    ]


def test_a_long_sentence_is_read_as_several(tokenizer):
    (ids,) = encode_documents(tokenizer, ["soup " * 100], words=17)
    lengths = [
        len(run.split()) for run in " ".join("S" if i == SEP else "w" for i in ids).split("S")
    ]
    assert sum(lengths) == 100 and max(lengths) <= 17 and max(lengths) - min(lengths) <= 1


@given(st.integers(0, 500), st.integers(1, 60))
def test_parts_cover_and_fit(count, most):
    ids = list(range(count))
    found = list(parts(ids, most))
    assert [id for part in found for id in part] == ids
    assert max(map(len, found)) <= most
    assert max(map(len, found)) - min(map(len, found)) <= 1


@given(st.lists(st.integers(7, 9), max_size=30), st.integers(4, 12))
def test_the_head_and_the_tail_do_not_make_one_sentence(ids, most):
    found = head_tail_of_document(ids, most)
    assert len(found) <= most
    if len(ids) > most:
        assert found[most // 4] == SEP and len(found) == most


def test_nothing_is_put_around_empty_sentences():
    assert joined([[], [7], [], [8, 9]]) == [7, SEP, 8, 9]
    assert joined([[]]) == []


def test_a_row_is_a_document(tokenizer):
    task = make_task(han(words=3), tokenizer)
    ((label,), row) = task.encode([(TEXT, "b")])[0]
    assert label == 1 and row[0] == CLS and row[-1] == SEP and len(row) <= 40
    assert task.encoding_key != make_task(recipe(), tokenizer).encoding_key
    assert task.encoding_key != make_task(han(words=4), tokenizer).encoding_key


def test_the_store_of_whole_texts_keeps_its_name(tokenizer):
    assert make_task(recipe(), tokenizer).encoding_key[-2:] == ("head-tail", "40")


@pytest.mark.parametrize("kind", ["none", "frobenius", "off-diagonal", "kl"])
def test_the_penalty_counts_in_training_only(tokenizer, kind):
    hops = {"hops": 3, "features": 5, "penalty": kind, "penalty_weight": 0.7}
    settings = recipe(dropout=0.0, head={"pooling": "hops", "hops": hops, "dropout": 0.0})
    task = make_task(settings, tokenizer)
    torch.manual_seed(0)
    model = task.build()
    batch = task.pad([task.encode([(TEXT, label)])[0] for label in "ab"])
    model.eval()
    answered = task.loss(model, batch)
    model.train()
    training = task.loss(model, batch)
    assert answered.plain == pytest.approx(training.plain)
    smoothed = settings.training.label_smoothing
    from regard.models.self_attentive import forward_with_penalty

    passed = forward_with_penalty(model, lambda: task.states(model, batch), penalty=kind)
    lost = task.labels.lost(passed.logits, torch.eye(2), smoothing=smoothed).sum()
    expected = lost + 0.7 * passed.penalty.sum() * (kind != "none")
    assert training.smoothed.item() == pytest.approx(expected.item(), rel=1e-5)
    assert (kind == "none") == (passed.penalty.abs().max().item() == 0)


def test_a_document_of_one_sentence_of_ten_thousand_words_is_cut(tokenizer):
    task = make_task(han(), tokenizer)
    model = task.build()
    (answer,) = task.answer(model, ["soup " * 10_000], truncate=True)
    assert answer.truncated > 9_900 and answer.text in "ab"


def test_a_batch_may_hold_a_document_without_words(tokenizer):
    task = make_task(han(), tokenizer)
    model = task.build().eval()
    batch = task.pad([([0], [CLS, SEP]), task.encode([(TEXT, "b")])[0]])
    assert task.states(model, batch).isfinite().all()
    assert np.isfinite(task.loss(model.train(), batch).plain)
