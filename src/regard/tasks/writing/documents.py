"""Documents of encoder-decoders: fold_space white space and truncation."""

from regard.errors import UsageError
from regard.recipe.text import TextSettings
from regard.tasks.labelling.overlong import head, head_tail


def fold_space(text: str) -> str:
    """Replace white space by single spaces, because line breaks carry no meaning."""
    return " ".join(text.split())


def truncate_for_training(ids: list[int], most: int, settings: TextSettings) -> list[int]:
    """Truncate a document for training; one that will be left out is not truncated."""
    if settings.overlong == "leave-out":
        return ids
    return head_tail(ids, most) if settings.overlong == "head-tail" else head(ids, most)


def truncate_for_inference(
    ids: list[int], most: int, settings: TextSettings, *, truncate: bool
) -> list[int]:
    """Truncate a document for inference as in training; raise an error if that is not allowed."""
    found = truncate_for_training(ids, most, settings)
    if len(found) <= most or truncate:
        return found[:most]
    raise UsageError(
        f"a document must fit the model's input. Got {len(ids)} tokens; this model reads at "
        f"most {most}.",
        'Truncate it with --truncate, or train with text.overlong = "head".',
    )
