"""Documents as they are read: white space folded, and of long ones as much as fits."""

from regard.errors import UsageError
from regard.recipe.text import TextSettings
from regard.tasks.labelling.overlong import head, head_tail


def folded(text: str) -> str:
    """Return a text with single spaces: how a document is broken into lines says nothing."""
    return " ".join(text.split())


def as_read(ids: list[int], most: int, settings: TextSettings) -> list[int]:
    """Return what is read of a document; one to be left out stays as long as it is."""
    if settings.overlong == "leave-out":
        return ids
    return head_tail(ids, most) if settings.overlong == "head-tail" else head(ids, most)


def as_asked(ids: list[int], most: int, settings: TextSettings, *, truncate: bool) -> list[int]:
    """Return what is read of a document that is asked about: what training read of such."""
    found = as_read(ids, most, settings)
    if len(found) <= most or truncate:
        return found[:most]
    raise UsageError(
        f"a document must fit the model's positions. Got {len(ids)} tokens; this model reads at "
        f"most {most}.",
        'Allow cutting it short with --truncate, or train with text.overlong = "head".',
    )
