"""Derived randomness: each purpose has its own number, the same as in earlier runs."""

import numpy as np
import torch

from regard.randomness import Purpose, derive_generator, seed_torch

RECORDED = {
    "EXAMPLE_ORDER": 102,
    "BATCH_TIES": 103,
    "WINDOW_CUTS": 104,
    "EPOCH_OFFSET": 105,
    "INITIALISATION": 201,
    "DROPOUT": 202,
    "BATCH": 203,
    "CANDIDATE": 204,
    "MASKED_EVALUATION": 301,
    "DENOISING_EVALUATION": 302,
    "DOCUMENT_EVALUATION": 303,
    "DOCUMENT_VECTOR_EVALUATION": 304,
    "JUDGEMENT": 305,
}
"""The numbers of 0.1.0: if one changes, a repeated run has other bits."""


def test_every_purpose_has_the_number_that_earlier_runs_were_drawn_by():
    assert {purpose.name: purpose.value for purpose in Purpose} == RECORDED
    assert len(set(RECORDED.values())) == len(RECORDED)


def test_every_part_of_a_key_reaches_the_seed():
    drawn = set()
    for key in ((1,), (2,), (1, 1), (1, Purpose.DROPOUT), (1, Purpose.BATCH), (2**62, 3)):
        seed_torch(*key)
        drawn.add(torch.rand(()).item())
    assert len(drawn) == 6


def test_a_purpose_seeds_as_its_number_does():
    seed_torch(7, Purpose.INITIALISATION)
    expected = torch.rand(3)
    seed_torch(7, 201)
    assert torch.equal(torch.rand(3), expected)
    drawn = derive_generator(7, Purpose.EXAMPLE_ORDER, 3).random(5)
    assert (drawn == np.random.default_rng([7, 102, 3]).random(5)).all()
