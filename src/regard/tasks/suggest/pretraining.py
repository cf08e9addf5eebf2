"""Suggested recipes for pretraining an encoder on plain text."""

from collections.abc import Sequence

import numpy as np

from regard.tasks.suggest.survey import HELD_OUT, Choices, DataSurvey

LITTLE, MUCH = 300_000, 5_000_000  # words: below, a narrower encoder; above, a wider one
MAX_LENGTH = 512  # tokens of a document


def suggest_pretraining(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for masked language modelling without sentence pairs."""
    words = seen.examples * seen.words
    size = seen.describe("documents")
    width = 96 if words < LITTLE else 192 if words < MUCH else 256
    vocabulary = int(np.clip(round(words**0.5 * 8, -3), 1000, 8000))
    tables = {
        "task": "masked-pretraining",
        "data": {"train": list(files)},
        "text": {"vocabulary": vocabulary, "max_length": 128},
        "model": {
            "width": width,
            "depth": 4,
            "feed_forward": 4 * width,
            "dropout": 0.0 if words > LITTLE else 0.1,
            "position": {"kind": "rotary", "base": 1000.0},
            "mixer": {"kind": "attention", "heads": width // 32},
        },
        "pretraining": {"mask": 0.3, "mask_at_end": 0.15},
        "training": {
            "budget": "30min",
            "batch_tokens": 4096,
            "optimizer": {"kind": "muon"},
            "schedule": {"warmup": 0.05},
        },
    }
    reasons = {
        "text.vocabulary": f"grows with the square root of the text; there are {size}.",
        "text.max_length": "documents are packed into windows of this length, without padding.",
        "model.width": f"{size}: a wider encoder needs more text and more time.",
        "model.dropout": "plain text is read in few epochs, so little is memorized.",
        "pretraining.mask": "a high mask rate learns faster at first, a low one better at the end.",
        "data.holdout": HELD_OUT,
        "training.budget": "long enough for a first encoder; hours make it better.",
    }
    return Choices(tables, reasons)


def suggest_document_pretraining(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for document topics: vectors of tokens and bigrams, and their mean."""
    words = seen.examples * seen.words
    size = seen.describe("documents")
    vocabulary = int(np.clip(round(words**0.5 * 8, -3), 1000, 12000))
    tables = {
        "task": "document-pretraining",
        "data": {"train": list(files)},
        "text": {
            "vocabulary": vocabulary,
            "lowercase": True,
            "max_length": MAX_LENGTH,
            "overlong": "head",
        },
        "model": {
            "width": 128,
            "depth": 0,
            "dropout": 0.0,
            "last_norm": False,
            "position": {"kind": "none"},
            "embedding": {"ngrams": 2, "ngram_rows": 131072, "ngram_lazy": True},
            "head": {"pooling": "mean", "norm": True, "dropout": 0.0},
        },
        "training": {
            "budget": "3 epochs",
            "batch_tokens": 16384,
            "label_smoothing": 0.0,
            "checkpoints": 1,
            "optimizer": {"kind": "adamw", "rate": 3e-3, "weight_decay": 0.0},
        },
    }
    reasons = {
        "text.vocabulary": f"grows with the square root of the text; there are {size}.",
        "model.depth": "the topic of a document needs no word order; blocks can be added later.",
        "model.last_norm": "informative words may have long vectors, and so a higher weight.",
        "model.embedding.ngrams": 'bigrams such as "not good" have vectors of their own.',
        "data.holdout": HELD_OUT,
        "training.budget": "minutes; more epochs overfit.",
    }
    return Choices(tables, reasons)


def suggest_document_vectors(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for vectors of documents, trained to be close to those of their n-grams."""
    words = seen.examples * seen.words
    size = seen.describe("documents")
    tables = {
        "task": "document-vectors",
        "data": {"train": list(files)},
        "text": {
            "vocabulary": int(np.clip(round(words**0.5 * 8, -3), 1000, 12000)),
            "lowercase": True,
            "max_length": MAX_LENGTH,
            "overlong": "head",
        },
        "model": {
            "width": 64,
            "depth": 0,
            "dropout": 0.0,
            "last_norm": False,
            "position": {"kind": "none"},
            "embedding": {
                "ngrams": 3,
                "ngram_rows": 131072,
                "ngram_min_count": 2,
                "ngram_lazy": True,
            },
        },
        "training": {
            "budget": "8 epochs" if words > LITTLE else "30 epochs",
            "batch_tokens": 2048,
            "clip": 0.0,
            "checkpoints": 1,
            "optimizer": {"kind": "sgd", "rate": 2.0},
            "schedule": {"kind": "constant", "warmup": 0.0},
        },
    }
    reasons = {
        "text.vocabulary": f"grows with the square root of the text; there are {size}.",
        "model.depth": "only the embedding is learned; blocks can be added later.",
        "model.embedding.ngram_min_count": "an n-gram of one text says nothing about others.",
        "training.optimizer.rate": "a thousandth for each n-gram of a step, which has about 2,000.",
        "data.holdout": HELD_OUT,
        "training.budget": "every text needs a few epochs; short corpora need more.",
    }
    return Choices(tables, reasons)
