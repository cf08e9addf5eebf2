"""A training small enough to be run many times."""

import pytest

from regard.recipe.load import make


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def recipe(tmp_path):
    """Return a function that makes a tiny recipe, with changes by table."""
    lines = [f"{a} {b} {c}" for a in "abcdef" for b in "ghij" for c in "klm"]
    (tmp_path / "train.x").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.y").write_text("\n".join(line[::-1] for line in lines) + "\n")
    files = [str(tmp_path / "train.x"), str(tmp_path / "train.y")]

    def tiny(**changes):
        tables = {
            "task": "translation",
            "data": {"train": files, "holdout": 0.1},
            "text": {"vocabulary": 300, "tokenizer": "bpe"},
            "model": {
                "width": 12,
                "depth": 1,
                "decoder_depth": 1,
                "feed_forward": 17,
                "mixer": {"kind": "attention", "heads": 2},
                "dropout": 0.1,
            },
            "training": {
                "budget": "9 steps",
                "batch_tokens": 140,
                "evaluations": 2,
                "checkpoints": 3,
                "threads": 1,
            },
            "decoding": {"max_length": 9, "beam": 2},
        }
        for table, values in changes.items():
            tables[table] = {**tables[table], **values} if isinstance(values, dict) else values
        return make(tables)

    return tiny
