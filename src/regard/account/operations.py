"""Operations of a forward pass and of a training step: every matrix product, by formula.

    FLOPs = 2 · multiply-adds;   step = shards · (forward + backward) + optimizer
    Newton-Schulz (Muon) of a matrix m × M, m ≤ M:   2·m²·M + m³ multiply-adds per iteration

Equal to a count of all products on the reference path, which computes attention by its equation.
Softmax, norms and activations are not products; they take little time and are not counted.
"""

from typing import NamedTuple

from regard.account.facts import load_of
from regard.account.plan import ledger_of
from regard.ledger.entry import Ledger, sum_by_part
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe
from regard.recipe.training import MuonSettings

SCORES = "scores"


class Operations(NamedTuple):
    """FLOPs of one step, all its shards."""

    forward: int
    """The forward pass, with the loss."""
    backward: int
    """The backward pass."""
    optimizer: int
    """Products in the optimizer (Muon)."""
    parts: dict[str, int]
    """The forward pass by part, largest first."""

    @property
    def step(self) -> int:
        """A training step."""
        return self.forward + self.backward + self.optimizer


def operations(recipe: Recipe, entries: Ledger) -> Operations:
    """Sum the operations of a step whose shards all have these entries."""
    shards = recipe.training.shards
    return Operations(
        2 * shards * sum(entry.forward_macs for entry in entries),
        2 * shards * sum(entry.backward_macs for entry in entries),
        2 * optimizer_macs(recipe, entries),
        sum_by_part((entry.part, 2 * shards * entry.forward_macs) for entry in entries),
    )


def optimizer_macs(recipe: Recipe, entries: Ledger) -> int:
    """Return the multiply-adds of Muon's orthogonalization; other optimizers have none."""
    chosen = recipe.training.optimizer
    if not isinstance(chosen, MuonSettings):
        return 0
    sides = [sorted(matrix) for entry in entries for matrix in entry.matrices]
    each = sum(2 * short * short * long + short**3 for short, long in sides)
    return chosen.newton_schulz_steps * each


def attention_shares(recipe: Recipe, facts: Facts, lengths: list[int]) -> dict[int, float]:
    """Return the share of attention scores in a forward pass, by length of text."""
    shares = {}
    for length in lengths:
        entries = ledger_of(recipe, facts, load_of(recipe, length))
        scores = sum(entry.macs for entry in entries if entry.part == SCORES)
        shares[length] = scores / max(1, sum(entry.macs for entry in entries))
    return shares
