"""Deterministic splits: which side an example is on follows from what it says, or where it stands.

    spread   held out  <=>  hash(seed, first field or group) < share
    end      held out  <=>  number >= int(count · (1 - share))

Spread, equal examples always land on one side, wherever they stand, and adding data moves nothing.
Where examples have groups, all of a group do, and ``share`` is a share of the groups.
The end of a text is what a language model is asked to go on with; a single text is cut between two
of its characters.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice

from regard.errors import DataError


def held_out(fields: tuple[str, ...], *, share: float, seed: int, group: str = "") -> bool:
    """Decide whether an example is held out, by its first field or else by its group."""
    decides = group or essence(fields[0])
    digest = hashlib.blake2b(decides.encode(), digest_size=8, key=str(seed).encode())
    return int.from_bytes(digest.digest()) < share * 2**64


def no_group(column: str) -> tuple[str, str]:
    """Say what is wrong with an example that has no group, and the remedy."""
    problem = f"The column {column!r}, which data.group names, is missing or empty."
    return problem, "Give every example a group, or take data.group out."


def essence(text: str) -> str:
    """Fold case and spacing away: texts that differ in nothing else count as equal."""
    return " ".join(text.casefold().split())


def from_the_end(
    source: Callable[[], Iterator[tuple[str, ...]]], *, share: float, wanted: bool
) -> Iterator[tuple[str, ...]]:
    """Give the last ``share`` of the examples if ``wanted``, else those before them.

    The source is read twice, once to count, so that memory does not grow with it.
    """
    count = sum(1 for _ in source())
    if count == 1:
        yield _cut(next(source()), share=share, wanted=wanted)
        return
    kept = int(count * (1 - share))
    yield from islice(source(), kept, None) if wanted else islice(source(), kept)


def _cut(fields: tuple[str, ...], *, share: float, wanted: bool) -> tuple[str, ...]:
    text = fields[0]
    kept = int(len(text) * (1 - share))
    if len(fields) > 1 or not 0 < kept < len(text):
        raise DataError(
            "a single example can be held out from only if it is one text of some length. Got "
            f"{len(fields)} fields, the first of {len(text)} characters.",
            "Name files to choose by in data.valid, or give more examples.",
        )
    return (text[kept:] if wanted else text[:kept],)
