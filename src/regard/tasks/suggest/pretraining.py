"""A recipe that learns a body from plain text nobody has described yet."""

from collections.abc import Sequence

import numpy as np

from regard.tasks.suggest.survey import Choices, DataSurvey

LITTLE, MUCH = 300_000, 5_000_000  # words: where a narrower and a wider body pays

READ = 512  # tokens of a document


def suggest_pretraining(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for masked words; pairs are left to those who want them."""
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
        "model.width": f"{size}: wider bodies want more text and more time.",
        "model.dropout": "plain text is read a few times at most; little is learned by heart.",
        "pretraining.mask": "many masks teach fast at first, few teach finely at the end.",
        "data.holdout": "no files to choose by were given, so a share of train is held out.",
        "training.budget": "long enough for a first body; hours make it better.",
    }
    return Choices(tables, reasons)


def suggest_document_pretraining(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for what whole documents are about: vectors of tokens and of pairs, and their mean."""
    words = seen.examples * seen.words
    size = seen.describe("documents")
    vocabulary = int(np.clip(round(words**0.5 * 8, -3), 1000, 12000))
    tables = {
        "task": "document-pretraining",
        "data": {"train": list(files)},
        "text": {
            "vocabulary": vocabulary,
            "lowercase": True,
            "max_length": READ,
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
        "model.depth": "what a document is about needs no order; blocks can be put on it later.",
        "model.last_norm": "words that say much may have long vectors, and so count for more.",
        "model.embedding.ngrams": 'pairs such as "not good" have vectors of their own.',
        "data.holdout": "no files to choose by were given, so a share of train is held out.",
        "training.budget": "minutes; more epochs learn documents by heart.",
    }
    return Choices(tables, reasons)


def suggest_document_vectors(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for directions that texts and their runs of tokens share."""
    words = seen.examples * seen.words
    size = seen.describe("documents")
    tables = {
        "task": "document-vectors",
        "data": {"train": list(files)},
        "text": {
            "vocabulary": int(np.clip(round(words**0.5 * 8, -3), 1000, 12000)),
            "lowercase": True,
            "max_length": READ,
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
        "model.depth": "what enters a model is learned; blocks can be put on it later.",
        "model.embedding.ngram_min_count": "an n-gram of one text tells nothing of others.",
        "training.optimizer.rate": "a thousandth for each run of a step, which has about 2,000.",
        "data.holdout": "no files to choose by were given, so a share of train is held out.",
        "training.budget": "every text has to be met a few times; short corpora more often.",
    }
    return Choices(tables, reasons)
