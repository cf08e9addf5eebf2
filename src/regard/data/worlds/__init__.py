"""Synthetic corpora with known ground truth: scenes, reviews, names, formal languages.

``open_world(name, split)`` returns the records of a world as if they were read from a file.
"""

import json
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import starmap

from regard.data.record import Record
from regard.data.worlds.languages import LANGUAGES, draw_split
from regard.data.worlds.names import draw_names
from regard.data.worlds.reviews import draw_reviews
from regard.data.worlds.scenes import draw_scenes
from regard.data.worlds.splits import to_split
from regard.errors import UsageError

WORLDS = ("scenes", "reviews", "names", *LANGUAGES)


def open_world(name: str, split: str) -> Iterator[Record]:
    """Return a world's examples: source and target, text and label, or text and spans."""
    if name not in WORLDS:
        raise UsageError(
            f"world:{name} is not a world. Worlds: {', '.join(WORLDS)}.", _suggest(name)
        )
    side = to_split(split)
    pairs = _DRAWN[name](side) if name in _DRAWN else draw_split(name, side)
    return starmap(
        lambda line, fields: Record(fields, f"world:{name}/{side}", line), enumerate(pairs, 1)
    )


def _read_scenes(split: str) -> Iterator[tuple[str, str]]:
    return ((scene.source, scene.target) for scene in draw_scenes(split))


def _read_reviews(split: str) -> Iterator[tuple[str, str]]:
    return ((review.text, review.rating) for review in draw_reviews(split))


def _read_names(split: str) -> Iterator[tuple[str, str]]:
    return ((sentence.text, json.dumps(sentence.spans)) for sentence in draw_names(split))


_DRAWN = {"scenes": _read_scenes, "reviews": _read_reviews, "names": _read_names}


def _suggest(name: str) -> str:
    near = get_close_matches(name, WORLDS, n=1, cutoff=0.0)
    return f"Did you mean world:{near[0]}?"
