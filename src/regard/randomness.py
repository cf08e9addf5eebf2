"""Derived randomness: every random choice of a training is drawn from (seed, purpose, step, ...).

No generator is carried along, so none is saved: a run that resumes at step s draws what it would
have drawn. The numbers of the purposes are part of every run's bits and never change.
"""

from enum import IntEnum, unique

import numpy as np
import torch


@unique
class Purpose(IntEnum):
    """What a random choice is for, so that no two kinds of choice share a sequence."""

    EXAMPLE_ORDER = 102
    BATCH_TIES = 103
    """Among examples of one length."""
    WINDOW_CUTS = 104
    """Where a text is cut into windows, and their order."""
    EPOCH_OFFSET = 105
    """Where an epoch over sampled tokens begins."""
    INITIALISATION = 201
    DROPOUT = 202
    BATCH = 203
    """What a task draws for a batch: BPE dropout, masks, crops, negatives."""
    CANDIDATE = 204
    """The settings of one trial of a search."""
    MASKED_EVALUATION = 301
    DENOISING_EVALUATION = 302
    DOCUMENT_EVALUATION = 303
    DOCUMENT_VECTOR_EVALUATION = 304
    JUDGEMENT = 305
    """Which held-out examples a search never sees."""


def derive_generator(seed: int, purpose: Purpose, *key: int) -> np.random.Generator:
    """Make the generator of one choice, or of one step's choices."""
    return np.random.default_rng([seed, purpose, *key])


def seed_torch(*key: int) -> None:
    """Seed torch's own generator from a key, for what torch draws itself: the first parameters."""
    mixed = 0
    for part in key:
        # Odd multiplier of SplitMix64: every bit of every part reaches the seed.
        mixed = (mixed * 0x9E3779B97F4A7C15 + part + 1) & (2**63 - 1)
    torch.manual_seed(mixed)
