"""The interface of an export target, and the record of its equality.

A target says which architecture fits a run, or which settings stand in the way; writes a folder;
and opens that folder with its own implementation as a :class:`Side`. Comparing both sides is
the same for every target (:mod:`.compare`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from regard.run import Run
from regard.tasks.foreign import Export, Obstacle

Texts = tuple[str, ...]


class Row(NamedTuple):
    """What a model reads."""

    ids: list[int]
    """With the special tokens around the text."""
    target: tuple[int, ...] = ()
    """What the decoder of an encoder-decoder reads: the start token, then the answer."""
    segments: tuple[int, ...] = ()
    """Of a pair: the text of each token."""


@runtime_checkable
class Side(Protocol):
    """One of two implementations that must be equal."""

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        """Encode texts, or pairs of texts, with the special tokens around them."""

    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return the outputs of each row by name, such as ``logits``, without padding."""

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        """Answer texts, greedily and with at most ``most`` tokens; None where nothing is written.

        An answer that is a label or a vector follows from the outputs.
        """


class Fit(NamedTuple):
    """An architecture of the target that a run fits."""

    architecture: str
    notes: tuple[str, ...] = ()
    """What differs although the network is equal; for the card."""
    lacks: tuple[str, ...] = ()
    """Outputs of the run that the architecture does not have; the notes say so."""
    plan: Any = None
    """Whatever the target needs to write the folder."""


class Equality(NamedTuple):
    """What was compared, and how large the differences are."""

    texts: int
    same_tokens: int
    answers: int
    """Answers compared; 0 where nothing is written."""
    same_answers: int
    differences: dict[str, float]
    """The largest absolute difference of each output."""
    tolerance: float
    """Largest difference allowed, relative to the largest absolute output if that is above 1."""
    scores: dict[str, Any]
    """By side, on the test split; or the reason why there are none."""
    equal: bool

    @property
    def largest(self) -> float:
        """The largest difference of all outputs."""
        return max(self.differences.values(), default=0.0)


class Target(NamedTuple):
    """One format to export to."""

    name: str
    summary: str
    """In one line, for ``regard export RUN``."""
    needs: tuple[str, ...]
    """Packages on PyPI that writing and verifying need."""
    fits: Callable[[Run], Fit | list[Obstacle]]
    """Return the architecture that the run fits, or the settings that stand in the way."""
    write: Callable[[Run, Fit, Path], None]
    """Write the files into an empty folder."""
    open: Callable[[Run, Fit, Path], Side]
    """Open the folder with the target's own implementation."""
    tolerance: float = 1e-4
    """Largest difference of outputs that counts as equal."""
    precision: str = "both sides computed in float64 from the stored float32 weights"
    """In which precision the two sides are computed."""
    view: Callable[[Export], Export] = lambda shape: shape
    """Return what the target makes of a model, such as vectors of any encoder."""

    def shape(self, run: Run) -> Export:
        """Return what the run's model is to this target."""
        return self.view(run.task.export())
