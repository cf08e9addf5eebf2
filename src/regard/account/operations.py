"""Operations of a pass and of a training step: every matrix product, by formula.

    FLOPs = 2 · multiply-adds;   step = shards · (forward + back) + optimizer
    Newton-Schulz (Muon) of a matrix m × M, m ≤ M:   2·m²·M + m³ multiply-adds, each of its steps

Equal to what a counter of all products sees on the reference path, where attention is the equation
itself. Softmax, norms and activations are not products; their share is small and not counted here.
"""

from typing import NamedTuple

from regard.account.facts import load_of
from regard.account.plan import ledger_of
from regard.ledger.entry import Ledger, by_part
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe
from regard.recipe.training import MuonSettings

LOOKS = "scores"


class Operations(NamedTuple):
    """FLOPs of one step, all its shards."""

    forward: int
    """One pass over the step's texts, its loss included."""
    backward: int
    """What learning adds: the way back."""
    optimizer: int
    """Products of the optimizer itself: Muon's."""
    parts: dict[str, int]
    """The forward pass by part, largest first."""

    @property
    def step(self) -> int:
        """A whole step of training."""
        return self.forward + self.backward + self.optimizer


def operations(recipe: Recipe, entries: Ledger) -> Operations:
    """Sum the operations of a step whose shards all look like these entries."""
    shards = recipe.training.shards
    return Operations(
        2 * shards * sum(entry.macs + entry.again for entry in entries),
        2 * shards * sum(entry.macs_back for entry in entries),
        2 * optimizer_macs(recipe, entries),
        by_part((entry.part, 2 * shards * (entry.macs + entry.again)) for entry in entries),
    )


def optimizer_macs(recipe: Recipe, entries: Ledger) -> int:
    """Multiply-adds that making updates orthogonal costs; others multiply no matrices."""
    chosen = recipe.training.optimizer
    if not isinstance(chosen, MuonSettings):
        return 0
    sides = [sorted(matrix) for entry in entries for matrix in entry.matrices]
    each = sum(2 * short * short * long + short**3 for short, long in sides)
    return chosen.newton_schulz_steps * each


def attention_shares(recipe: Recipe, facts: Facts, lengths: list[int]) -> dict[int, float]:
    """Say which share of a forward pass goes into scores and what is seen, by length of text."""
    shares = {}
    for length in lengths:
        entries = ledger_of(recipe, facts, load_of(recipe, length))
        looks = sum(entry.macs for entry in entries if entry.part == LOOKS)
        shares[length] = looks / max(1, sum(entry.macs for entry in entries))
    return shares
