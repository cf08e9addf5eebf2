"""A body that tells the words of another part: parted as said, by frequency at first, then better."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.data.store import Store
from regard.recipe.load import make
from regard.tasks.examples import examples
from regard.tasks.kinds import make_task, make_tokenizer
from regard.tasks.pretraining.document_pretraining import FREQUENT, keep_probability, subsample
from regard.text import special
from regard.training.train import train

SEA, FARM = "ship wave sail salt harbour anchor tide", "cow barn hay plough field tractor hen"


def documents(count=60):
    rng = np.random.default_rng(0)
    for number in range(count):
        words = (SEA, FARM)[number % 2].split()
        yield " ".join(rng.choice(["the", "a", *words, *words], size=23 + number % 5))


def recipe(tmp_path, **changes):
    (tmp_path / "text.txt").write_text("\n\n".join(documents()) + "\n")
    tables = {
        "task": "document-pretraining",
        "data": {"train": [str(tmp_path / "text.txt")], "format": "text", "holdout": 0.2},
        "text": {"tokenizer": "words", "vocabulary": 300, "max_length": 19, "overlong": "head"},
        "model": {
            "width": 12,
            "depth": 0,
            "dropout": 0.0,
            "last_norm": False,
            "position": {"kind": "none"},
            "embedding": {"ngrams": 2, "ngram_rows": 101, "ngram_lazy": True},
            "head": {"pooling": "mean", "norm": True, "dropout": 0.0},
        },
        "training": {"budget": "40 steps", "batch_tokens": 400, "threads": 1, "evaluations": 1},
    }
    for table, values in changes.items():
        tables[table] = {**tables[table], **values} if isinstance(values, dict) else values
    return make(tables)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def ready(tmp_path):
    settings = recipe(tmp_path)
    source = examples(settings, "train")
    task = make_task(settings, make_tokenizer(settings, source))
    store = Store.open_or_write(tmp_path / "store", source, task.encode, key=("d",), longest=None)
    torch.manual_seed(0)
    model = task.build().double()
    task.prepare_model(model, store)
    return task, model, store, [text for (text,) in source()]


def test_targets_are_not_in_the_input_which_is_the_longer_side(ready):
    task, *_ = ready
    task.frequencies = torch.full((1000,), 1e-9)  # so rare that every word is asked for
    rng = np.random.default_rng(0)
    for length in (1, 2, 7, 16, 40):
        for _ in range(20):
            read, other = task.split(list(range(100, 100 + length)), rng)
            assert (read[0], read[-1]) == (special.CLS, special.SEP)
            inside = read[1:-1]
            assert not set(inside) & set(other)
            assert other == list(range(other[0], other[0] + len(other)))
            assert inside == list(range(inside[0], inside[0] + len(inside))) if inside else True
            longer = max(other[0] - 100, 100 + length - (other[-1] + 1))
            assert len(inside) == min(longer, 17)
            assert abs(len(other) - 0.45 * length) <= 0.15 * length + 0.5


def test_frequent_words_are_asked_for_less():
    frequencies = torch.tensor([FREQUENT, 100 * FREQUENT, 0.9], dtype=torch.float64)
    assert_close(
        keep_probability(frequencies),
        torch.tensor([1.0, 0.11, (1e-4 / 0.9) ** 0.5 + 1e-4 / 0.9]).double(),
        rtol=1e-6,
        atol=0,
    )
    assert_close(subsample(frequencies).sum().item(), 1.0)


def test_a_fresh_model_guesses_by_frequency_as_the_baseline_does(ready):
    task, model, _, texts = ready
    measured = task.measure(model, [(text,) for text in texts], quick=True)
    assert measured.metrics["loss"] == pytest.approx(measured.baseline["loss"], rel=1e-6)


def test_the_loss_is_the_sum_over_words_of_the_other_part(ready):
    task, model, store, _ = ready
    torch.manual_seed(1)
    torch.nn.init.normal_(model.head.to_logits.weight)
    batch = task.batch(store, np.array([0, 3, 5]), (7, 1))
    log_p = task.states(model, batch).log_softmax(-1)
    other, counts = batch.fields[1]
    expected = -sum(
        log_p[row, word] for row in range(3) for word in other[row, : counts[row]].tolist()
    )
    lost = task.loss(model, batch)
    assert_close(lost.smoothed, expected)
    assert lost.tokens == int(counts.sum())


def test_without_blocks_a_text_is_the_mean_of_its_vectors(ready):
    _, model, _, _ = ready
    torch.nn.init.normal_(model.body.reading.ngrams.tables[0])
    ids = torch.tensor([[2, 9, 11, 3]])
    seen = []
    model.head.norm.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    model(ids, lengths=torch.tensor([3]))
    assert_close(seen[0][0], model.body.reading(ids)[0, :3].mean(0))


def test_a_length_counts_only_without_the_last_norm(tmp_path):
    for last_norm in (True, False):
        settings = recipe(tmp_path, model={"last_norm": last_norm})
        task = make_task(settings, make_tokenizer(settings, examples(settings, "train")))
        body = task.build().body
        ids, visible = torch.tensor([[7, 8]]), torch.ones(1, 1, 1, 2, dtype=torch.bool)
        before = body(ids, visible=visible)
        with torch.no_grad():
            body.reading.table[7] *= 3
        after = body(ids, visible=visible)
        ratio = after[0, 0].norm() / before[0, 0].norm()
        assert ratio.item() == pytest.approx(1.0 if last_norm else 3.0, rel=1e-3)


@pytest.mark.parametrize("depth", [0, 1])
def test_it_learns_what_documents_are_about_and_is_carried_on(tmp_path, depth):
    changes = {"depth": depth, "feed_forward": 13, "mixer": {"kind": "attention", "heads": 2}}
    settings = recipe(tmp_path, model=changes, training={"optimizer": {"rate": 2e-2}})
    run = train(settings, tmp_path / "run")
    metrics = run.summary["metrics"]
    assert metrics["loss"] < metrics["baseline"]["loss"] - 0.2
    result = run.task.answer(run.model, ["the wave and the tide", ""])
    assert set(result[0].text.split(", ")) & set(SEA.split()) - {"wave", "tide"}
    assert result[1].text == ""
    rows = "".join(f"{t}\t{'farm' if n % 2 else 'sea'}\n" for n, t in enumerate(documents(24)))
    (tmp_path / "labels.tsv").write_text(rows)
    carried = train(
        make(
            {
                "task": "classification",
                "data": {"train": [str(tmp_path / "labels.tsv")], "holdout": 0.3},
                "text": {"max_length": 19, "overlong": "head"},
                "model": {"start": {"run": str(tmp_path / "run"), "freeze": True}},
                "training": {"budget": "30 steps", "batch_tokens": 200, "threads": 1},
            }
        ),
        tmp_path / "carried",
    )
    assert carried.recipe.model.last_norm is False
    assert carried.summary["metrics"]["accuracy"] == 1.0
