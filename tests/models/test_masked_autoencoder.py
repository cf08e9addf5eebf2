"""A masked autoencoder: the encoder never sees what is masked; a mask is known by its position only."""

import math

import numpy as np
import pytest
import torch

from regard.data.corruption import choose_tokens, keep_unchosen
from regard.models.build.pretraining import pretraining_model
from regard.recipe.load import make
from regard.tasks.losses import head_loss

SLOTS, CHOICES, OFFSET = 6, 4, 7
TOKENS = OFFSET + SLOTS * CHOICES


def build(position="sinusoidal", **pretraining):
    tables = {
        "task": "masked-pretraining",
        "data": {"train": ["text.txt"]},
        "text": {"max_length": 32},
        "model": {
            "width": 24,
            "depth": 1,
            "decoder_depth": 1,
            "feed_forward": 40,
            "dropout": 0.0,
            "mixer": {"kind": "attention", "heads": 3},
            "position": {"kind": position},
        },
        "pretraining": {"objective": "autoencoder", **pretraining},
    }
    torch.manual_seed(1)
    recipe = make(tables)
    return pretraining_model(recipe.model, TOKENS, recipe.pretraining)


def sentences(count, rng):
    """Each slot has four words of its own, evenly drawn: a place tells two bits from a guess."""
    return OFFSET + CHOICES * np.arange(SLOTS) + rng.integers(CHOICES, size=(count, SLOTS))


def rebuilt(model, ids, chosen):
    kept = keep_unchosen(chosen, np.full(len(ids), ids.shape[1]))
    places, counts = map(torch.from_numpy, kept)
    lengths = torch.full((len(ids),), ids.shape[1])
    return model(torch.from_numpy(ids), lengths=lengths, places=places, kept=counts)


def learned(model, steps=200):
    """Train for a moment; return the loss at masked places of new sentences."""
    rng = np.random.default_rng(3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(steps + 1):
        ids = sentences(64 if step < steps else 2000, rng)
        chosen = choose_tokens(np.ones_like(ids, dtype=bool), share=0.5, rng=rng)
        states = rebuilt(model, ids, chosen)[torch.from_numpy(chosen)]
        loss = head_loss(model.head, states, torch.from_numpy(ids[chosen]))
        mean = loss.smoothed / loss.tokens
        if step < steps:
            optimizer.zero_grad()
            mean.backward()
            optimizer.step()
    return float(mean.detach())


def test_masks_without_positions_collapse_to_what_is_left_and_with_them_do_not():
    # Which slots are masked is known in both cases from what is kept, so the blind guess is even
    # over the words of all masked slots: log 4 for the word and log 3 for which of the three.
    sighted, blind = learned(build()), learned(build(blind_masks=True))
    assert sighted == pytest.approx(math.log(CHOICES), abs=0.1)
    assert blind == pytest.approx(math.log(CHOICES) + math.log(SLOTS / 2), abs=0.15)


@pytest.mark.parametrize("position", ["sinusoidal", "learned"])
def test_the_encoder_never_sees_what_is_masked_but_all_that_is_kept(position):
    model = build(position).double().eval()
    rng = np.random.default_rng(5)
    for parameter in model.parameters():  # a quiet start would let nothing through
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    ids = sentences(1, rng)
    chosen = np.zeros_like(ids, dtype=bool)
    chosen[0, [1, 4]] = True
    before = rebuilt(model, ids, chosen)
    for place in range(SLOTS):
        changed = ids.copy()
        changed[0, place] = OFFSET + (changed[0, place] - OFFSET + 1) % (TOKENS - OFFSET)
        after = rebuilt(model, changed, chosen)
        assert torch.equal(after, before) == chosen[0, place], place


def test_the_encoder_gets_the_original_positions_of_kept_tokens():
    model = build().double().eval()
    ids, seen = np.full((1, SLOTS), OFFSET), []
    model.body.reading.register_forward_hook(lambda _, inputs, output: seen.append(output[0]))
    for hidden in (1, 4):
        chosen = np.arange(SLOTS)[None] == hidden
        rebuilt(model, ids, chosen)
    rebuilt(model, ids, np.zeros((1, SLOTS), dtype=bool))
    first, second, whole = seen
    torch.testing.assert_close(first, whole[[0, 2, 3, 4, 5]])
    torch.testing.assert_close(second, whole[[0, 1, 2, 3, 5]])


def test_all_masks_of_a_row_are_one_if_they_are_blind_and_differ_if_not():
    chosen = np.zeros((1, SLOTS), dtype=bool)
    chosen[0, [0, 2, 5]] = True
    ids = sentences(1, np.random.default_rng(2))
    for blind in (True, False):
        model = build(blind_masks=blind).double()
        states = rebuilt(model, ids, chosen)[0, chosen[0]]
        assert torch.allclose(states[0], states[1]) == blind
        assert torch.allclose(states[0], states[2]) == blind


def test_rows_of_different_lengths_do_not_disturb_each_other():
    model = build().double().eval()
    rng = np.random.default_rng(7)
    ids = sentences(2, rng)
    chosen = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 0]], dtype=bool)
    kept = keep_unchosen(chosen, np.array([6, 4]))
    both = model(
        torch.from_numpy(ids),
        lengths=torch.tensor([6, 4]),
        places=torch.from_numpy(kept.places),
        kept=torch.from_numpy(kept.lengths),
    )
    alone = rebuilt(model, ids[1:, :4], chosen[1:, :4])
    torch.testing.assert_close(both[1:, :4], alone)
