"""Deterministic splits: which side an example is on follows from what it says.

    held out  <=>  hash(seed, first field) < share

So equal examples always land on one side, wherever they stand, and adding data moves nothing.
"""

import hashlib


def held_out(fields: tuple[str, ...], *, share: float, seed: int) -> bool:
    """Decide whether an example is held out."""
    digest = hashlib.blake2b(essence(fields[0]).encode(), digest_size=8, key=str(seed).encode())
    return int.from_bytes(digest.digest()) < share * 2**64


def essence(text: str) -> str:
    """Fold case and spacing away: texts that differ in nothing else count as equal."""
    return " ".join(text.casefold().split())
