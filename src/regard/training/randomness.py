"""Randomness is derived, never carried: each choice comes from (seed, purpose, step, shard).

Nothing about chance needs saving: a run that resumes at step s makes the choices that it would
have made. :mod:`regard.data.stream` derives its orders in the same way.
"""

import torch

INITIALISATION, DROPOUT, SEGMENTATION = 201, 202, 203


def seed_torch(*key: int) -> None:
    """Seed torch's own generator from a key, for what torch draws itself: the first parameters."""
    mixed = 0
    for part in key:
        # Odd multiplier of SplitMix64: every bit of every part reaches the seed.
        mixed = (mixed * 0x9E3779B97F4A7C15 + part + 1) & (2**63 - 1)
    torch.manual_seed(mixed)
