"""The small recipes of slow claims: one thread, a few hundred steps, the rest as it comes."""

import random
from collections.abc import Iterable
from itertools import islice
from typing import Any

from regard.data.worlds.reviews import reviews
from regard.data.worlds.reviews.words import ASPECTS, OPINIONS, VERDICT
from regard.data.worlds.scenes import scenes

Tables = dict[str, Any]


def training(steps: int, **more: Any) -> Tables:  # noqa: ANN401
    """Give the table ``[training]``: so many steps, measured once at the end."""
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


def classification(steps: int, *, longest: int = 64, seed: int = 1, **model: Any) -> Tables:  # noqa: ANN401
    """Give a recipe that tells labels of short texts; its words are its tokens."""
    return {
        "task": "classification",
        "seed": seed,
        "text": {"tokenizer": "words", "vocabulary": 1500, "max_length": longest},
        "model": {
            "width": 48,
            "depth": 2,
            "feed_forward": 96,
            "dropout": 0.0,
            "mixer": {"kind": "attention", "heads": 4},
            "head": {"pooling": "mean", "dropout": 0.0},
            **model,
        },
        "training": training(steps),
    }


def language_modelling(steps: int, *, longest: int = 32, seed: int = 1, **model: Any) -> Tables:  # noqa: ANN401
    """Give a recipe that says the next word of everyday sentences."""
    return {
        "task": "language-modelling",
        "seed": seed,
        "data": {"format": "lines"},
        "text": {"tokenizer": "words", "vocabulary": 1500, "max_length": longest},
        "model": {
            "width": 64,
            "depth": 2,
            "feed_forward": 128,
            "dropout": 0.0,
            "writes": "all",
            "mixer": {"kind": "attention", "heads": 4},
            **model,
        },
        "training": training(steps),
        "decoding": {"method": "greedy"},
    }


def pretraining(steps: int, *, seed: int = 1, model: Tables | None = None, **chosen: Any) -> Tables:  # noqa: ANN401
    """Give a recipe that guesses masked words of plain text."""
    return {
        "task": "masked-pretraining",
        "seed": seed,
        "data": {"format": "text", "holdout": 0.1},
        "text": {"tokenizer": "words", "vocabulary": 1500, "max_length": 64},
        "model": {
            "width": 48,
            "depth": 2,
            "feed_forward": 96,
            "dropout": 0.0,
            "mixer": {"kind": "attention", "heads": 4},
            **(model or {}),
        },
        "pretraining": chosen,
        "training": training(steps),
    }


def sentences(count: int, split: str = "train") -> str:
    """Give English sentences of the built-in world, one per line."""
    return "".join(f"{scene.target}\n" for scene in islice(scenes(split), count))


def rated(count: int, split: str = "train", *, context: float = 0.0) -> list[tuple[str, str]]:
    """Give reviews of the built-in world with their ratings."""
    return [(one.text, one.rating) for one in reviews(split, count=count, context=context)]


def plain(count: int, *, seed: int = 1) -> str:
    """Give reviews without their ratings, a sentence per line, blank lines between them."""
    return documents(one.sentences for one in reviews("train", count=count, seed=seed, context=0.0))


def agreeing(
    count: int, opinions: int, *, seed: int, agree: bool = True
) -> list[tuple[tuple[str, ...], str]]:
    """Give reviews of so many sentences, each an opinion, and their ratings.

    All opinions of a review have its rating, as in reviews that people write: which words go
    together then tells what they mean, even without ratings. Unless they ``agree``.
    """
    chance = random.Random(f"{seed}/{opinions}")
    found = []
    for _ in range(count):
        rating = chance.choice(list(OPINIONS))
        ratings = [rating if agree else chance.choice(list(OPINIONS)) for _ in range(opinions)]
        said = tuple(
            chance.choice(VERDICT).format(aspect=aspect, opinion=chance.choice(OPINIONS[each]))
            for aspect, each in zip(chance.sample(ASPECTS, opinions), ratings, strict=True)
        )
        found.append((said, str(rating)))
    return found


def joined(rows: Iterable[tuple[tuple[str, ...], str]]) -> list[tuple[str, str]]:
    """Write each review as one text, beside its rating."""
    return [(" ".join(sentences), rating) for sentences, rating in rows]


def documents(several: Iterable[tuple[str, ...]]) -> str:
    """Write a sentence per line, and a blank line between documents."""
    return "\n".join("".join(f"{sentence}\n" for sentence in one) for one in several)
