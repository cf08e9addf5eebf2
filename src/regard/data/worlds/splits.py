"""The three splits of every world."""

from typing import Literal, get_args

from regard.errors import UsageError

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)


def to_split(name: str) -> Split:
    """Return the split of a name, or refuse it."""
    for split in SPLITS:
        if name == split:
            return split
    raise UsageError(
        f"A world has the splits {', '.join(SPLITS)}. Got {name!r}.",
        f"Write one of {', '.join(SPLITS)}.",
    )
