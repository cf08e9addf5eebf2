"""Candidates: the recipes of a search, in the order of their trials, and which are left out.

    cost of a step    FLOPs + 200 per parameter (the optimizer reads and writes each several times)
    cost of a trial   cost of a step · steps of its own budget, relative to the recipe itself

All of it follows from the recipe by the formulas of the account, before anything is trained.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from regard.account.facts import load_of
from regard.account.fit import format_bytes, required_memory
from regard.account.operations import operations
from regard.account.parameters import count
from regard.account.plan import ledger_of
from regard.errors import UsageError
from regard.ledger.entry import FLOAT
from regard.ledger.load import Facts
from regard.recipe.budget import parse_budget
from regard.recipe.recipe import Recipe
from regard.tune.space import Complete, change, draw_changes

PER_PARAMETER = 200  # FLOPs in the time of one parameter's update
MOST = 200  # candidates drawn, however many are left out


class Limits(NamedTuple):
    """What a candidate may need."""

    dearest: float
    """Cost relative to the recipe."""
    memory: int | None = None
    """Bytes of a training."""
    size: int | None = None
    """Bytes of the model file."""


class Candidate(NamedTuple):
    """The recipe of one trial."""

    number: int
    changes: dict[str, Any]
    recipe: Recipe
    cost: float
    """Of a training, relative to the recipe itself."""
    pace: float
    """Cost of a step, relative to the recipe itself."""
    refusal: str = ""
    """Why it is left out, if it is."""


class Candidates:
    """Draws the candidates of a search.

    Args:
        recipe: The recipe itself, completed from its data.
        seed: Decides all changes, with the number of a trial.
        facts: What the recipe's model is known to have.
        length: Tokens of a typical text.
        complete: Fills in a recipe and refuses one that cannot be trained.

    """

    def __init__(
        self, recipe: Recipe, seed: int, facts: Facts, length: int, complete: Complete
    ) -> None:
        self.recipe, self.seed = recipe, seed
        self.facts, self.length, self.complete = facts, length, complete
        try:
            ledger_of(recipe, facts, load_of(recipe, length))
            self.accounted = True
        except UsageError:  # a task without an account
            self.accounted = False

    def draw(self, limits: Limits) -> Iterator[Candidate]:
        """Yield the recipe itself, then different candidates without end."""
        seen: list[dict[str, Any]] = []
        for number in range(MOST):
            changes = draw_changes(self.recipe, self.seed, number, self.complete)
            if changes in seen:
                continue
            seen.append(changes)
            changed = change(self.recipe, changes)
            cost = self._training_cost(changed) / self._training_cost(self.recipe)
            pace = self._step_cost(changed) / self._step_cost(self.recipe)
            candidate = Candidate(number, changes, changed, cost, pace)
            yield candidate._replace(refusal=self._refusal(candidate, limits))

    def _refusal(self, candidate: Candidate, limits: Limits) -> str:
        """Say why a candidate is left out; nothing if it is not."""
        recipe, facts = candidate.recipe, self._facts(candidate.recipe)
        if candidate.number and candidate.cost > limits.dearest:
            return (
                f"costs {candidate.cost:.1f} times the recipe, the plan holds {limits.dearest:.1f}"
            )
        if not self.accounted:
            return ""
        load = load_of(recipe, self.length)
        needs = required_memory(recipe, facts, load)
        if limits.memory is not None and needs > limits.memory:
            return f"needs {format_bytes(needs)} of memory, {format_bytes(limits.memory)} are free"
        size = FLOAT * count(ledger_of(recipe, facts, load)).total
        return describe_size(size, limits.size)

    def _training_cost(self, recipe: Recipe) -> float:
        """Return the cost of a training; a wall time costs the same whatever it is spent on."""
        kind, amount = parse_budget(recipe.training.budget)
        if kind == "time":
            return 1.0
        if kind == "steps":
            return amount * self._step_cost(recipe)
        return self._step_cost(recipe) / load_of(recipe, self.length).rows

    def _step_cost(self, recipe: Recipe) -> float:
        """Return the cost of a step in FLOPs; without an account, a size that grows with it."""
        if not self.accounted:
            return float(recipe.training.batch_tokens * recipe.model.width)
        ledger = ledger_of(recipe, self._facts(recipe), load_of(recipe, self.length))
        return float(operations(recipe, ledger).step + PER_PARAMETER * count(ledger).total)

    def _facts(self, recipe: Recipe) -> Facts:
        """Scale the vocabulary of the recipe's model to another recipe's."""
        times = recipe.text.vocabulary / self.recipe.text.vocabulary
        sizes = {
            name: round(getattr(self.facts, name) * times)
            for name in ("vocabulary", "output_vocabulary")
        }
        return self.facts if times == 1 else self.facts._replace(**sizes)


def describe_size(size: int, limit: int | None) -> str:
    """Say that a model file is too large; nothing if it is not."""
    if limit is None or size <= limit:
        return ""
    return f"its model file has {format_bytes(size)}, above {format_bytes(limit)}"
