"""The tag set of a recipe, and its scheme.

spans    O B-LOC I-LOC B-PER I-PER        written into data.labels once the data is read
none     ADJ DET NOUN VERB
"""

from collections import Counter
from collections.abc import Sequence

from regard.errors import DataError
from regard.recipe.recipe import Recipe
from regard.tasks.tagging.example import LEARNED, Annotation
from regard.tasks.tagging.schemes import OUTSIDE, Scheme
from regard.tasks.task import Examples

MOST = 1000
SHOWN = 8


def complete_tags(recipe: Recipe, source: Examples) -> Recipe:
    """Write the tags of the training examples into the recipe, unless it names them."""
    if recipe.data.labels:
        return recipe
    types: Counter[str] = Counter()
    schemes: set[bool] = set()
    for _, field in source():
        annotation = Annotation.from_field(field)
        schemes.add(annotation.scheme == "none")
        types.update(span.label for span in annotation.spans)
    if len(schemes) == 2:
        raise DataError(
            "tags must all have prefixes such as B-, or all have none. Got both kinds.",
            "Name the same column for every file in data.fields, or correct the files.",
        )
    least = 2 if schemes == {True} else 1
    if not least <= len(types) <= MOST:
        raise DataError(
            f"there must be at least {least} and at most {MOST} kinds of tags. Got {len(types):,} "
            f"in data.train: {_list_some(sorted(types))}.",
            "Mark some spans, or name the column of the tags in data.fields.",
        )
    plain = schemes == {True}
    tags = sorted(types) if plain else [OUTSIDE, *(f"{p}-{t}" for t in sorted(types) for p in "BI")]
    data = recipe.data.model_copy(update={"labels": tuple(tags)})
    return recipe.model_copy(update={"data": data})


def scheme_of(tags: Sequence[str]) -> Scheme:
    """Return the scheme of a recipe's own tags."""
    return LEARNED if OUTSIDE in tags and any(tag.startswith("B-") for tag in tags) else "none"


def unknown_tag(known: Sequence[str], field: str) -> tuple[str, str] | None:
    """Return problem and remedy for an unknown tag of an example; None if all are known."""
    unknown = sorted(set(Annotation.from_field(field).learned) - set(known)) if known else []
    if not unknown:
        return None
    return (
        f"A tag must occur in the training data. Got {unknown[0]!r}; known tags are "
        f"{_list_some(known)}.",
        "Correct the tag, or add examples of it to data.train.",
    )


def _list_some(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:SHOWN])) or "none"
    return f"{shown} and {len(names) - SHOWN:,} more" if len(names) > SHOWN else shown
