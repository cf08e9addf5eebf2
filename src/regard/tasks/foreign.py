"""Encoders that another library trained, and what a task makes of them."""

from typing import Any, NamedTuple


class ForeignEncoder(NamedTuple):
    """Which heads an encoder has."""

    pools: bool = True
    """Whether its files say how its states are pooled into one vector."""
    fills_masks: bool = True
    judges_pairs: bool = True


class Adoption(NamedTuple):
    """How a task uses an encoder."""

    tables: dict[str, Any]
    """Tables of a recipe, in addition to the shape of the encoder."""
    usual: bool
    """Whether the encoder was trained for this."""
