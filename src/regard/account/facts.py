"""What is assumed of a recipe without its data."""

from collections.abc import Sequence

from regard.ledger.entry import Seq
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.costs import cost_of


def facts_of(recipe: Recipe, *, vocabulary: int | None = None) -> Facts:
    """Return what is assumed of a recipe; ``vocabulary`` where the data determines its size."""
    task = cost_of(recipe)
    size, assumed = vocabulary or recipe.text.vocabulary, []
    if vocabulary is None:
        assumed.append(f"text.vocabulary = {size:,} tokens (a run has its actual vocabulary)")
    if recipe.model.writes == "seen" and task.writes:
        assumed.append("an output layer over the whole vocabulary, unseen tokens included")
    labels = 1 if recipe.data.scores else len(recipe.data.labels)
    if task.has_labels and not labels:
        labels = 2
        assumed.append("two labels, since data.labels names none")
    if recipe.model.start.run:
        assumed.append("the shape in [model], not that of model.start.run")
    return Facts(size, size, labels or 2, tuple(assumed))


def describe_lengths(recipe: Recipe, loads: Sequence[Load], source: str) -> tuple[str, ...]:
    """State the mean lengths of texts, where they are not windows of a fixed length."""
    task = cost_of(recipe)
    if task.windows:
        return ()
    sides = [[load.seq for load in loads]]
    if task.writes_target:
        sides.append([Seq(load.rows, load.target_length) for load in loads])
    elif task.queries:
        sides.insert(0, [load.queries for load in loads])
    means = [sum(seq.tokens for seq in side) / sum(seq.rows for seq in side) for side in sides]
    counts = " and ".join(f"{mean:,.0f}" for mean in means)
    return (f"lengths as in {source}: {counts} tokens on average",)


def assume_data(recipe: Recipe, length: int | None, why: str) -> tuple[Facts, Load]:
    """Return what is assumed of a recipe whose data is not read, for the reason ``why``."""
    facts, load = facts_of(recipe), load_of(recipe, length)
    if length or cost_of(recipe).windows:
        return facts, load
    words = f"texts of {load.length} tokens, since {why}"
    return facts._replace(assumed=(*facts.assumed, words)), load


def load_of(recipe: Recipe, length: int | None = None) -> Load:
    """Return the load of one shard of a step, for texts of ``length`` tokens."""
    task = cost_of(recipe)
    return task.typical_load(recipe, length or task.typical_length(recipe))
