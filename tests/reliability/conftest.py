"""Trainings small enough to be broken at every operation."""

import pytest

from regard.recipe.load import make

TEXTS = [f"{a} {b} {c}" for a in "abcdef" for b in "ghi" for c in "kl"]


@pytest.fixture
def recipe(tmp_path):
    """Return a function that makes a tiny classifier's recipe, with changes to [training]."""
    lines = [f"{text}\t{'xy'[n % 2]}" for n, text in enumerate(TEXTS)]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")

    def tiny(**training):
        usual = {"budget": "4 steps", "batch_tokens": 60, "checkpoints": 2, "evaluations": 1}
        return make(
            {
                "task": "classification",
                "data": {"train": [str(tmp_path / "train.tsv")], "holdout": 0.2},
                "text": {"vocabulary": 300, "tokenizer": "words"},
                "model": {"width": 8, "depth": 1, "feed_forward": 8, "dropout": 0.1},
                "training": {**usual, "threads": 1, **training},
            }
        )

    return tiny
