"""Suggested recipes for labelled texts and pairs of texts."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.tasks.suggest.last_field import detect_last_field
from regard.tasks.suggest.survey import HELD_OUT, Choices, DataSurvey

SMALL = 5_000  # examples below which dropout is stronger
SHALLOW = 20_000  # texts below which a block over the embeddings overfits
EPOCHS = {
    "classification": ((2_000, 10), (20_000, 6), (math.inf, 3)),
    "sentence-pair": ((20_000, 10), (math.inf, 3)),
    "embeddings": ((math.inf, 25),),
}
"""Epochs for fewer examples than this."""
MAX_LENGTH = 512  # tokens of one text


def suggest_classification(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for texts with labels: n-grams carry most of the signal."""
    tables, reasons = _common("classification", files, seen, seen.describe("texts"))
    tables["text"]["overlong"] = "head-tail"
    reasons["text.overlong"] = "of a longer text, beginning and end are the most informative."
    tables["model"]["embedding"] = {"ngrams": 2, "ngram_rows": 65536}
    reasons["model.embedding.ngrams"] = "bigrams, such as a negated word, have vectors."
    if seen.examples < SHALLOW:
        tables["model"] |= {"depth": 0, "position": {"kind": "none"}}
        reasons["model.depth"] = (
            "the mean and maximum of embeddings; of few texts a block learns less, more slowly."
        )
        tables["training"]["budget"] = count_epochs("embeddings", seen.examples)
    return Choices(tables, reasons)


def suggest_sentence_pair(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for pairs: both in one row, so that words attend across the texts."""
    tables, reasons = _common("sentence-pair", files, seen, seen.describe("pairs"))
    tables["text"]["overlong"] = "head"
    reasons["text.overlong"] = "if the pair does not fit, the longer text is truncated."
    tables["model"]["depth"] = 2
    tables["model"]["embedding"] = {"segments": 4}
    reasons["model.embedding.segments"] = "marks the text of a token, and tokens of both."
    return Choices(tables, reasons)


def count_epochs(kind: str, examples: int) -> str:
    """Return the budget for so many examples."""
    epochs = next(count for most, count in EPOCHS[kind] if examples < most)
    return f"{epochs} epochs"


def _common(
    task: str, files: Sequence[str], seen: DataSurvey, size: str
) -> tuple[dict[str, Any], dict[str, str]]:
    data, reasons = detect_last_field(seen.labels)
    sides = 2 if task == "sentence-pair" else 1
    longest = int(min(MAX_LENGTH, max(32, 2 * sides * seen.longest + sides + 1)))
    dropout = 0.3 if seen.examples < SMALL else 0.2
    tables: dict[str, Any] = {
        "task": task,
        "data": {"train": list(files), "holdout": 0.1, **data},
        "text": {
            "vocabulary": int(np.clip(round(seen.examples**0.5 * 60, -3), 1000, 8000)),
            "lowercase": True,
            "max_length": longest,
        },
        "model": {
            "width": 64,
            "depth": 1,
            "feed_forward": 256,
            "dropout": dropout,
            "position": {"kind": "rotary", "base": 1000.0},
            "head": {"pooling": "mean-max", "dropout": dropout},
        },
        "training": {
            "budget": count_epochs(task, seen.examples),
            "batch_tokens": 4096,
            "label_smoothing": 0.1,
            "keep": "best",
            "optimizer": {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.1},
            "schedule": {"warmup": 0.05},
        },
        "decoding": {"baseline_weight": "fitted"},
    }
    reasons |= {
        "data.holdout": HELD_OUT,
        "text.lowercase": "case says little about a label; lower-cased words are more frequent.",
        "text.max_length": f"the longest text has {seen.longest:,} words; longer rows cost more.",
        "model.width": f"{size}: a wider model would overfit.",
        "model.dropout": "the fewer the examples, the more dropout is needed against overfitting.",
        "model.head.pooling": "the mean over words and the strongest word both matter.",
        "training.keep": "small data is soon overfitted; the best checkpoint is kept.",
        "training.budget": "longer training overfits.",
        "training.label_smoothing": "without it a small model becomes overconfident.",
        "decoding.baseline_weight": "network and n-gram baseline make different errors; held-out "
        "texts decide their shares; 0 uses the network alone.",
    }
    return tables, reasons
