"""BERT's sizes are the published ones; its hybrid view lets some rows feel the future, others not."""

import pytest
import torch

from regard.models.bert import attention_mask
from regard.models.build.pretraining import bert, pretraining_model
from regard.recipe.load import make


def settings(**model):
    tables = {
        "task": "masked-pretraining",
        "data": {"train": ["text.txt"]},
        "text": {"max_length": 64},
        "model": {
            "norm": "layer",
            "norm_order": "post",
            "norm_epsilon": 1e-12,
            "biases": True,
            "activation": "gelu",
            "scaled_embedding": False,
            "zero_init": False,
            "position": {"kind": "learned", "positions": 512},
            "embedding": {"segments": 2, "norm": True},
            "head": {"bias": True, "transform": True},
            **model,
        },
    }
    return make(tables)


def shape(width, depth, heads):
    mixer = {"kind": "attention", "heads": heads, "biases": True}
    return settings(width=width, depth=depth, feed_forward=4 * width, mixer=mixer).model


@pytest.mark.parametrize(
    ("depth", "width", "heads", "published"),
    [
        (2, 128, 2, 4_385_920),
        (4, 256, 4, 11_170_560),
        (4, 512, 8, 28_763_648),
        (8, 512, 8, 41_373_184),
        (12, 768, 12, 109_482_240),
        (24, 1024, 16, 335_141_888),
    ],
    ids=["tiny", "mini", "small", "medium", "base", "large"],
)
def test_a_body_with_its_pooler_has_the_published_number_of_parameters(
    depth, width, heads, published
):
    with torch.device("meta"):
        model = bert(shape(width, depth, heads), 30_522, pairs=True)
    parts = [*model.body.parameters(), *model.pair_head.pool.parameters()]
    assert sum(parameter.numel() for parameter in parts) == published


def tiny(objective="masked", **pretraining):
    torch.manual_seed(3)
    recipe = settings(width=12, depth=2, feed_forward=19, mixer={"kind": "attention", "heads": 3})
    chosen = recipe.pretraining.model_copy(update={"objective": objective, **pretraining})
    return pretraining_model(recipe.model, 31, chosen).double().eval()


def test_rows_read_forward_only_do_not_feel_the_future_and_the_others_do():
    model, positions = tiny("hybrid"), 7
    ids = torch.arange(14).view(2, 7) + 8
    visible = attention_mask(
        torch.tensor([7, 7]), positions, forward_only=torch.tensor([True, False])
    )
    entered = {}
    stack = model.body.stack

    def states(inputs):
        return stack(inputs, visible=visible)

    inputs = model.body.reading(ids).detach()
    felt = torch.autograd.functional.jacobian(states, inputs).abs().amax(dim=(2, 5))
    entered = felt[0, :, 0], felt[1, :, 1]  # (position out, position in) of each row
    future = torch.ones(positions, positions).triu(1).bool()
    assert (entered[0][future] == 0).all()
    assert (entered[0][~future] > 0).all()
    assert (entered[1] > 0).all()
    assert (felt[0, :, 1] == 0).all()


def test_padding_changes_nothing():
    model = tiny()
    ids = torch.randint(8, 31, (1, 9))
    padded = torch.cat([ids, torch.zeros(1, 4, dtype=torch.long)], dim=1)
    alone = model(ids, visible=attention_mask(torch.tensor([9]), 9))
    padded_states = model(padded, visible=attention_mask(torch.tensor([9]), 13))
    torch.testing.assert_close(padded_states[:, :9], alone)


def test_proposals_follow_the_generators_probabilities_and_the_seed():
    model = tiny("replaced")
    states = torch.randn(1, model.generator.head.matrix.shape[1]).double()
    many = states.expand(20_011, -1)
    drawn = model.propose(many, torch.Generator().manual_seed(5))
    again = model.propose(many, torch.Generator().manual_seed(5))
    assert torch.equal(drawn, again)
    expected = model.generator.head(states)[0].softmax(-1)
    seen = torch.bincount(drawn, minlength=31) / len(drawn)
    bound = 4.5 * (expected * (1 - expected) / len(drawn)).sqrt() + 1e-4
    assert ((seen - expected).abs() < bound).all()


def test_the_generator_is_narrower_and_shares_nothing_with_the_body():
    model = tiny("replaced", generator_width=4)
    assert model.generator.head.matrix.shape == (31, 4)
    own = {id(parameter) for parameter in model.generator.parameters()}
    assert not own & {id(parameter) for parameter in model.body.parameters()}
