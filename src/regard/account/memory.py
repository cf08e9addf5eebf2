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
    at_peak: dict[str, int]
    """What is live at that moment; the parts sum to the peak."""


class Live(NamedTuple):
    """Temporary bytes at one moment of a step."""

    activations: int
    gradients: int
    workspace: int


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
    update = Live(0, gradients, _orthogonalization(entries) if muon else 0)
    live = max(update, _walk(entries, earlier), key=sum)
    always = {"parameters": FLOAT * numbers, "optimizer": state, "copies": copies}
    return Memory(
        FLOAT * numbers,
        gradients,
        state,
        copies,
        sum(entry.saved for entry in entries),
        permanent + sum(live),
        {**always, **live._asdict()},
    )


def _walk(entries: Ledger, earlier: int) -> Live:
    """Walk forward and backward through one shard; return its temporary bytes at their peak.

    ``earlier`` bytes of gradients of earlier shards are live from the beginning; others then add
    to them in place.
    """
    moments, saved, gradients, held = [Live(0, 0, 0)], 0, earlier, 0
    for entry in entries:
        saved += entry.saved
        moments.append(Live(saved, gradients, entry.forward_workspace))
    for entry in reversed(entries):
        held += entry.held_gradient
        moments.append(Live(saved, gradients + entry.gradient_bytes, entry.workspace + held))
        gradients += 0 if earlier else entry.gradient_bytes
        saved -= entry.saved
    return max(moments, key=sum)


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
