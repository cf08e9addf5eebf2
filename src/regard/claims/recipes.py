"""The small recipes and texts of slow claims: one thread, a few hundred steps."""

import random
from collections.abc import Iterable
from itertools import islice
from typing import Any

from regard.data.worlds.reviews import draw_reviews
from regard.data.worlds.reviews.words import ASPECTS, OPINIONS, VERDICT
from regard.data.worlds.scenes import draw_scenes

Tables = dict[str, Any]

SMALL: Tables = {
    "width": 48,
    "depth": 2,
    "feed_forward": 96,
    "dropout": 0.0,
    "mixer": {"kind": "attention", "heads": 4},
}
"""The model of a trial, where a claim does not say otherwise."""


def training(steps: int, **more: object) -> Tables:
    """Give the table ``[training]``: a number of steps, evaluated once at the end."""
    return {
        "budget": f"{steps} steps",
        "batch_tokens": 2048,
        "label_smoothing": 0.0,
        "evaluations": 1,
        "checkpoints": 4,
        "threads": 1,
        "optimizer": {"kind": "adamw", "rate": 3e-3, "weight_decay": 0.0},
        **more,
    }


def classification(steps: int, *, longest: int = 64, seed: int = 1, **model: object) -> Tables:
    """Give a recipe for classifying short texts with a word-level tokenizer."""
    return {
        "task": "classification",
        "seed": seed,
        "text": _text(longest),
        "model": {**SMALL, "head": {"pooling": "mean", "dropout": 0.0}, **model},
        "training": training(steps),
    }


def language_modelling(steps: int, *, longest: int = 32, seed: int = 1, **model: object) -> Tables:
    """Give a recipe for a small word-level language model."""
    return {
        "task": "language-modelling",
        "seed": seed,
        "data": {"format": "lines"},
        "text": _text(longest),
        "model": {**SMALL, "width": 64, "feed_forward": 128, "writes": "all", **model},
        "training": training(steps),
        "decoding": {"method": "greedy"},
    }


def pretraining(
    steps: int, *, seed: int = 1, model: Tables | None = None, **chosen: object
) -> Tables:
    """Give a recipe for masked language modelling on plain text."""
    return {
        "task": "masked-pretraining",
        "seed": seed,
        "data": {"format": "text", "holdout": 0.1},
        "text": _text(64),
        "model": {**SMALL, **(model or {})},
        "pretraining": chosen,
        "training": training(steps),
    }


def _text(longest: int) -> Tables:
    return {"tokenizer": "words", "vocabulary": 1500, "max_length": longest}


def make_sentences(count: int, split: str = "train") -> str:
    """Generate English sentences of the built-in world, one per line."""
    return "".join(f"{scene.target}\n" for scene in islice(draw_scenes(split), count))


def make_reviews(
    count: int, split: str = "train", *, context: float = 0.0
) -> list[tuple[str, str]]:
    """Generate reviews of the built-in world with their ratings."""
    return [(one.text, one.rating) for one in draw_reviews(split, count=count, context=context)]


def make_unlabelled_text(count: int, *, seed: int = 1) -> str:
    """Generate reviews without ratings, one sentence per line, blank lines between reviews."""
    return write_documents(
        one.sentences for one in draw_reviews("train", count=count, seed=seed, context=0.0)
    )


def make_opinions(
    count: int, opinions: int, *, seed: int, agree: bool = True
) -> list[tuple[tuple[str, ...], str]]:
    """Generate reviews of ``opinions`` sentences, each an opinion, and their ratings.

    If they ``agree``, all opinions of a review have its rating, as in real reviews: words that
    occur together then have similar meanings, even without ratings. Otherwise ratings are drawn
    for each opinion.
    """
    chance = random.Random(f"{seed}/{opinions}")
    found = []
    for _ in range(count):
        rating = chance.choice(list(OPINIONS))
        ratings = [rating if agree else chance.choice(list(OPINIONS)) for _ in range(opinions)]
        sentences = tuple(
            chance.choice(VERDICT).format(aspect=aspect, opinion=chance.choice(OPINIONS[each]))
            for aspect, each in zip(chance.sample(ASPECTS, opinions), ratings, strict=True)
        )
        found.append((sentences, str(rating)))
    return found


def join_sentences(rows: Iterable[tuple[tuple[str, ...], str]]) -> list[tuple[str, str]]:
    """Join the sentences of each review into one text, with its rating."""
    return [(" ".join(sentences), rating) for sentences, rating in rows]


def write_documents(several: Iterable[tuple[str, ...]]) -> str:
    """Write one sentence per line, and a blank line between documents."""
    return "\n".join("".join(f"{sentence}\n" for sentence in one) for one in several)
