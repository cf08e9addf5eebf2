"""A mechanism: a small computation by the package's own layers, with controls.

A chapter has controls (sliders, choices, switches, texts) and a function of their values that
returns panels: matrices, charts, tables, marked words. A page only shows them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.errors import UsageError

Number = float | int
DIGITS = 5
"""Significant digits of the numbers that are sent to a page."""


# ── controls ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Slider:
    """A whole number, or with a ``step`` below 1 any multiple of it."""

    name: str
    label: str
    default: Number
    low: Number
    high: Number
    step: Number = 1

    kind: str = field(default="slider", init=False)

    def parse(self, text: str) -> Number:
        """Convert what a page sends, and refuse what the slider cannot be set to."""
        try:
            value = round(float(text), 9)
        except ValueError:
            raise self._refuse(text) from None
        if not self.low <= value <= self.high:
            raise self._refuse(text)
        steps = round((value - self.low) / self.step)
        return round(self.low + steps * self.step, 9) if self.step % 1 else int(value)

    def _refuse(self, text: str) -> UsageError:
        return UsageError(
            f"{self.name} is a number from {self.low:g} to {self.high:g}. Got {text!r:.40}.",
            f"Leave it out for {self.default:g}.",
        )


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    name: str
    label: str
    default: str
    options: tuple[str, ...]

    kind: str = field(default="choice", init=False)

    def parse(self, text: str) -> str:
        """Refuse other values."""
        if text not in self.options:
            raise UsageError(
                f"{self.name} is one of {', '.join(self.options)}. Got {text!r:.40}.",
                f"Leave it out for {self.default}.",
            )
        return text


@dataclass(frozen=True)
class Switch:
    """On or off."""

    name: str
    label: str
    default: bool = False

    kind: str = field(default="switch", init=False)

    def parse(self, text: str) -> bool:
        """Convert "on" and "off"."""
        if text not in ("on", "off"):
            raise UsageError(f"{self.name} is on or off. Got {text!r:.40}.", "Leave it out.")
        return text == "on"


@dataclass(frozen=True)
class Words:
    """A text of a few words."""

    name: str
    label: str
    default: str
    most: int = 24
    """Words; further ones are refused."""

    kind: str = field(default="words", init=False)

    def parse(self, text: str) -> list[str]:
        """Split a text into words."""
        words = text.split()
        if not 1 <= len(words) <= self.most or len(text) > 40 * self.most:
            raise UsageError(
                f"{self.name} has 1 to {self.most} words. Got {len(words)}.", "Shorten the text."
            )
        return words


Control = Slider | Choice | Switch | Words


# ── panels ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Matrix:
    """Numbers as colours; None is masked."""

    title: str
    values: list[list[float | None]]
    rows: list[str]
    columns: list[str]
    note: str = ""
    signed: bool = False
    """Whether 0 is in the middle of the colours instead of at their end."""

    kind: str = field(default="matrix", init=False)


@dataclass(frozen=True)
class Line:
    """A curve."""

    name: str
    xs: list[float]
    ys: list[float | None]


@dataclass(frozen=True)
class Chart:
    """Curves over one axis."""

    title: str
    axis: str
    lines: list[Line]
    note: str = ""
    log: bool = False

    kind: str = field(default="chart", init=False)


@dataclass(frozen=True)
class Table:
    """Rows of texts."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    note: str = ""

    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class Marked:
    """Words, some of them marked with what happened to them."""

    title: str
    words: list[tuple[str, str]]
    """Each with its mark: empty, "masked", "replaced" or "kept"."""
    note: str = ""

    kind: str = field(default="marked", init=False)


Panel = Matrix | Chart | Table | Marked


class Attempt(NamedTuple):
    """Something to try: a sentence, and the values of controls that show it."""

    sentence: str
    values: Mapping[str, str] = {}


@dataclass(frozen=True)
class Mechanism:
    """A chapter."""

    compute: Callable[..., Sequence[Panel]] = field(repr=False)
    """A function of the values of all controls, by name."""
    _: KW_ONLY
    name: str
    title: str
    source: str
    """Where the course and the papers describe it."""
    text: tuple[str, ...]
    """Paragraphs."""
    equation: str
    controls: tuple[Control, ...]
    attempts: tuple[Attempt, ...]
    claims: tuple[str, ...]
    """Names of the claims that measure it."""
    layer: str
    """The file of the package that computes it."""

    def describe(self) -> dict[str, Any]:
        """Return everything but the panels, as JSON has it."""
        return {
            **{"name": self.name, "title": self.title, "source": self.source, "text": self.text},
            **{"equation": self.equation, "layer": self.layer, "claims": self.claims},
            "controls": [asdict(control) for control in self.controls],
            "attempts": [
                {"sentence": one.sentence, "values": dict(one.values)} for one in self.attempts
            ],
        }

    def show(self, given: Mapping[str, str]) -> list[dict[str, Any]]:
        """Compute the panels; ``given`` are the values that differ from the defaults."""
        known = {control.name: control for control in self.controls}
        if strange := [name for name in given if name not in known]:
            raise UsageError(
                f"{self.title} has no control {strange[0]!r:.40}.",
                f"It has {', '.join(known)}.",
            )
        values = {
            name: control.parse(given[name]) if name in given else self._default(control)
            for name, control in known.items()
        }
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            return [asdict(panel) for panel in self.compute(**values)]

    def _default(self, control: Control) -> Any:  # noqa: ANN401 - as its kind has it
        return control.parse(control.default) if isinstance(control, Words) else control.default


def to_rows(numbers: Tensor, visible: Tensor | None = None) -> list[list[float | None]]:
    """Convert a matrix to rounded numbers; None where ``visible`` is False."""
    shown: list[list[float | None]] = [[_round(value) for value in row] for row in numbers.tolist()]
    if visible is None:
        return shown
    return [
        [value if seen else None for value, seen in zip(row, seen_row, strict=True)]
        for row, seen_row in zip(shown, visible.tolist(), strict=True)
    ]


def to_numbers(numbers: Tensor) -> list[float | None]:
    """Convert a vector to rounded numbers."""
    return [_round(value) for value in numbers.tolist()]


def number_names(count: int, first: int = 0) -> list[str]:
    """Name positions by their numbers."""
    return [str(number) for number in range(first, first + count)]


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
