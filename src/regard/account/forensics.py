"""Parameter forensics: the choices that explain a published number of parameters.

    total = tables·V·d + blocks(d, N, f, h, d_k, d_v, biases, final norms) + positions·d

Papers round their totals and do not say what they count: whether the two embeddings and the softmax
share a table, whether projections have biases, the vocabulary size. Each choice implies a range of
vocabulary sizes; a choice explains the total if the published size lies in it.
"""

from itertools import product
from typing import NamedTuple

from regard.errors import UsageError


class Shape(NamedTuple):
    """The shape of a Transformer as papers print it."""

    width: int
    depth: int
    feed_forward: int
    heads: int
    decoder_depth: int = 0
    """0 for a model without a decoder."""
    key: int | None = None
    """Features of a head's queries and keys; by default width / heads."""
    value: int | None = None


class BuildChoices(NamedTuple):
    """What papers do not print."""

    tables: int = 1
    """Token tables: 1 shared by all, or one each."""
    attention_biases: bool = False
    final_norms: bool = False
    """Whether each stack ends in a norm, as in pre-norm models."""
    positions: int = 0
    """Learned positions; 0 for sinusoidal ones."""

    def describe(self) -> str:
        """Describe the choices in words."""
        tables = {1: "one shared table", 2: "two tables", 3: "three tables"}[self.tables]
        biases = "attention biases" if self.attention_biases else "no attention biases"
        norms = ", final norms" if self.final_norms else ""
        positions = f", {self.positions:,} learned positions" if self.positions else ""
        return f"{tables}, {biases}{norms}{positions}"


class Published(NamedTuple):
    """A printed total: 65M is any number that rounds to it."""

    total: int
    rounded_to: int = 1

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest total that round to it."""
        half = self.rounded_to / 2 if self.rounded_to > 1 else 0.0
        return self.total - half, self.total + half


class TotalExplanation(NamedTuple):
    """A published total under a set of choices."""

    choices: BuildChoices
    without_tokens: int
    """Parameters without token tables."""
    total: int | None
    """The total at the published vocabulary size, if one is published."""
    vocabulary: tuple[int, int]
    """The smallest and the largest vocabulary size that give the published total; none if the
    first is above the second."""

    def explains(self, published: Published) -> bool:
        """Return whether the published vocabulary size gives the published total."""
        low, high = published.bounds
        return self.total is not None and low <= self.total <= high


def without_tokens(shape: Shape, choices: BuildChoices) -> int:
    """Count the parameters without token tables."""
    d, f = shape.width, shape.feed_forward
    key = shape.key or d // shape.heads
    value = shape.value or d // shape.heads
    attention = 2 * d * shape.heads * key + 2 * d * shape.heads * value
    if choices.attention_biases:
        attention += 2 * shape.heads * key + shape.heads * value + d
    feed_forward = 2 * d * f + f + d
    norm = 2 * d
    encoder = shape.depth * (attention + feed_forward + 2 * norm)
    decoder = shape.decoder_depth * (2 * attention + feed_forward + 3 * norm)
    stacks = 2 if shape.decoder_depth else 1
    return encoder + decoder + norm * stacks * choices.final_norms + choices.positions * d


def explain_total(
    published: Published, shape: Shape, *, vocabulary: int | None = None, positions: int = 0
) -> list[TotalExplanation]:
    """Try every set of choices; return those that explain the total first, then the nearest."""
    _refuse(published, shape)
    tables = (1, 2, 3) if shape.decoder_depth else (1, 2)
    learned = (0, positions) if positions else (0,)
    found = [
        _apply(published, shape, BuildChoices(*chosen), vocabulary)
        for chosen in product(tables, (False, True), (False, True), learned)
    ]
    return sorted(found, key=lambda each: _distance(each, published))


def _apply(
    published: Published, shape: Shape, choices: BuildChoices, vocabulary: int | None
) -> TotalExplanation:
    rest = without_tokens(shape, choices)
    row = choices.tables * shape.width
    low, high = published.bounds
    span = (max(0, -int((rest - low) // row)), int((high - rest) // row))
    total = None if vocabulary is None else rest + row * vocabulary
    return TotalExplanation(choices, rest, total, span)


def _distance(found: TotalExplanation, published: Published) -> float:
    if found.total is not None:
        return float(abs(found.total - published.total))
    low, high = found.vocabulary
    return 0.0 if 0 < low <= high else float("inf")


def _refuse(published: Published, shape: Shape) -> None:
    if published.total < 1 or min(shape[:4]) < 1 or shape.decoder_depth < 0:
        raise UsageError(
            "total, width, depth, feed_forward and heads must be above zero. Got "
            f"{published.total:,}, {shape.width}, {shape.depth}, {shape.feed_forward} and "
            f"{shape.heads}.",
            "Give them as the paper prints them.",
        )
    if shape.key is None and shape.width % shape.heads:
        raise UsageError(
            f"heads must divide width where key is not given. Got heads={shape.heads}, "
            f"width={shape.width}.",
            "Give --shape heads=...,key=...,value=..., or other heads.",
        )


# ── the audits that the course asks for ──────────────────────────────────────────────────────────

MILLION = 1_000_000
BASE = Shape(512, 6, 2048, 8, decoder_depth=6)
TABLE_3 = {
    "base": (BASE, 65),
    "d_k = 16": (BASE._replace(key=16), 58),
    "d_k = 32": (BASE._replace(key=32), 60),
    "N = 2": (BASE._replace(depth=2, decoder_depth=2), 36),
    "N = 4": (BASE._replace(depth=4, decoder_depth=4), 50),
    "N = 8": (BASE._replace(depth=8, decoder_depth=8), 80),
    "d = 256": (BASE._replace(width=256), 28),
    "d = 1024": (BASE._replace(width=1024), 168),
    "d_ff = 1024": (BASE._replace(feed_forward=1024), 53),
    "d_ff = 4096": (BASE._replace(feed_forward=4096), 90),
    "big": (Shape(1024, 6, 4096, 16, decoder_depth=6), 213),
}
"""Rows of the Transformer paper's table 3 that print a total, in millions."""
SHARED = 37_000
"""The paper's shared vocabulary, in round numbers."""


