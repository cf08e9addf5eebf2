"""Adversarial perturbations of embeddings: their norm, their direction, and the loss they cause."""

import pytest
import torch
from torch.testing import assert_close

from regard.models.adversarial import compute_perturbations, perturb_embeddings, record_embeddings
from regard.models.build.labels import classifier
from regard.recipe.load import make

TOKENS, LABELS, CLS, SEP = 23, 3, 4, 5
SHARE = 0.03
SHAPES = {
    "whole": {"mixer": {"kind": "attention", "heads": 2}},
    "runs": {"embedding": {"ngrams": 2, "ngram_rows": 31}},
    "sentences": {
        "bare": True,
        "mixer": {"kind": "recurrent", "cell": "gru"},
        "position": {"kind": "none"},
        "head": {"pooling": "attention", "dropout": 0.0},
        "documents": {"read": "sentences"},
    },
}
IDS = torch.tensor(
    [
        [CLS, 7, 8, SEP, *range(6, 23), 9, 10, SEP],
        [CLS, 11, SEP, 12, 13, 14, SEP, *[0] * 17],
    ]
)
LENGTHS = torch.tensor([24, 7])
TARGETS = torch.tensor([2, 0])


def model_of(shape):
    settings = {"width": 8, "depth": 1, "feed_forward": 13, "dropout": 0.0, **SHAPES[shape]}
    settings = {"zero_init": False, "head": {"pooling": "mean-max", "dropout": 0.0}} | settings
    recipe = {"task": "classification", "data": {"train": ["x.tsv"]}, "model": settings}
    torch.manual_seed(0)
    return classifier(make(recipe).model, TOKENS, LABELS).double()


def lost(model):
    logits = model(IDS, lengths=LENGTHS)
    return torch.nn.functional.cross_entropy(logits, TARGETS, reduction="none")


def loss_when_perturbed(model, by):
    with perturb_embeddings(model, by):
        return lost(model).sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_of_that_length_loses_more(shape):
    model, share = model_of(shape), 1e-5
    with record_embeddings(model) as entered:
        before = lost(model)
    by = compute_perturbations(before.sum(), entered, share=share)
    gained = loss_when_perturbed(model, by) - before.sum()
    assert gained > 0
    for _ in range(7):
        other = [torch.randn_like(push) for push in by]
        size = [push.flatten(1).norm(dim=1) for push in by]
        other = [
            o * (n / o.flatten(1).norm(dim=1))[:, None, None]
            for o, n in zip(other, size, strict=True)
        ]
        assert loss_when_perturbed(model, other) - before.sum() < 0.9 * gained


def test_a_perturbation_is_a_share_of_the_states_and_spares_padding():
    model = model_of("whole")
    with record_embeddings(model) as entered:
        before = lost(model)
    (states,), (push,) = entered, compute_perturbations(before.sum(), entered, share=SHARE)
    for row, length in enumerate(LENGTHS.tolist()):
        assert push[row, length:].abs().sum() == 0
        assert_close(push[row].norm(), SHARE * states[row, :length].norm())


def test_sentences_read_in_groups_are_perturbed_by_group():
    model = model_of("sentences")
    with record_embeddings(model) as entered:
        before = lost(model)
    assert len(entered) > 1
    by = compute_perturbations(before.sum(), entered, share=SHARE)
    assert [push.shape for push in by] == [states.shape for states in entered]
    assert loss_when_perturbed(model, by) > before.sum()


def test_a_frozen_table_is_no_hindrance():
    model = model_of("whole")
    model.body.requires_grad_(False)
    with record_embeddings(model) as entered:
        before = lost(model)
    assert (
        loss_when_perturbed(model, compute_perturbations(before.sum(), entered, share=SHARE))
        > before.sum()
    )


def test_nothing_stays_behind():
    model = model_of("whole")
    before = lost(model)
    with record_embeddings(model) as entered:
        watched = lost(model)
    by = compute_perturbations(watched.sum(), entered, share=SHARE)
    with pytest.raises(ValueError), perturb_embeddings(model, by):
        raise ValueError
    assert_close(lost(model), before, rtol=0, atol=0)
