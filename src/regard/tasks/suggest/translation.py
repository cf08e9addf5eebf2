"""Suggested recipe for translation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.compression import plain_name
from regard.tasks.suggest.survey import HELD_OUT, Choices, DataSurvey

SMALL = 20_000  # pairs below which dropout is stronger
LARGE = 150_000  # pairs above which a wider model pays


def suggest_translation(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for parallel texts."""
    size = seen.describe("pairs")
    width = 160 if seen.examples < LARGE else 256
    vocabulary = int(np.clip(round(seen.examples**0.5 * 24, -3), 1000, 8000))
    tables: dict[str, Any] = {
        "task": "translation",
        "data": {"train": list(files), "languages": _languages(files)},
        "text": {"vocabulary": vocabulary, "max_length": max(128, 4 * seen.longest)},
        "model": {
            "width": width,
            "depth": 3,
            "feed_forward": 4 * width,
            "norm": "layer",
            "dropout": 0.2 if seen.examples < SMALL else 0.1,
            "position": {"kind": "rotary", "base": 100.0},
            "start": {"lexicon": True},
        },
        "training": {
            "budget": "15min",
            "batch_tokens": 2200,
            "optimizer": {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.0},
            "schedule": {"warmup": 0.05},
        },
        "decoding": {"length_penalty": 1.0},
    }
    reasons = {
        "decoding.length_penalty": "higher than the paper's: small models stop too early.",
        "text.vocabulary": f"grows with the square root of the corpus; there are {size}.",
        "text.max_length": f"the longest text has {seen.longest} words; a word may be 4 tokens.",
        "model.width": f"{size}: a wider model would be undertrained.",
        "model.dropout": "the fewer the examples, the more dropout is needed against overfitting.",
        "model.start.lexicon": "a word-for-word lexicon costs seconds and saves the first epochs.",
        "data.holdout": HELD_OUT,
        "training.budget": "long enough for a first model; an hour gives a better one.",
        "training.optimizer.kind": "from a lexicon it learns as well as muon, in cheaper steps.",
    }
    return Choices(tables, reasons)


def _languages(files: Sequence[str]) -> list[str]:
    """Return the languages that the endings of ``train.de`` and ``train.en`` name."""
    endings = [plain_name(Path(file)).suffix.removeprefix(".") for file in files]
    named = len(endings) == 2 and all(2 <= len(e) <= 3 and e.isalpha() for e in endings)
    return endings if named and len(set(endings)) == 2 else []
