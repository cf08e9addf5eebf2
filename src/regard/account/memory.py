"""Memory of a training step, by walking through it once: what is alive at the fullest moment.

    always      parameters, the optimizer's state, averaged or best copies
    forward     every part adds what it keeps for the way back
    back        every part frees what it kept, and leaves the gradients of its parameters
    moving      gradients and state; Muon also copies of the matrices of one shape

``peak`` is the most bytes of tensors alive at any moment of a step, as torch's allocator counts
them. The program itself (Python, torch) comes on top, a few hundred MB, and is said apart.
"""

from collections import Counter
from typing import NamedTuple

from regard.ledger.entry import FLOAT, Ledger
from regard.recipe.recipe import Recipe
from regard.recipe.training import MuonSettings, SgdSettings


class Memory(NamedTuple):
    """Bytes."""

    parameters: int
    gradients: int
    optimizer: int
    copies: int
    """An averaged copy, and the best so far."""
    activations: int
    """What is kept for the way back, of one shard."""
    peak: int
    """The most alive at once."""


def memory(recipe: Recipe, entries: Ledger) -> Memory:
    """Account for the memory of one step."""
    numbers = sum(entry.parameters for entry in entries)
    learned = sum(entry.parameters for entry in entries if entry.learns)
    hidden = sum(rows * columns for entry in entries for rows, columns in entry.matrices)
    muon = isinstance(recipe.training.optimizer, MuonSettings)
    plain = isinstance(recipe.training.optimizer, SgdSettings)
    state = 0 if plain else FLOAT * (2 * learned - hidden if muon else 2 * learned)
    copies = FLOAT * numbers * (bool(recipe.training.ema) + (recipe.training.keep == "best"))
    standing = FLOAT * numbers + state + copies
    gradients = sum(entry.gradient_bytes for entry in entries)
    earlier = gradients if recipe.training.shards > 1 else 0
    moving = standing + gradients + (_orthogonal(entries) if muon else 0)
    peak = max(moving, standing + earlier + _walk(entries, accumulated=bool(earlier)))
    return Memory(
        FLOAT * numbers,
        gradients,
        state,
        copies,
        sum(entry.saved for entry in entries),
        peak,
    )


def _walk(entries: Ledger, *, accumulated: bool) -> int:
    """Go forward and back through one shard; return the most that was alive beside the standing."""
    alive = most = 0
    for entry in entries:
        most = max(most, alive + entry.saved + entry.forward_passing)
        alive += entry.saved
    for entry in reversed(entries):
        gradient = entry.gradient_bytes
        most = max(most, alive + entry.passing + gradient + entry.held)
        alive += entry.held + (0 if accumulated else gradient) - entry.saved
    return most


def _orthogonal(entries: Ledger) -> int:
    """Bytes that come and go while Muon moves the matrices of one shape, all at once."""
    shapes = Counter(matrix for entry in entries for matrix in entry.matrices)
    return max(
        (
            FLOAT * times * (4 * rows * columns + 2 * min(rows, columns) ** 2)
            for (rows, columns), times in shapes.items()
        ),
        default=0,
    )
