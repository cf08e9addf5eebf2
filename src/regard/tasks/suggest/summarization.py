"""Suggested recipes for summarization and denoising."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.tasks.suggest.survey import HELD_OUT, Choices, DataSurvey

SMALL = 20_000  # examples below which dropout is stronger
MAX_LENGTH = 384  # tokens of one document


def suggest_summarization(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for documents with summaries."""
    tables, reasons = _common("summarization", files, seen)
    tables["training"] |= {"keep": "best", "coverage": 0.5}
    tables["decoding"] = {"beam": 4, "length_penalty": 0.8, "max_length": 64, "no_repeat": 3}
    reasons |= {
        "training.keep": "few summaries are soon overfitted; the best checkpoint on valid is kept.",
        "training.coverage": "a pointer that returns to the same position repeats text.",
        "decoding.no_repeat": "no trigram occurs twice in a summary.",
    }
    return Choices(tables, reasons)


def suggest_denoising(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for documents alone, to pretrain a summarizer."""
    tables, reasons = _common("denoising", files, seen)
    tables["decoding"] = {"beam": 4, "max_length": MAX_LENGTH}
    tables["denoising"] = {"gaps": "sentences"}
    reasons["denoising.gaps"] = "a sentence generated from its context resembles a summary."
    return Choices(tables, reasons)


def _common(
    task: str, files: Sequence[str], seen: DataSurvey
) -> tuple[dict[str, Any], dict[str, str]]:
    size = seen.describe("documents")
    tables: dict[str, Any] = {
        "task": task,
        "data": {"train": list(files)},
        "text": {
            "vocabulary": int(np.clip(round(seen.examples**0.5 * 60, -3), 1000, 8000)),
            "max_length": int(min(MAX_LENGTH, max(64, 2 * seen.longest))),
            "overlong": "head",
        },
        "model": {
            "width": 128,
            "depth": 2,
            "decoder_depth": 2,
            "feed_forward": 512,
            "dropout": 0.2 if seen.examples < SMALL else 0.1,
            "copying": True,
        },
        "training": {
            "budget": "15min",
            "batch_tokens": 4096,
            "optimizer": {"kind": "muon"},
            "schedule": {"warmup": 0.05},
        },
    }
    reasons = {
        "text.vocabulary": f"grows with the square root of the corpus; there are {size}.",
        "text.max_length": f"the longest document has {seen.longest:,} words; it is truncated.",
        "model.copying": "names and numbers that occur in one document alone are copied.",
        "model.dropout": "the fewer the examples, the more dropout is needed against overfitting.",
        "data.holdout": HELD_OUT,
        "training.budget": "long enough for a first model; compare it with the lead baseline.",
    }
    return tables, reasons
