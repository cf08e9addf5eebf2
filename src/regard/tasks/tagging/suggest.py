"""Suggested recipe for tagging."""

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from regard.data.source import RecordReader
from regard.errors import DataError
from regard.recipe.data import DataSettings
from regard.tasks.suggest.survey import HELD_OUT, MOST_SURVEYED, Choices, DataSurvey
from regard.tasks.tagging.example import Annotation
from regard.tasks.tagging.read_examples import records

EPOCHS = ((2_000, 40), (10_000, 20), (50_000, 8), (math.inf, 4))
"""Epochs for fewer sentences than this."""


def survey_tokens(data: DataSettings) -> DataSurvey:
    """Read the first sentences and count their tokens."""
    found = RecordReader(records(data, data.train, "train"), skip=True)
    counts = [
        len(Annotation.from_field(record.fields[1]).tokens)
        for record in islice(found, MOST_SURVEYED + 1)
    ]
    if not counts:
        raise DataError(
            f"data must hold at least one example. Got none in {', '.join(data.train)}.",
            "See `regard check` for what is wrong with each line.",
        )
    examples = min(len(counts), MOST_SURVEYED)
    return DataSurvey(examples, len(counts) > MOST_SURVEYED, float(np.mean(counts)), max(counts))


def suggest_tagging(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for tagged sentences."""
    size = seen.describe("sentences")
    epochs = next(count for most, count in EPOCHS if seen.examples < most)
    tables: dict[str, Any] = {
        "task": "tagging",
        "data": {"train": list(files), "holdout": 0.1},
        "text": {
            "vocabulary": int(np.clip(round(seen.examples**0.5 * 40, -3), 1000, 8000)),
            "dropout": 0.1,
            "max_length": 256,
            "overlong": "windows",
        },
        "model": {
            "width": 96,
            "depth": 2,
            "feed_forward": 384,
            "dropout": 0.2,
            "position": {"kind": "rotary", "base": 1000.0},
            "head": {"dropout": 0.3},
        },
        "training": {
            "budget": f"{epochs} epochs",
            "batch_tokens": 2048,
            "label_smoothing": 0.0,
            "keep": "best",
            "optimizer": {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.1},
            "schedule": {"warmup": 0.05},
        },
    }
    reasons = {
        "data.holdout": HELD_OUT,
        "text.vocabulary": f"grows with the square root of the corpus; there are {size}.",
        "text.dropout": "unseen names have unusual subwords, so training words get them too.",
        "text.overlong": "a longer text is trained on and tagged in windows.",
        "model.width": f"{size}: a wider model overfits them.",
        "training.budget": f"{size}: longer training overfits.",
        "training.keep": "the best checkpoint on the held-out share is kept.",
    }
    return Choices(tables, reasons)
