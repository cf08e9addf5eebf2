"""Document vectors: n-grams numbered in reading order, distinguished by cosine, stored for any text."""

import gzip
import json

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.data.store import Store
from regard.errors import RecipeError, UsageError
from regard.recipe.load import make
from regard.run import Run
from regard.tasks.examples import examples
from regard.tasks.kinds import make_task, make_tokenizer
from regard.tasks.pretraining.document_vectors import NEGATIVES, NgramCounts
from regard.training.train import train

SEA, FARM = "ship wave sail salt harbour anchor tide", "cow barn hay plough field tractor hen"


def documents(count=60):
    rng = np.random.default_rng(0)
    for number in range(count):
        words = (SEA, FARM)[number % 2].split()
        yield " ".join(rng.choice(["the", "a", *words, *words], size=23 + number % 5))


def recipe(tmp_path, *, ngrams=3, least=2, **changes):
    (tmp_path / "text.txt").write_text("\n\n".join(documents()) + "\n")
    tables = {
        "task": "document-vectors",
        "data": {"train": [str(tmp_path / "text.txt")], "format": "text", "holdout": 0.2},
        "text": {"tokenizer": "words", "vocabulary": 300, "max_length": 29, "overlong": "head"},
        "model": {
            "width": 12,
            "depth": 0,
            "dropout": 0.0,
            "last_norm": False,
            "position": {"kind": "none"},
            "embedding": {"ngrams": ngrams, "ngram_rows": 101, "ngram_min_count": least}
            if ngrams > 1
            else {},
        },
        "training": {
            "budget": "60 steps",
            "batch_tokens": 97,
            "threads": 1,
            "evaluations": 1,
            "checkpoints": 3,
            "clip": 0.0,
            "optimizer": {"kind": "sgd", "rate": 1.0},
            "schedule": {"kind": "constant", "warmup": 0.0},
        },
    }
    for table, values in changes.items():
        tables[table] = {**tables[table], **values} if isinstance(values, dict) else values
    return make(tables)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


def made_ready(tmp_path, **changes):
    settings = recipe(tmp_path, **changes)
    source = examples(settings, "train")
    task = make_task(settings, make_tokenizer(settings, source))
    store = Store.open_or_write(tmp_path / "store", source, task.encode, key=("d",), longest=None)
    torch.manual_seed(0)
    model = task.build().double()
    task.prepare_model(model, store)
    return task, model, store


@pytest.fixture
def ready(tmp_path):
    return made_ready(tmp_path)


@pytest.mark.parametrize("ngrams", [1, 2, 3])
def test_rows_are_those_that_the_embedding_reads(tmp_path, ngrams):
    _, model, store = made_ready(tmp_path, ngrams=ngrams)
    reading = model.body.reading
    assert model.reach == ngrams - 1
    assert (reading.ngrams is not None) == (ngrams > 1)
    with torch.no_grad():
        for table in model.tables:
            table.normal_()
    texts = [store[number][0] for number in (4, 0, 9)]
    owners, rows = model.rows_in(texts)
    assert set(owners) == {0, 1, 2}
    for number, text in enumerate(texts):
        read = reading(torch.from_numpy(text.astype(np.int64))[None]).sum(dim=(0, 1))
        found = model.vectors(torch.from_numpy(rows[owners == number])).sum(dim=0)
        assert_close(read, reading.scale * found)


def test_a_batch_holds_ngrams_of_their_documents(ready):
    task, model, store = ready
    numbers = np.arange(0, store.tokens, 3)
    batch = task.batch(store, numbers, (7, 1))
    rows, stands = (field.ids[:, 0].numpy() for field in batch.fields)
    assert (np.diff(rows) >= 0).all()
    inside = [set(model.rows_in([store[n][0]])[1]) for n in range(len(store))]
    owners, _ = store.owners(0, numbers)
    # Every n-gram has a weight of 1 here, so each position yields all n-grams with a vector.
    ends = {int(number): int(owner) for number, owner in zip(numbers, owners, strict=True)}
    expected = sum(
        int((rows_at_place(task, store, number) >= 0).sum()) for number, _ in ends.items()
    )
    assert stands.sum() == expected
    for row, stand, document in zip(rows, stands, batch.numbers, strict=True):
        assert not stand or row in inside[document]
    drawn = (stands == 0).sum()
    assert 0.8 * NEGATIVES * expected < drawn <= NEGATIVES * expected


