"""From a recipe to its ledger: what runs in one step of its task, and in which order."""

from regard.ledger.entry import Entry, Ledger, again
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.costs import cost_of


def ledger_of(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter everything that one shard of a training step does."""
    entries = cost_of(recipe).ledger(recipe, facts, load)
    start = recipe.model.start
    if start.freeze and start.unfreeze_after is None and start.carry == "body":
        entries = [_frozen(entry) if entry.body else entry for entry in entries]
    training = recipe.training
    if training.consistency or training.adversarial:
        first = [_sloped(entry) if training.adversarial else entry for entry in entries]
        entries = [*again(first), *entries]  # the way back meets the second pass first
    return entries


def _sloped(entry: Entry) -> Entry:
    """Book the way back to what entered, which says where to push; matrices are left alone.

    Scores are products of states on either side, and a norm's kernel does not ask what is wanted.
    """
    whole = entry.part in ("scores", "norms")
    return entry._replace(again=entry.again + (entry.macs_back if whole else entry.macs))


def _frozen(entry: Entry) -> Entry:
    return entry._replace(back=0, saved=0, passing=0, matrices=(), learns=False)
