"""From a recipe to the ledger of one step: its task's entries, frozen or repeated."""

from regard.ledger.entry import Entry, Ledger, repeat_pass
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.costs import cost_of


def ledger_of(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Return the entries of one shard of a training step."""
    entries = cost_of(recipe).ledger(recipe, facts, load)
    start = recipe.model.start
    if start.freeze and start.unfreeze_after is None and start.carry == "body":
        entries = [_freeze(entry) if entry.body else entry for entry in entries]
    if recipe.training.adversarial:
        return [*repeat_pass(map(_with_input_gradient, entries)), *entries]
    # The backward pass begins with the second of two passes.
    return [*repeat_pass(entries), *entries] if recipe.training.consistency else entries


def _with_input_gradient(entry: Entry) -> Entry:
    """Add the gradient of the input, for an adversarial perturbation, without those of matrices.

    Both factors of attention scores are states, and norm kernels always compute all gradients.
    """
    added = entry.backward_macs if entry.part in ("scores", "norms") else entry.macs
    return entry._replace(forward_only_macs=entry.forward_only_macs + added)


def _freeze(entry: Entry) -> Entry:
    return entry._replace(backward=0, saved=0, workspace=0, matrices=(), trainable=False)