def rows_at_place(task, store, number):
    _, (begin,) = store.owners(0, np.array([number]))
    before = store.flat(0)[max(begin, number - 2) : number + 1].astype(np.int64)
    ids = np.concatenate([np.zeros(3 - len(before), dtype=np.int64), before])
    return task.learner.rows_of(torch.from_numpy(ids)[None])[0]


def test_runs_worth_little_are_learned_from_seldom(ready):
    task, _, store = ready
    worth = np.full_like(task.ngrams.worth, 0.25)
    task.ngrams = NgramCounts(task.ngrams.counts, worth)
    numbers = np.arange(store.tokens)
    some = int(task.batch(store, numbers, (7, 2)).fields[1].ids.sum())
    task.ngrams = NgramCounts(task.ngrams.counts, np.ones_like(worth))
    every = int(task.batch(store, numbers, (7, 2)).fields[1].ids.sum())
    assert 0.2 * every < some < 0.3 * every


def test_others_are_drawn_by_the_three_quarter_power():
    counts = np.array([0, 16, 1, 0, 81])
    ngrams = NgramCounts(counts, np.ones(5, np.float32))
    drawn = ngrams.draw(np.random.default_rng(0), (20_000, 2))
    shares = np.bincount(drawn.ravel(), minlength=5) / drawn.size
    np.testing.assert_allclose(shares, np.array([0, 8, 1, 0, 27]) / 36, atol=0.01)
    np.testing.assert_allclose(ngrams.drawn, np.array([0, 8, 1, 0, 27]) / 36, rtol=1e-6)
    own = np.array([16, 1, 81]) / 98
    expected = np.log(own / (NEGATIVES * np.array([8, 1, 27]) / 36))
    np.testing.assert_allclose(ngrams.by_frequency[[1, 2, 4]], expected, rtol=1e-5)


def test_the_loss_is_the_equation_and_gradients_name_rows_that_were_read(ready):
    task, model, store = ready
    batch = task.batch(store, np.array([5, 77, 130]), (7, 3))
    lost = task.loss(model, batch)
    rows, stands = (field.ids[:, 0] for field in batch.fields)
    every = torch.cat(model.tables)
    expected, own = 0.0, 0
    for row, stand, document in zip(rows, stands, batch.numbers, strict=True):
        text, ngram = model.documents[document], every[row]
        cosine = text @ ngram / text.norm() / ngram.norm()
        expected += -torch.log(torch.sigmoid((6 if stand else -6) * cosine))
        own += int(stand)
    assert_close(lost.smoothed, expected)
    assert lost.tokens == own
    lost.smoothed.backward()
    for table in (*model.tables, model.documents):
        assert table.grad.is_sparse
    moved = set(model.documents.grad.coalesce().indices()[0].tolist())
    assert moved == set(batch.numbers.tolist())


def test_what_is_kept_has_directions_without_what_they_share(ready):
    task, model, _ = ready
    with torch.no_grad():
        for table in model.tables:
            table.normal_()
    before = torch.nn.functional.normalize(torch.cat(model.tables), dim=1).detach()
    task.finish_model(model)
    assert model.documents is None
    assert "documents" not in dict(model.named_parameters())
    shares = torch.from_numpy(task.ngrams.drawn).double()
    written = torch.from_numpy(task.ngrams.counts) > 0
    after = torch.cat(model.tables)
    assert_close(after[written], (before - shares @ before)[written], rtol=1e-5, atol=1e-6)
    assert not after[~written].any()
    assert (~written).any()


def test_documents_are_counted_whole_beyond_what_is_read_at_once(ready):
    task, model, store = ready
    rows = [model.rows_in([store[n][0]])[1] for n in range(len(store))]
    counts = np.bincount(np.concatenate(rows), minlength=len(task.ngrams.counts))
    np.testing.assert_array_equal(task.ngrams.counts, counts)
    assert len(counts) == sum(map(len, model.tables))


