"""A claim: what a course or a paper says, and the function that measures it.

    holds       every figure that tests the statement supports it
    fails       none does
    holds if    some do; the claim states the condition

A verdict is computed from figures and never typed in. Figures that only state a size test nothing.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Concatenate, Literal, ParamSpec

from regard.draw.bars import Bars
from regard.draw.chart import Curve
from regard.draw.picture import Picture

Kind = Literal["holds", "fails", "holds if", "not measured"]
Number = float | int
P = ParamSpec("P")

FAMILIES = {
    "attention": "Attention",
    "masks": "Masks",
    "complexity": "Complexity",
    "position": "Position",
    "transformer": "The Transformer",
    "pretraining": "Pretraining",
    "transfer": "Transfer",
    "structured": "Structured self-attention",
    "documents": "Documents",
    "limits": "Limits",
}
"""The families of claims in their order on the page; each is a file or a folder here."""


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    name: str
    value: Number
    supports: bool | None = None
    """Whether it supports the statement; None if it only states a size."""
    given: Number | None = None
    """The reference value of the inventory, computed before this package existed."""
    within: float = 1e-9
    """The relative tolerance to the reference value."""
    note: str = ""
    """Why it differs from the reference value, if it does."""

    @property
    def agrees(self) -> bool:
        """Whether it equals the reference value, if there is one."""
        if self.given is None:
            return True
        return math.isclose(self.value, self.given, rel_tol=self.within, abs_tol=1e-12)


@dataclass(frozen=True)
class Curves:
    """Line plots over one axis."""

    title: str
    x_label: str
    lines: tuple[Curve, ...]


Drawing = Bars | Curves | Picture


@dataclass(frozen=True)
class Measurement:
    """What measuring a claim gave."""

    summary: str
    """The figures in one line."""
    figures: tuple[Figure, ...]
    drawing: Drawing | None = None
    """A picture; without one the figures are drawn as bars."""


@dataclass(frozen=True)
class Claim:
    """Metadata, and one function that measures."""

    measure: Callable[[], Measurement] = field(repr=False)
    """Measures the claim; gives it its name, and its docstring describes the method."""
    _: KW_ONLY
    numbers: tuple[int, ...]
    """Numbers of the statements in the inventory."""
    source: str
    """The course documents, D0 to D4, and the papers they rest on."""
    statement: str
    """What they say, in one sentence."""
    layer: str
    """The file of the package that it tests."""
    meaning: str
    """How to interpret the figures."""
    next_step: str
    """What to try next."""
    correction: str = ""
    """The correct value or statement, if the document is wrong."""
    condition: str = ""
    """When it holds, if not always."""
    slow: bool = False
    """Whether it trains models."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.measure.__name__.replace("_", "-")

    @property
    def family(self) -> str:
        """The file or folder of :mod:`regard.claims` that contains it."""
        return self.measure.__module__.removeprefix("regard.claims.").split(".")[0]

    @property
    def documents(self) -> tuple[str, ...]:
        """Which of D0 to D4 contain it."""
        return tuple(name for name in ("D0", "D1", "D2", "D3", "D4") if name in self.source)

    @property
    def method(self) -> str:
        """How it is measured."""
        return " ".join((self.measure.__doc__ or "").split())


def _decorator(
    make: Callable[Concatenate[Callable[[], Measurement], P], Claim],
) -> Callable[P, Callable[[Callable[[], Measurement]], Claim]]:
    def with_fields(
        *args: P.args, **fields: P.kwargs
    ) -> Callable[[Callable[[], Measurement]], Claim]:
        return lambda measure: make(measure, *args, **fields)

    return with_fields


claim = _decorator(Claim)
"""Turns a function into a claim: ``@claim(numbers=(1,), source="D0 Q1", ...)``."""


def judge(measurement: Measurement) -> Kind:
    """Derive the verdict from the figures alone."""
    votes = [figure.supports for figure in measurement.figures if figure.supports is not None]
    if not votes:
        raise ValueError(
            "a verdict needs a figure that tests the statement. Got none; set supports of at "
            "least one figure."
        )
    if all(votes):
        return "holds"
    return "holds if" if any(votes) else "fails"


def state_verdict(claim: Claim, measurement: Measurement) -> str:
    """Give the verdict with its condition."""
    kind = judge(measurement)
    return f"holds if {claim.condition or 'only some of it'}" if kind == "holds if" else kind


def answer_briefly(claim: Claim, measurement: Measurement) -> str:
    """Answer in one sentence whether the statement is true."""
    match judge(measurement):
        case "holds":
            return f"True: {claim.correction or claim.statement}"
        case "fails":
            return f"False: {claim.correction or claim.meaning}"
        case _:
            only = f"True only if {claim.condition or 'some of its figures are meant'}."
            return f"{only} {claim.correction}".strip()


def choose_drawing(measurement: Measurement) -> Drawing:
    """Choose the claim's picture, or its figures as bars."""
    if measurement.drawing is not None:
        return measurement.drawing
    return Bars("", tuple((figure.name, figure.value) for figure in measurement.figures))
