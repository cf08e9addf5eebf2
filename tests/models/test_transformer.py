"""The encoder-decoder: the paper's counts, no leaks, and writing step by step."""

import pytest
import torch
from torch.testing import assert_close

from regard.errors import RunError
from regard.models.build.writing import transformer
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.model import ModelSettings

TOKENS = 23
SOURCE = torch.tensor([[4, 9, 11, 3], [5, 3, 0, 0]])
LENGTHS = torch.tensor([4, 2])
TARGET = torch.tensor([[2, 7, 8, 13, 5], [2, 6, 10, 0, 0]])
TARGET_LENGTHS = torch.tensor([5, 3])
PAPER = {
    "activation": "relu",
    "norm": "layer",
    "norm_order": "post",
    "biases": True,
    "tied": True,
    "position": {"kind": "sinusoidal"},
}
SHAPES = {
    "default": {},
    "paper": PAPER,
    "rotary": {
        "position": {"kind": "rotary"},
        "mixer": {"kind": "attention", "heads": 2, "normed": True},
    },
    "rotary in self-attention": {
        "position": {"kind": "rotary", "cross_attention": False},
        "mixer": {"kind": "attention", "heads": 2},
    },
    "alibi": {"position": {"kind": "alibi"}},
    "relative": {"position": {"kind": "relative", "positions": 13}},
    "buckets": {"position": {"kind": "relative", "positions": 13, "buckets": 8}},
    "learned": {"position": {"kind": "learned", "positions": 13}},
    "concatenated": {"position": {"kind": "sinusoidal", "joined": "concatenated"}, "tied": False},
    "none": {"position": {"kind": "none"}},
    "window": {"mixer": {"kind": "attention", "window": 2}},
    "additive": {"mixer": {"kind": "attention", "score": "additive"}},
    "argmax": {"mixer": {"kind": "attention", "select": "argmax"}},
    "gru": {"mixer": {"kind": "recurrent"}},
    "lstm": {"mixer": {"kind": "recurrent", "cell": "lstm"}},
    "convolution": {"mixer": {"kind": "convolution", "kernel": 3}},
    "dilated": {"mixer": {"kind": "convolution", "kernel": 2, "dilated": True}},
    "swiglu": {"activation": "swiglu", "soft_cap": 15.0, "tied": False},
}


def model(**settings):
    torch.manual_seed(0)
    small = {"width": 20, "depth": 2, "decoder_depth": 3, "feed_forward": 17, "dropout": 0.0}
    made = ModelSettings.model_validate({**small, "zero_init": False, **settings})
    return transformer(made, TOKENS).double().eval()


def logits(model, source=SOURCE, target=TARGET, lengths=LENGTHS, target_lengths=TARGET_LENGTHS):
    states = model(source, target, source_lengths=lengths, target_lengths=target_lengths)
    return model.head(states)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, 63_045_632),
        ({"mixer": {"kind": "attention", "heads": 8, "biases": True}}, 63_082_496),
        (
            {"mixer": {"kind": "attention", "heads": 8, "biases": True}, "norm_order": "pre"},
            63_084_544,
        ),
        ({"tied": False}, 100_933_632),
        (
            {"width": 1024, "feed_forward": 4096, "mixer": {"kind": "attention", "heads": 16}},
            214_171_648,
        ),
    ],
    ids=["base", "with attention biases", "pre-norm", "untied", "big"],
)
def test_the_2017_model_counts_exactly(changes, wanted):
    base = {"width": 512, "depth": 6, "decoder_depth": 6, "feed_forward": 2048, **PAPER}
    base |= {"mixer": {"kind": "attention", "heads": 8}, **changes}
    with torch.device("meta"):
        made = transformer(ModelSettings.model_validate(base), 37_000)
    assert sum(weight.numel() for weight in made.parameters()) == wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_writing_step_by_step_equals_all_at_once(shape):
    made = model(**SHAPES[shape])
    at_once = logits(made)
    steps = made.steps(SOURCE, source_lengths=LENGTHS)
    for position in range(TARGET.shape[1]):
        step = steps.advance(TARGET[:, position])
        for row in range(2):
            if position < TARGET_LENGTHS[row]:
                assert_close(step[row], at_once[row, position], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_may_be_reordered_and_dropped_while_writing(shape):
    made = model(**SHAPES[shape])
    steps = made.steps(SOURCE, source_lengths=LENGTHS)
    steps.advance(TARGET[:, 0])
    steps.keep(torch.tensor([1, 0, 1]))
    turned = steps.advance(TARGET[[1, 0, 1], 1])
    straight = logits(made)[:, 1]
    assert_close(turned, straight[[1, 0, 1]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_neither_padding_nor_the_future_is_felt(shape):
    made = model(**SHAPES[shape])
    before = logits(made)
    source, target = SOURCE.clone(), TARGET.clone()
    source[1, 2:], target[1, 3:], target[0, 3:] = 19, 19, 19
    after = logits(made, source, target)
    assert_close(before[0, :3], after[0, :3], rtol=0, atol=1e-12)
    assert_close(before[1, :3], after[1, :3], rtol=0, atol=1e-12)


def test_a_tied_table_learns_from_both_its_uses():
    made = model()
    reading = torch.autograd.grad(made.reading(SOURCE).sum(), made.reading.table)[0]
    assert reading.any()
    assert made.reading is made.writing and made.head.table is made.writing
    assert "head.table.table" not in collect_parameters(made)


def test_weights_go_out_and_come_back():
    first, second = model(), model()
    with torch.no_grad():
        for weight in second.parameters():
            weight.zero_()
    load_parameters(second, collect_parameters(first))
    assert_close(logits(first), logits(second), rtol=0, atol=0)


def test_parameters_of_another_model_are_refused_by_name():
    with pytest.raises(RunError, match=r"left over: .*decoder\.blocks\.2"):
        load_parameters(model(decoder_depth=2), collect_parameters(model()))
    with pytest.raises(RunError, match="shape"):
        load_parameters(model(feed_forward=19), collect_parameters(model()))


def test_a_quiet_start_adds_nothing():
    made = model(zero_init=True, norm_order="pre")
    states = torch.randn(1, 5, 20, dtype=torch.float64)
    visible = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    assert_close(made.encoder.blocks[0](states, visible=visible), states)


@pytest.mark.parametrize("rotates", [True, False])
def test_cross_attention_is_rotated_if_the_recipe_says_so(rotates):
    position = {"kind": "rotary", "cross_attention": rotates}
    made = model(position=position, mixer={"kind": "attention", "heads": 2})
    states, context = torch.randn(1, 1, 20).double(), torch.randn(1, 5, 20).double()
    cross = made.decoder.blocks[0].cross.part
    visible = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    reversed_too = cross(states, context.flip(1), visible=visible)
    same = torch.allclose(cross(states, context, visible=visible), reversed_too)
    assert same is not rotates
