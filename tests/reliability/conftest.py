"""Trainings small enough to be broken at every operation, and the figures of docs/reliability.md."""

import json
import os
from collections import Counter

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


@pytest.fixture
def figure(request):
    """Return a function that counts faults that were survived; ``page.py`` reads the counts."""
    counts = Counter()

    def count(promise, survived):
        counts[promise] += survived

    yield count
    if into := os.environ.get("REGARD_FIGURES"):
        name = request.node.nodeid.partition("[")[0]
        with open(into, "a") as file:  # noqa: PTH123
            for promise, survived in counts.items():
                file.write(json.dumps({"promise": promise, "test": name, "count": survived}) + "\n")
