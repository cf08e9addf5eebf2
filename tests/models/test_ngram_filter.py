"""N-grams that have vectors: those of several texts, the same ones after a reload."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.errors import RecipeError
from regard.layers.embedding import Ngrams
from regard.models.ngram_filter import find_frequent_ngrams
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.load import make
from regard.run import Run
from regard.training.checkpoint import checkpoints
from regard.training.train import train

WIDTH, END = 5, 3


def layer(longest=3):
    torch.manual_seed(0)
    made = Ngrams(longest, rows=1009, width=WIDTH, boundary=END)
    for table in made.tables:
        torch.nn.init.normal_(table)
    return made.eval()


def texts(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(5, 17, size=rng.integers(0, 23)).astype(np.uint32) for _ in range(607)]


def in_texts(found, size):
    """Count by hand in how many texts each n-gram occurs; before a text is padding."""
    counts = Counter()
    for text in found:
        ids = [*[0] * (size - 1), *text.tolist()]
        counts.update({tuple(ids[at : at + size]) for at in range(len(text))})
    return counts


@pytest.mark.parametrize("least", [3, 43])
@pytest.mark.parametrize("longest", [2, 3])
def test_an_ngram_has_a_vector_if_enough_texts_contain_it(least, longest):
    found, ngrams = texts(), layer(longest)
    plain = [ngrams(torch.from_numpy(text.astype(np.int64))[None])[0] for text in found]
    ngrams.restrict(find_frequent_ngrams(ngrams, found, least=least))
    counts = {size: in_texts(found, size) for size in range(2, longest + 1)}
    alone = {size: layer(longest) for size in counts}
    for size, one in alone.items():
        for other, table in enumerate(one.tables, start=2):
            if other != size:
                torch.nn.init.zeros_(table)
    kept = 0
    for text, before in zip(found[:97], plain, strict=False):
        ids = torch.from_numpy(text.astype(np.int64))[None]
        expected = torch.zeros_like(before)
        for size, one in alone.items():
            padded = [*[0] * (size - 1), *text.tolist()]
            windows = [tuple(padded[at : at + size]) for at in range(len(text))]
            enough = torch.tensor([counts[size][ngram] >= least for ngram in windows])[:, None]
            expected += torch.where(enough, one(ids)[0], 0.0) if windows else 0.0
            kept += int(enough.sum()) if windows else 0
        assert_close(ngrams(ids)[0], expected)
    assert kept > 0


def test_chunks_change_nothing(monkeypatch):
    ngrams, found = layer(), texts(1)
    whole = find_frequent_ngrams(ngrams, found, least=3)
    monkeypatch.setattr("regard.models.ngram_index.TEXTS_AT_ONCE", 7)
    assert torch.equal(find_frequent_ngrams(ngrams, found, least=3), whole)
    assert whole.dtype == torch.uint8 and whole.shape == (2, 1 << 21)


def test_unknown_ngrams_add_nothing_and_get_no_gradient():
    ngrams = layer()
    ngrams.restrict(find_frequent_ngrams(ngrams, [np.array([5, 6, 7], np.uint32)] * 2, least=2))
    ids = torch.tensor([[5, 6, 8]])
    ngrams(ids)[0, 2].sum().backward()
    assert all(float(table.grad.abs().sum()) == 0 for table in ngrams.tables)
    assert ngrams(ids)[0, 1].detach().abs().sum() > 0


def test_what_is_known_is_kept_with_the_parameters():
    ngrams, again = layer(), layer()
    ngrams.restrict(find_frequent_ngrams(ngrams, texts(), least=4))
    load_parameters(again, collect_parameters(ngrams))
    assert torch.equal(again.known, ngrams.known)
    assert set(dict(ngrams.named_parameters())) == {"tables.0", "tables.1"}


def settings(folder, **tables):
    rng = np.random.default_rng(0)
    words = ["fine", "warm", "dull", "cold", "film", "book", "song"]
    lines = [
        {"text": " ".join(rng.choice(words, size=9)), "label": ["bad", "good"][n % 2]}
        for n in range(61)
    ]
    (folder / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    embedding = {"ngrams": 2, "ngram_rows": 211, "ngram_min_count": 3, "ngram_lazy": True}
    return {
        "task": "classification",
        "data": {"train": [str(folder / "x.jsonl")], "holdout": 0.1},
        "text": {"tokenizer": "words", "max_length": 16},
        "model": {"width": 8, "depth": 1, "feed_forward": 9, "embedding": embedding},
        "training": {"budget": "5 steps", "batch_tokens": 99, "threads": 1},
        **tables,
    }


def test_a_run_folder_remembers_which_runs_have_vectors(tmp_path):
    run = train(make(settings(tmp_path)), tmp_path / "run")
    known = run.model.body.reading.ngrams.known
    assert known is not None and int(known.count_nonzero()) > 0
    assert torch.equal(Run(tmp_path / "run").model.body.reading.ngrams.known, known)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["parameters"] == sum(one.numel() for one in run.model.parameters())
    result = "fine warm dull cold film book song"
    first, second = (r.task.answer(r.model, [result]) for r in (run, Run(tmp_path / "run")))
    assert first == second


def begun(tmp_path, *, least):
    """Return a pretrained run, and the recipe of one that begins from its vectors."""
    body = {**settings(tmp_path), "task": "document-pretraining"}
    body["model"] = {**body["model"], "depth": 0, "position": {"kind": "none"}}
    body["data"] = {**body["data"], "fields": ["text"]}
    pretrained = train(make(body), tmp_path / "body")
    tuned = settings(tmp_path)
    tuned["model"]["start"] = {"run": str(tmp_path / "body"), "carry": "embedding"}
    tuned["model"]["embedding"]["ngram_min_count"] = least
    return pretrained, tuned


@pytest.mark.parametrize("least", [1, 60])
def test_what_is_known_is_carried_with_the_vectors(tmp_path, least):
    pretrained, tuned = begun(tmp_path, least=least)
    run = train(make(tuned), tmp_path / "run")
    known = run.model.body.reading.ngrams.known
    assert int(known.count_nonzero()) > 0
    assert torch.equal(known, pretrained.model.body.reading.ngrams.known)


def test_what_was_carried_is_known_after_a_stop_as_well(tmp_path):
    pretrained, tuned = begun(tmp_path, least=60)
    tuned["training"] |= {"checkpoints": 9, "evaluations": 2}
    whole = train(make(tuned), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    (tmp_path / "again" / "regard.json").unlink()
    saves = checkpoints(tmp_path / "again" / "checkpoints")
    assert len(saves) > 1
    shutil.rmtree(saves[0])
    again = train(make(tuned), tmp_path / "again", resume=True)
    assert torch.equal(
        again.model.body.reading.ngrams.known, pretrained.model.body.reading.ngrams.known
    )
    for name, one in whole.parameters.items():
        assert torch.equal(one, again.parameters[name]), name


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"task": "language-modelling"}, "document-pretraining"),
        ({"model": {"embedding": {"ngram_min_count": 2}}}, "ngrams is 1"),
    ],
)
def test_the_filter_is_refused_where_ngrams_are_not_counted(tmp_path, changes, problem):
    with pytest.raises(RecipeError, match=problem):
        make({**settings(tmp_path), **changes})
