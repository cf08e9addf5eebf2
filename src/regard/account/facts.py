"""What is assumed of a recipe that no data has settled."""

from collections.abc import Sequence

from regard.ledger.entry import Seq
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.costs import cost_of


def facts_of(recipe: Recipe, *, vocabulary: int | None = None) -> Facts:
    """Say what must be assumed of a recipe; ``vocabulary`` where the data has said how many."""
    task = cost_of(recipe)
    size, assumed = vocabulary or recipe.text.vocabulary, []
    if vocabulary is None:
        assumed.append(f"a vocabulary of text.vocabulary = {size:,} tokens (a run knows its own)")
    if recipe.model.writes == "seen" and task.writes:
        assumed.append("that every token can be written; those never seen will cost nothing")
    labels = 1 if recipe.data.scores else len(recipe.data.labels)
    if task.has_labels and not labels:
        labels = 2
        assumed.append("two labels, as data.labels names none")
    if recipe.model.start.run:
        assumed.append("that [model] says all that would be taken from model.start.run")
    return Facts(size, size, labels or 2, tuple(assumed))


def told_lengths(recipe: Recipe, loads: Sequence[Load], source: str) -> tuple[str, ...]:
    """Say how long the texts of batches are, and where they are from; windows are as they are."""
    task = cost_of(recipe)
    if task.windows:
        return ()
    sides = [[load.seq for load in loads]]
    if task.writes_target:
        sides.append([Seq(load.rows, load.written) for load in loads])
    elif task.queries:
        sides.insert(0, [load.asking for load in loads])
    means = [sum(seq.tokens for seq in side) / sum(seq.rows for seq in side) for side in sides]
    counts = " and ".join(f"{mean:,.0f}" for mean in means)
    return (f"lengths as in {source}: {counts} tokens on average",)


def unread(recipe: Recipe, length: int | None, why: str) -> tuple[Facts, Load]:
    """Say what must be assumed of a recipe whose data is not read, and ``why`` it is not."""
    facts, load = facts_of(recipe), load_of(recipe, length)
    if length or cost_of(recipe).windows:
        return facts, load
    words = f"texts of {load.length} tokens, as {why}"
    return facts._replace(assumed=(*facts.assumed, words)), load


def load_of(recipe: Recipe, length: int | None = None) -> Load:
    """Say what one shard of a step holds, of texts with ``length`` tokens."""
    task = cost_of(recipe)
    return task.typical_load(recipe, length or task.typical_length(recipe))
