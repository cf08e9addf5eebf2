"""German-English sentences about everyday scenes, from a real grammar of both languages.

``draw_scenes("train")`` yields sentence pairs with gold word alignments. The splits share every
word but no combination of subject, verb and object, or of adjective and noun (see `chance`). So a
translator has to generalize compositionally.
"""

from collections.abc import Iterator
from typing import NamedTuple

from regard.data.worlds.scenes.chance import Chance, Combination
from regard.data.worlds.scenes.draw_clause import Rejected
from regard.data.worlds.scenes.sentence import draw_sentence
from regard.data.worlds.scenes.words import Scene, to_scene
from regard.data.worlds.splits import Split, to_split
from regard.errors import UsageError

__all__ = ["COUNTS", "DrawnScene", "Scene", "draw_scenes", "draw_with_combinations"]

COUNTS: dict[Split, int] = {"train": 20_000, "valid": 500, "test": 1_000}
"""Default number of scenes of each split."""

_PATIENCE = 20_000


class DrawnScene(NamedTuple):
    """A scene with the combinations it is made of."""

    scene: Scene
    combinations: tuple[Combination, ...]


def draw_scenes(split: str, *, count: int | None = None, seed: int = 0) -> Iterator[Scene]:
    """Draw distinct sentence pairs of a split, the same for the same seed on every machine."""
    return (drawn.scene for drawn in draw_with_combinations(split, count=count, seed=seed))


def draw_with_combinations(
    split: str, *, count: int | None = None, seed: int = 0
) -> Iterator[DrawnScene]:
    """Draw the scenes of a split, each with the combinations that belong to this split only."""
    side = to_split(split)
    chance, seen, misses = Chance(side, seed), set[str](), 0
    wanted = COUNTS[side] if count is None else count
    while len(seen) < wanted:
        drawn = _draw_scene(chance)
        if drawn is None or drawn.scene.source in seen:
            misses += 1
            if misses > _PATIENCE:
                raise UsageError(
                    f"world:scenes has only about {len(seen)} distinct sentences for "
                    f"{split!r}, and {wanted} were asked for.",
                    f"Ask for at most {len(seen)}.",
                )
            continue
        misses = 0
        seen.add(drawn.scene.source)
        yield drawn


def _draw_scene(chance: Chance) -> DrawnScene | None:
    try:
        sentence = draw_sentence(chance)
    except Rejected:
        return None
    return DrawnScene(to_scene(sentence), tuple(chance.combinations))
