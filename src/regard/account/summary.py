"""The account of a recipe or a run: parameters, operations, memory and attention's share."""

from typing import Any, NamedTuple

from regard.account.facts import facts_of, load_of
from regard.account.memory import Memory, memory
from regard.account.operations import Operations, attention_shares, operations
from regard.account.parameters import Parameters, count
from regard.account.plan import ledger_of
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Account(NamedTuple):
    """What a recipe costs, by formula."""

    task: str
    facts: Facts
    load: Load
    shards: int
    parameters: Parameters
    operations: Operations
    memory: Memory
    shares: dict[int, float]
    """Share of attention scores in a forward pass, by length of text."""

    @property
    def tokens(self) -> int:
        """Positions of one step; of a pair, those of the longer side."""
        return self.shards * self.load.rows * max(self.load.length, self.load.target_length)

    def as_json(self) -> dict[str, Any]:
        """Return it under names that scripts rely on."""
        flops = self.operations
        return {
            "task": self.task,
            "vocabulary": self.facts.vocabulary,
            "length": self.load.length,
            "rows": self.load.rows,
            "shards": self.shards,
            "parameters": self.parameters._asdict(),
            "flops": {
                "forward": flops.forward,
                "backward": flops.backward,
                "optimizer": flops.optimizer,
                "step": flops.step,
                "parts": flops.parts,
                "attention_share": {str(n): share for n, share in self.shares.items()},
            },
            "memory": self.memory._asdict(),
            "assumed": list(self.facts.assumed),
        }


def account(recipe: Recipe, facts: Facts | None = None, load: Load | None = None) -> Account:
    """Account for a recipe with batches like ``load``."""
    known, load = facts or facts_of(recipe), load or load_of(recipe)
    entries = ledger_of(recipe, known, load)
    return Account(
        recipe.task,
        known,
        load,
        recipe.training.shards,
        count(entries),
        operations(recipe, entries),
        memory(recipe, entries),
        attention_shares(recipe, known, sorted({*LENGTHS, load.length})),
    )
