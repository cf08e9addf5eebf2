"""Parameter forensics: which choices explain a published number of parameters.

    total = tables·V·d + blocks(d, N, f, h, d_k, d_v, biases, final norms) + positions·d

Papers round their totals and leave out what they count: whether reading, writing and the softmax
share one table, whether projections have biases, how many tokens there are. Each choice implies a
range of vocabularies; a choice explains the total if the published vocabulary lies in it.
"""

from itertools import product
from typing import NamedTuple

from regard.errors import UsageError


class Shape(NamedTuple):
    """A Transformer as papers describe it."""

    width: int
    depth: int
    feed_forward: int
    heads: int
    decoder_depth: int = 0
    """0 for a model without a decoder."""
    key: int | None = None
    """Size of one head's queries and keys; width / heads where left out."""
    value: int | None = None


class Choices(NamedTuple):
    """What papers leave out."""

    tables: int = 1
    """How many tables of tokens there are: 1 shared by all, or one each."""
    attention_biases: bool = False
    final_norms: bool = False
    """Whether each stack ends in a norm, as pre-norm ones do."""
    positions: int = 0
    """Learned positions; 0 for waves."""

    def told(self) -> str:
        """Say the choices in words."""
        tables = {1: "one shared table", 2: "two tables", 3: "three tables"}[self.tables]
        biases = "attention biases" if self.attention_biases else "no attention biases"
        norms = ", final norms" if self.final_norms else ""
        places = f", {self.positions:,} learned positions" if self.positions else ""
        return f"{tables}, {biases}{norms}{places}"


class Published(NamedTuple):
    """A total as it was printed: 65M stands for anything that rounds to it."""

    total: int
    rounded_to: int = 1

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest total that would be printed so."""
        half = self.rounded_to / 2 if self.rounded_to > 1 else 0.0
        return self.total - half, self.total + half


class Explanation(NamedTuple):
    """What a set of choices makes of a published total."""

    choices: Choices
    without_tokens: int
    """Parameters beside the tables of tokens."""
    total: int | None
    """The total at the published vocabulary, where there is one."""
    vocabulary: tuple[int, int]
    """The least and the greatest vocabulary that would be printed as published; empty if the first
    is above the second."""

    def explains(self, published: Published) -> bool:
        """Say whether the published vocabulary gives the published total."""
        low, high = published.bounds
        return self.total is not None and low <= self.total <= high


def without_tokens(shape: Shape, choices: Choices) -> int:
    """Count everything but the tables of tokens."""
    d, f = shape.width, shape.feed_forward
    key = shape.key or d // shape.heads
    value = shape.value or d // shape.heads
    looks = 2 * d * shape.heads * key + 2 * d * shape.heads * value
    if choices.attention_biases:
        looks += 2 * shape.heads * key + shape.heads * value + d
    thinks = 2 * d * f + f + d
    norm = 2 * d
    reads = shape.depth * (looks + thinks + 2 * norm)
    writes = shape.decoder_depth * (2 * looks + thinks + 3 * norm)
    stacks = 2 if shape.decoder_depth else 1
    return reads + writes + norm * stacks * choices.final_norms + choices.positions * d


def explain(
    published: Published, shape: Shape, *, vocabulary: int | None = None, positions: int = 0
) -> list[Explanation]:
    """Try every set of choices; those that explain the total come first, then the nearest."""
    _refuse(published, shape)
    tables = (1, 2, 3) if shape.decoder_depth else (1, 2)
    places = (0, positions) if positions else (0,)
    found = [
        _explained(published, shape, Choices(*chosen), vocabulary)
        for chosen in product(tables, (False, True), (False, True), places)
    ]
    return sorted(found, key=lambda each: _distance(each, published))


def _explained(
    published: Published, shape: Shape, choices: Choices, vocabulary: int | None
) -> Explanation:
    rest = without_tokens(shape, choices)
    row = choices.tables * shape.width
    low, high = published.bounds
    span = (max(0, -int((rest - low) // row)), int((high - rest) // row))
    total = None if vocabulary is None else rest + row * vocabulary
    return Explanation(choices, rest, total, span)


def _distance(found: Explanation, published: Published) -> float:
    if found.total is not None:
        return float(abs(found.total - published.total))
    low, high = found.vocabulary
    return 0.0 if 0 < low <= high else float("inf")


def _refuse(published: Published, shape: Shape) -> None:
    if published.total < 1 or min(shape[:4]) < 1 or shape.decoder_depth < 0:
        raise UsageError(
            "a total, a width, a depth, an inner width and heads are above zero. Got "
            f"{published.total:,}, {shape.width}, {shape.depth}, {shape.feed_forward} and "
            f"{shape.heads}.",
            "Give them as the paper prints them.",
        )
    if shape.key is None and shape.width % shape.heads:
        raise UsageError(
            f"heads share the width evenly unless --key says their size. {shape.heads} does not "
            f"divide {shape.width}.",
            "Give --key and --value, or other heads.",
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
    """One row of table 3, counted again."""

    name: str
    printed: int
    counted: int
    """At the paper's shared vocabulary, tied, without attention biases."""
    vocabulary: tuple[int, int]
    """Vocabularies that would be printed as this total."""


def audit_table_3(vocabulary: int = SHARED) -> list[AuditRow]:
    """Count the rows of table 3 as the paper describes the model."""
    rows = []
    for name, (shape, millions) in TABLE_3.items():
        published = Published(millions * MILLION, MILLION)
        found = _explained(published, shape, Choices(), vocabulary)
        assert found.total is not None
        rows.append(AuditRow(name, published.total, found.total, found.vocabulary))
    return rows


def common_vocabulary(rows: list[AuditRow]) -> tuple[int, int] | None:
    """Return the vocabularies that every one of these rows would have been printed with."""
    low = max(row.vocabulary[0] for row in rows)
    high = min(row.vocabulary[1] for row in rows)
    return (low, high) if low <= high else None


class LabCount(NamedTuple):
    """The course laboratory's model, by its document's formula and exactly."""

    name: str
    heads: int
    document: int
    exact: int


def audit_lab(
    *, tokens: int = 50_001, width: int = 200, layers: int = 4, heads: int = 2
) -> list[LabCount]:
    """Count the laboratory's two models; the document multiplies projections by the heads.

    exact      tokens·n + L·(6·n² + 10·n) + (n + 1)·C        whatever the heads
    document   tokens·n + L·(4·heads + 2)·n² + (n + 1)·C     and leaves out biases and norms
    """
    rows = []
    for name, answers in (("text prediction", tokens), ("sentiment", 2)):
        ends = tokens * width + (width + 1) * answers
        exact = ends + layers * (6 * width**2 + 10 * width)
        document = ends + layers * (4 * heads + 2) * width**2
        rows.append(LabCount(name, heads, document, exact))
    return rows
