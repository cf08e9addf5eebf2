"""Recipes for labelled texts and pairs that nobody has described yet."""

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from regard.data.record import Request
from regard.data.source import RecordReader, scan
from regard.tasks.suggest.survey import MOST_SURVEYED, SEPARATOR, Choices, DataSurvey

SMALL = 5_000  # examples below which little is learned from scratch
EPOCHS = {
    "classification": ((2_000, 10), (20_000, 6), (math.inf, 3)),
    "sentence-pair": ((20_000, 10), (math.inf, 3)),
}
"""How often fewer examples than this are read."""
MOST_READ = 512  # tokens of one text
FEW = 20  # different numbers up to which they may be labels


def suggest_classification(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for texts with labels: runs of tokens carry most of what a label needs."""
    tables, reasons = _common("classification", files, seen, seen.describe("texts"))
    tables["text"]["overlong"] = "head-tail"
    reasons["text.overlong"] = "of what is longer, the beginning and the end say the most."
    tables["model"]["embedding"] = {"ngrams": 2, "ngram_rows": 65536}
    reasons["model.embedding.ngrams"] = "pairs of tokens, such as a negated word, count as one."
    return Choices(tables, reasons)


def suggest_sentence_pair(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for pairs: both in one row, so that every word may look at the other text."""
    tables, reasons = _common("sentence-pair", files, seen, seen.describe("pairs"))
    tables["text"]["overlong"] = "head"
    reasons["text.overlong"] = "where both do not fit, the longer one is cut."
    tables["model"]["depth"] = 2
    tables["model"]["embedding"] = {"segments": 4}
    reasons["model.embedding.segments"] = "tells the texts apart, and the tokens both have."
    return Choices(tables, reasons)


def _common(
    task: str, files: Sequence[str], seen: DataSurvey, size: str
) -> tuple[dict[str, Any], dict[str, str]]:
    data, reasons = _last_field(task, files)
    sides = 2 if task == "sentence-pair" else 1
    longest = int(min(MOST_READ, max(32, 2 * sides * seen.longest + sides + 1)))
    dropout = 0.3 if seen.examples < SMALL else 0.2
    epochs = next(often for most, often in EPOCHS[task] if seen.examples < most)
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
            "budget": f"{epochs} epochs",
            "batch_tokens": 4096,
            "label_smoothing": 0.1,
            "keep": "best",
            "optimizer": {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.1},
            "schedule": {"warmup": 0.05},
        },
        "decoding": {"baseline_weight": 0.5},
    }
    reasons |= {
        "data.holdout": "no files to choose by were given, so a share of train is held out.",
        "text.lowercase": "capitals say little about a label, and words come up more often.",
        "text.max_length": f"the longest text has {seen.longest:,} words; longer rows cost more.",
        "model.width": f"{size}: a wider model would learn them by heart.",
        "model.dropout": "the fewer the examples, the more is silenced against learning by heart.",
        "model.head.pooling": "what is said anywhere, and how strongly anywhere, both count.",
        "training.keep": "labels are soon learned by heart; the best on the held-out share stays.",
        "training.budget": "more, and they are learned by heart.",
        "training.label_smoothing": "without it a small model is soon sure of what it gets wrong.",
        "decoding.baseline_weight": "network and bag of n-grams err elsewhere, and together mostly "
        "less than either; 0 asks the network alone, which is what `regard explain` reads.",
    }
    return tables, reasons


def _last_field(task: str, files: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Look whether the last field is one label, several, or a score."""
    expected = 3 if task == "sentence-pair" else 2
    request = Request(expected, label_separator=SEPARATOR)
    records = islice(RecordReader(scan(files, request), skip=True), MOST_SURVEYED)
    written = [record.fields[-1] for record in records]
    different = {one.strip() for one in written}
    if len(different) > FEW and all(map(_is_number, different)):
        return {"scores": True}, {
            "data.scores": f"the last field holds {len(different):,} different numbers."
        }
    if any(SEPARATOR in one for one in different) and _combine(different):
        return {"label_separator": SEPARATOR}, {
            "data.label_separator": "some texts have several labels."
        }
    return {}, {}


def _combine(different: set[str]) -> bool:
    """Tell whether what stands between separators comes up in other company too."""
    parts = {part for one in different for part in one.split(SEPARATOR)}
    return len(parts) < len(different) or any(one in parts for one in different)


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text)).item()
    except ValueError:
        return False