def test_it_learns_what_documents_are_about_and_is_carried_on(tmp_path):
    settings = recipe(tmp_path, training={"budget": "400 steps"})
    run = train(settings, tmp_path / "run")
    metrics = run.summary["metrics"]
    assert metrics["accuracy"] > metrics["baseline"]["accuracy"] + 0.1
    result = run.task.answer(run.model, ["the wave and the tide", ""])
    assert len(set(result[0].text.split(", ")) & set(SEA.split()) - {"wave", "tide"}) >= 3
    assert result[1].text == ""
    with pytest.raises(UsageError, match="at most 27"):
        run.task.answer(run.model, ["wave " * 40])
    again = Run(tmp_path / "run")
    rest = examples(settings, "valid")
    measured = again.task.measure(again.model, list(rest()), quick=False)
    assert measured.metrics["accuracy"] == pytest.approx(metrics["accuracy"], abs=1e-6)
    assert measured.baseline["accuracy"] == metrics["baseline"]["accuracy"]
    rows = "".join(f"{t}\t{'farm' if n % 2 else 'sea'}\n" for n, t in enumerate(documents(24)))
    (tmp_path / "labels.tsv").write_text(rows)
    carried = train(
        make(
            {
                "task": "classification",
                "data": {"train": [str(tmp_path / "labels.tsv")], "holdout": 0.3},
                "text": {"max_length": 29, "overlong": "head"},
                "model": {
                    "start": {"run": str(tmp_path / "run"), "freeze": True},
                    "head": {"pooling": "mean", "norm": True},
                },
                "training": {"budget": "60 steps", "batch_tokens": 200, "threads": 1},
            }
        ),
        tmp_path / "carried",
    )
    assert carried.summary["metrics"]["accuracy"] == 1.0


def test_an_evaluation_in_between_changes_nothing_and_a_resumed_run_is_the_same(tmp_path):
    changes = {"budget": "30 steps", "evaluations": 5, "checkpoints": 3}
    whole = train(recipe(tmp_path, training=changes), tmp_path / "whole")
    plain = train(recipe(tmp_path, training={**changes, "evaluations": 1}), tmp_path / "plain")
    for name, tensor in whole.parameters.items():
        assert_close(tensor, plain.parameters[name], rtol=0, atol=0)
    for name in ("regard.json", "model.safetensors"):
        (tmp_path / "whole" / name).unlink()
    newest = max((tmp_path / "whole" / "checkpoints").iterdir())
    for file in newest.iterdir():
        file.unlink()
    newest.rmdir()
    again = train(recipe(tmp_path, training=changes), tmp_path / "whole", resume=True)
    for name, tensor in again.parameters.items():
        assert_close(tensor, plain.parameters[name], rtol=0, atol=0)


def labelled_file(tmp_path):
    file = tmp_path / "labelled.jsonl.gz"
    with gzip.open(file, "wt") as handle:
        for number, text in enumerate(documents(40)):
            handle.write(json.dumps({"text": text, "label": ("sea", "farm")[number % 2]}) + "\n")
    return str(file)


def test_labels_weight_the_ngrams(tmp_path):
    file = labelled_file(tmp_path)
    task, _, _ = made_ready(tmp_path, data={"labelled": [file]})
    ids = {word: task.tokenizer.encode(word)[0] for word in ("wave", "barn", "the")}
    worth = {word: task.ngrams.worth[id] for word, id in ids.items()}
    assert worth["wave"] == worth["barn"] == 1.0
    assert worth["the"] == pytest.approx(0.05)


def test_labels_that_are_none_are_refused_before_anything_is_written(tmp_path):
    (tmp_path / "one.tsv").write_text("a ship\tsea\na wave\tsea\n")
    settings = recipe(tmp_path, data={"labelled": [str(tmp_path / "one.tsv")]})
    with pytest.raises(Exception, match="label"):
        train(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"model": {"depth": 1}}, "model.depth"),
        ({"training": {"optimizer": {"kind": "adamw"}}}, "sgd"),
        ({"task": "document-pretraining", "data": {"labelled": ["x"]}}, "data.labelled"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, changes, problem):
    with pytest.raises(RecipeError, match=problem):
        recipe(tmp_path, **changes)
