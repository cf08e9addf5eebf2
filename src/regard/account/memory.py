"""Memory of a training step: the peak of a walk through its entries.

    always      parameters, optimizer state, averaged and best copies
    forward     every part adds what it saves for the backward pass
    backward    every part frees what it saved, and adds the gradients of its parameters
    update      gradients and optimizer state; Muon also copies of the matrices of one shape

``peak`` is the maximum of live tensor bytes, as torch's allocator counts them. The program itself
(Python, torch) adds a few hundred MB.
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
    """Averaged and best parameters."""
    activations: int
    """Saved for the backward pass of one shard."""
    peak: int
    """The maximum of live bytes."""


def memory(recipe: Recipe, entries: Ledger) -> Memory:
    """Return the memory of one step."""
    numbers = sum(entry.parameters for entry in entries)
    learned = sum(entry.parameters for entry in entries if entry.trainable)
    hidden = sum(rows * columns for entry in entries for rows, columns in entry.matrices)
    muon = isinstance(recipe.training.optimizer, MuonSettings)
    plain = isinstance(recipe.training.optimizer, SgdSettings)
    state = 0 if plain else FLOAT * (2 * learned - hidden if muon else 2 * learned)
    copies = FLOAT * numbers * (bool(recipe.training.ema) + (recipe.training.keep == "best"))
    permanent = FLOAT * numbers + state + copies
    gradients = sum(entry.gradient_bytes for entry in entries)
    earlier = gradients if recipe.training.shards > 1 else 0
    update = permanent + gradients + (_orthogonalization(entries) if muon else 0)
    peak = max(update, permanent + earlier + _walk(entries, accumulated=bool(earlier)))
    return Memory(
        FLOAT * numbers,
        gradients,
        state,
        copies,
        sum(entry.saved for entry in entries),
        peak,
    )


def _walk(entries: Ledger, *, accumulated: bool) -> int:
    """Walk forward and backward through one shard; return the peak of its temporary bytes."""
    live = peak = 0
    for entry in entries:
        peak = max(peak, live + entry.saved + entry.forward_workspace)
        live += entry.saved
    for entry in reversed(entries):
        gradient = entry.gradient_bytes
        peak = max(peak, live + entry.workspace + gradient + entry.held_gradient)
        live += entry.held_gradient + (0 if accumulated else gradient) - entry.saved
    return peak


def _orthogonalization(entries: Ledger) -> int:
    """Return Muon's temporary bytes, for all matrices of one shape at once."""
    shapes = Counter(matrix for entry in entries for matrix in entry.matrices)
    return max(
        (
            FLOAT * times * (4 * rows * columns + 2 * min(rows, columns) ** 2)
            for (rows, columns), times in shapes.items()
        ),
        default=0,
    )
