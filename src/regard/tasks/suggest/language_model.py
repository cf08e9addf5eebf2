"""Suggested recipe for a language model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regard.data.compression import plain_name
from regard.tasks.suggest.survey import Choices, DataSurvey

LITTLE = 1_000_000  # words below which characters do better than subwords
TINY = 50_000  # words below which a smaller model does better
PLAIN = ("", ".txt", ".text", ".md")  # endings of files that hold nothing but text


def suggest_language_model(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for plain text: characters and their n-grams for little of it, subwords for much."""
    words = round(seen.examples * seen.words)
    size = f"{'over ' if seen.more else ''}{words:,} words"
    little = words < LITTLE
    plain = all(plain_name(Path(file)).suffix.lower() in PLAIN for file in files)
    width = 64 if words < TINY else 96 if little else 192
    context = 64 if words < TINY else 128
    tables = {
        "task": "language-modelling",
        "data": {
            "train": list(files),
            "holdout": 0.1 if little else 0.02,
            "holdout_from": "end",
            **({"format": "whole"} if plain else {}),
        },
        "text": {
            "tokenizer": "characters" if little else "bpe",
            "vocabulary": 1000 if little else int(np.clip(round(words**0.5, -3), 2000, 8000)),
            "max_length": context,
        },
        "model": {
            "width": width,
            "depth": 3 if little else 4,
            "feed_forward": 4 * width,
            "dropout": 0.1,
            "mixer": {"kind": "attention", "heads": width // 32, "normed": True},
            "position": {"kind": "rotary", "base": 100.0},
            "embedding": {"ngrams": 6 if little else 3, "ngram_rows": 16384},
        },
        "training": {
            "budget": "15min",
            "batch_tokens": 2048,
            "label_smoothing": 0.0,
            "optimizer": {"kind": "adamw", "rate": 5e-3, "weight_decay": 1.0},
        },
        "decoding": {"method": "sample", "temperature": 0.8, "max_length": 300},
    }
    reasons = {
        "data.holdout_from": "a language model continues text, so the end is held out.",
        "text.tokenizer": f"there are {size}: "
        + ("too few to learn subwords from." if little else "enough to learn subwords from."),
        "text.max_length": "the context window: earlier tokens are not visible.",
        "model.width": f"{size}: a wider model would overfit.",
        "model.embedding.ngrams": "frequent n-grams have embeddings of their own.",
        "training.optimizer.weight_decay": "strong, against memorizing n-grams that occur once.",
        "training.label_smoothing": "the metric is the likelihood, which smoothing would lower.",
        "training.budget": "long enough for a first model; half an hour gives a better one.",
    }
    return Choices(tables, reasons)
