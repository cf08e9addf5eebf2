"""A recipe for a language model of text that nobody has described yet."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regard.data.compression import plain_name
from regard.tasks.suggest.survey import Choices, DataSurvey

LITTLE = 1_000_000  # words below which characters do better than pieces of words
TINY = 50_000  # words below which a model has little to learn from
PLAIN = ("", ".txt", ".text", ".md")  # endings of files that hold nothing but text


def suggest_language_model(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for plain text: characters and their runs for little of it, pieces for much."""
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
        "data.holdout_from": "what a language model is asked is to go on, so the end is held out.",
        "text.tokenizer": f"there are {size}: "
        + ("too few to know words by." if little else "enough to know pieces of words by."),
        "text.max_length": "the window: what is farther back is not seen.",
        "model.width": f"{size}: a wider model would learn them by heart.",
        "model.embedding.ngrams": "what usually follows the last few tokens need not be computed.",
        "training.optimizer.weight_decay": "strong, or runs seen once are learned by heart.",
        "training.label_smoothing": "probabilities are what is measured; none is given away.",
        "training.budget": "long enough for a first model; half an hour gives a better one.",
    }
    return Choices(tables, reasons)