class AuditRow(NamedTuple):
    """A row of table 3 with its count."""

    name: str
    printed: int
    counted: int
    """With the paper's shared vocabulary, tied, without attention biases."""
    vocabulary: tuple[int, int]
    """Vocabulary sizes that round to the printed total."""


def audit_table_3(vocabulary: int = SHARED) -> list[AuditRow]:
    """Count the rows of table 3 as the paper describes the model."""
    rows = []
    for name, (shape, millions) in TABLE_3.items():
        published = Published(millions * MILLION, MILLION)
        found = _apply(published, shape, BuildChoices(), vocabulary)
        assert found.total is not None
        rows.append(AuditRow(name, published.total, found.total, found.vocabulary))
    return rows


def common_vocabulary(rows: list[AuditRow]) -> tuple[int, int] | None:
    """Return the vocabulary sizes that fit every row, or None."""
    low = max(row.vocabulary[0] for row in rows)
    high = min(row.vocabulary[1] for row in rows)
    return (low, high) if low <= high else None


class LabCount(NamedTuple):
    """The parameters of the course laboratory's model, by its document's formula and exactly."""

    name: str
    heads: int
    document: int
    exact: int


def audit_lab(
    *, tokens: int = 50_001, width: int = 200, layers: int = 4, heads: int = 2
) -> list[LabCount]:
    """Count the laboratory's two models; its document multiplies projections by the heads.

    exact      tokens·n + L·(6·n² + 10·n) + (n + 1)·C        for any heads
    document   tokens·n + L·(4·heads + 2)·n² + (n + 1)·C     without biases and norms
    """
    rows = []
    for name, answers in (("text prediction", tokens), ("sentiment", 2)):
        ends = tokens * width + (width + 1) * answers
        exact = ends + layers * (6 * width**2 + 10 * width)
        document = ends + layers * (4 * heads + 2) * width**2
        rows.append(LabCount(name, heads, document, exact))
    return rows
