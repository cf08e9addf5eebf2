"""Deterministic splits, by the content of an example, by its group, or by its number.

    spread   held out  <=>  hash(seed, first field or group) < share
    end      held out  <=>  number >= int(count · (1 - share))

With ``spread``, equal examples are on one side wherever they occur, and adding data moves no
example. If examples have groups, a group is on one side as a whole, and ``share`` is a share of
the groups. ``end`` is for language models, which continue a text; a single text is cut between two
characters.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice

from regard.errors import DataError


def is_held_out(fields: tuple[str, ...], *, share: float, seed: int, group: str = "") -> bool:
    """Decide whether an example is held out, by its group or else its first field."""
    decides = group or normalize_text(fields[0])
    digest = hashlib.blake2b(decides.encode(), digest_size=8, key=str(seed).encode())
    return int.from_bytes(digest.digest()) < share * 2**64


def describe_missing_group(column: str) -> tuple[str, str]:
    """Describe an example without a group, and the remedy."""
    problem = f"The column {column!r}, which data.group names, is missing or empty."
    return problem, "Give every example a group, or remove data.group."


def normalize_text(text: str) -> str:
    """Fold case and white space: texts that differ in nothing else count as equal."""
    return " ".join(text.casefold().split())


def split_at_end(
    source: Callable[[], Iterator[tuple[str, ...]]], *, share: float, wanted: bool
) -> Iterator[tuple[str, ...]]:
    """Yield the last ``share`` of the examples if ``wanted``, else those before them.

    The source is read twice, first to count, so that memory does not grow with it.
    """
    count = sum(1 for _ in source())
    if count == 1:
        yield _split_text(next(source()), share=share, wanted=wanted)
        return
    kept = int(count * (1 - share))
    yield from islice(source(), kept, None) if wanted else islice(source(), kept)


def _split_text(fields: tuple[str, ...], *, share: float, wanted: bool) -> tuple[str, ...]:
    text = fields[0]
    kept = int(len(text) * (1 - share))
    if len(fields) > 1 or not 0 < kept < len(text):
        raise DataError(
            "a single example can be split only if it is one text of several characters. Got "
            f"{len(fields)} fields, the first of {len(text)} characters.",
            "Name files in data.valid, or add examples.",
        )
    return (text[kept:] if wanted else text[:kept],)
