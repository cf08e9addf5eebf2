"""A claim: what a course or a paper says, and the function that measures it.

    holds       every figure that speaks for or against the statement supports it
    fails       none does
    holds if    some do; the claim says under which condition

A verdict is computed from figures and is never typed in. Figures that only give the size of
something speak neither for nor against.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Concatenate, Literal, ParamSpec

from regard.draw.bars import Bars
from regard.draw.chart import Line
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
"""The families of claims, in the order they are told; each is a file or a folder here."""


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    name: str
    value: Number
    supports: bool | None = None
    """Whether it supports the statement; None where it only gives the size of something."""
    given: Number | None = None
    """What was computed for the inventory of statements, before this package existed."""
    within: float = 1e-9
    """How far, as a share of it, the value may be from what was given."""
    note: str = ""
    """Why it differs from what was given, where it does."""

    @property
    def agrees(self) -> bool:
        """Whether it is what was given, if anything was."""
        if self.given is None:
            return True
        return math.isclose(self.value, self.given, rel_tol=self.within, abs_tol=1e-12)


@dataclass(frozen=True)
class Curves:
    """Lines over one axis."""

    title: str
    x_label: str
    lines: tuple[Line, ...]


Drawing = Bars | Curves | Picture


@dataclass(frozen=True)
class Measured:
    """What measuring a claim gave."""

    told: str
    """The figures in one line."""
    figures: tuple[Figure, ...]
    drawing: Drawing | None = None
    """A picture; the figures themselves as bars where there is none."""


@dataclass(frozen=True)
class Claim:
    """Data, and one function that measures."""

    measure: Callable[[], Measured] = field(repr=False)
    """Measures; its name is the claim's, its docstring says how."""
    _: KW_ONLY
    numbers: tuple[int, ...]
    """Which of the inventory's statements it answers."""
    source: str
    """The course documents, D0 to D4, and the paper behind them."""
    statement: str
    """What they say, in short."""
    layer: str
    """The file of the package it is about."""
    reading: str
    """How to read the figures."""
    then: str
    """What to try next."""
    right: str = ""
    """The right value, where the document erred."""
    condition: str = ""
    """Under which condition it holds, where it does not always."""
    slow: bool = False
    """Whether models are trained for it."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.measure.__name__.replace("_", "-")

    @property
    def family(self) -> str:
        """The file or folder of :mod:`regard.claims` it stands in."""
        return self.measure.__module__.removeprefix("regard.claims.").split(".")[0]

    @property
    def documents(self) -> tuple[str, ...]:
        """Which of D0 to D4 say it."""
        return tuple(name for name in ("D0", "D1", "D2", "D3", "D4") if name in self.source)

    @property
    def method(self) -> str:
        """How it is measured."""
        return " ".join((self.measure.__doc__ or "").split())


def _decorator(
    make: Callable[Concatenate[Callable[[], Measured], P], Claim],
) -> Callable[P, Callable[[Callable[[], Measured]], Claim]]:
    def with_fields(*args: P.args, **fields: P.kwargs) -> Callable[[Callable[[], Measured]], Claim]:
        return lambda measure: make(measure, *args, **fields)

    return with_fields


claim = _decorator(Claim)
"""Makes a function that measures a claim: ``@claim(numbers=(1,), source="D0 Q1", ...)``."""


def kind_of(measured: Measured) -> Kind:
    """Judge by the figures alone."""
    votes = [figure.supports for figure in measured.figures if figure.supports is not None]
    if not votes:
        raise ValueError(
            "a verdict needs a figure that speaks for or against the statement. Got none; say of "
            "at least one figure whether it supports it."
        )
    if all(votes):
        return "holds"
    return "holds if" if any(votes) else "fails"


def verdict(claim: Claim, measured: Measured) -> str:
    """Say the verdict with its condition."""
    kind = kind_of(measured)
    return f"holds if {claim.condition or 'only some of it'}" if kind == "holds if" else kind


def drawing_of(measured: Measured) -> Drawing:
    """Give the claim's picture, or its figures as bars."""
    if measured.drawing is not None:
        return measured.drawing
    return Bars("", tuple((figure.name, figure.value) for figure in measured.figures))
