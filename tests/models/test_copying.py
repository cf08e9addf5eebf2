"""Copying: the mixture, its gradient, and writing step by step."""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.tap import listen
from regard.models.build.writing import transformer
from regard.models.copying import Copying, PointerOutput, coverage_loss, likelihood, mixture
from regard.recipe.model import ModelSettings

TOKENS = 23
SOURCE = torch.tensor([[4, 9, 4, 11, 3], [5, 3, 0, 0, 0], [19, 7, 3, 0, 0]])
LENGTHS = torch.tensor([5, 2, 3])
TARGET = torch.tensor([[2, 7, 8, 13], [2, 6, 10, 0], [2, 19, 0, 0]])
TARGET_LENGTHS = torch.tensor([4, 3, 2])


def model(**settings):
    torch.manual_seed(0)
    small = {"width": 20, "depth": 1, "decoder_depth": 2, "feed_forward": 17, "dropout": 0.0}
    made = ModelSettings.model_validate({**small, "zero_init": False, "copying": True, **settings})
    return transformer(made, TOKENS).double().eval()


def at_once(made):
    passed = made.compute_states(
        SOURCE, TARGET, source_lengths=LENGTHS, target_lengths=TARGET_LENGTHS
    )
    pointed = made.point(passed)
    return pointed, mixture(pointed, made.head(passed.states), source=SOURCE)


def by_hand(pointed, logits, source):
    """Add up the mixture token by token, as the equation has it."""
    log_p = logits.log_softmax(dim=-1)
    found = torch.zeros_like(logits)
    for row, query in torch.cartesian_prod(
        torch.arange(len(logits)), torch.arange(logits.shape[1])
    ):
        g = torch.sigmoid(pointed.writes[row, query])
        found[row, query] = g * log_p[row, query].exp()
        for place, token in enumerate(source[row]):
            found[row, query, token] += (1 - g) * pointed.weights[row, query, place]
    return found.log()


def test_the_mixture_is_the_equation_and_sums_to_one():
    made = model()
    passed = made.compute_states(
        SOURCE, TARGET, source_lengths=LENGTHS, target_lengths=TARGET_LENGTHS
    )
    pointed, found = at_once(made)
    assert_close(found, by_hand(pointed, made.head(passed.states), SOURCE))
    assert_close(found.exp().sum(dim=-1), torch.ones(3, 4).double())
    assert_close(pointed.weights.sum(dim=-1), torch.ones(3, 4).double())
    assert not pointed.weights[1, :, 2:].any()  # nothing points at padding


def test_the_likelihood_of_a_token_is_that_of_the_mixture():
    made = model()
    passed = made.compute_states(
        SOURCE, TARGET, source_lengths=LENGTHS, target_lengths=TARGET_LENGTHS
    )
    pointed, log_p = at_once(made)
    chosen = torch.tensor([[9, 4, 22, 3], [5, 3, 1, 13], [19, 7, 3, 21]])
    written = made.head(passed.states).log_softmax(dim=-1).gather(-1, chosen[..., None])[..., 0]
    found = likelihood(pointed, written, matches=SOURCE[:, None] == chosen[..., None])
    assert_close(found, log_p.gather(-1, chosen[..., None])[..., 0])


def test_what_cannot_be_written_can_still_be_copied_and_has_a_gradient():
    made = model()
    made.head.restrict_vocabulary(torch.tensor([3, 6, 7]))
    _, log_p = at_once(made)
    assert torch.isfinite(log_p[0, :, [4, 9, 11]]).all()
    assert (log_p[0, :, [5, 8, 12]] == -torch.inf).all()
    weights = torch.tensor([[[0.0, 1.0, 0.0]]], dtype=torch.float64, requires_grad=True)
    writes = torch.tensor([[0.7]], dtype=torch.float64, requires_grad=True)
    matches = torch.tensor([[[True, False, False]]])  # pointed at with weight zero
    unwritable = torch.tensor([[-torch.inf]], dtype=torch.float64)
    likelihood(PointerOutput(weights, writes), unwritable, matches=matches).sum().backward()
    assert torch.isfinite(weights.grad).all() and torch.isfinite(writes.grad).all()


def test_gradients_agree_with_differences():
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    writes = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    written = torch.randn(2, 3, dtype=torch.float64).abs().neg().requires_grad_()
    matches = torch.rand(2, 3, 5) < 0.4

    def lost(scores, writes, written):
        pointed = PointerOutput(scores.softmax(dim=-1), writes)
        again = coverage_loss(pointed.weights, torch.ones(2, 3, dtype=torch.bool))
        return likelihood(pointed, written, matches=matches).sum() + again

    assert torch.autograd.gradcheck(lost, (scores, writes, written))


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"position": {"kind": "rotary"}, "mixer": {"kind": "attention", "heads": 2}},
        {"mixer": {"kind": "recurrent"}},
        {"tied": False, "norm_order": "post"},
    ],
    ids=["default", "rotary", "gru", "post"],
)
def test_writing_step_by_step_equals_all_at_once(shape):
    made = model(**shape)
    pointed, expected = at_once(made)
    steps = made.steps(SOURCE, source_lengths=LENGTHS)
    for position in range(TARGET.shape[1]):
        step = steps.advance(TARGET[:, position])
        for row in range(3):
            if position < TARGET_LENGTHS[row]:
                assert_close(step[row], expected[row, position], rtol=1e-9, atol=1e-9)
                assert_close(steps.source_attention[row], pointed.weights[row, position])


def test_rows_may_be_reordered_and_dropped_while_writing():
    made = model()
    steps = made.steps(SOURCE, source_lengths=LENGTHS)
    steps.advance(TARGET[:, 0])
    steps.keep(torch.tensor([2, 0, 2]))
    turned = steps.advance(TARGET[[2, 0, 2], 1])
    assert_close(turned, at_once(made)[1][[2, 0, 2], 1], rtol=1e-9, atol=1e-9)
    steps.keep(torch.tensor([1]))
    again = steps.advance(TARGET[[0], 2])
    assert_close(again, at_once(made)[1][[0], 2], rtol=1e-9, atol=1e-9)


def test_coverage_follows_the_equation():
    weights = torch.tensor([[[0.5, 0.5, 0.0], [0.2, 0.0, 0.8], [0.1, 0.9, 0.0]]]).double()
    counted = torch.tensor([[True, True, True]])
    # min with nothing; min([.2, 0, .8], [.5, .5, 0]); min([.1, .9, 0], [.7, .5, .8])
    assert_close(coverage_loss(weights, counted), torch.tensor(0.2 + 0.6).double())
    counted[0, 2] = False
    assert_close(coverage_loss(weights, counted), torch.tensor(0.2).double())


def test_a_pointer_is_a_tap_and_costs_what_it_says():
    made, plain = model(), model(copying=False)
    counts = [sum(p.numel() for p in each.parameters()) for each in (made, plain)]
    assert counts[0] - counts[1] == 3 * 20 * 20 + 2 * 20 + 1
    with listen(made, "copying.weights", "copying.gate") as recorded:
        pointed, _ = at_once(made)
    assert_close(recorded["copying.weights"][0], pointed.weights)
    assert_close(recorded["copying.gate"][0], pointed.writes)


def test_a_gate_may_choose_either_way():
    layer = Copying(6).double()
    states, context = torch.randn(2, 3, 6).double(), torch.randn(2, 5, 6).double()
    visible = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    logits = torch.randn(2, 3, 11).double()
    source = torch.randint(11, (2, 5))
    for bias, expected in ((99.0, logits.softmax(-1)), (-99.0, None)):
        torch.nn.init.zeros_(layer.gate_head.weight)
        torch.nn.init.constant_(layer.gate_head.bias, bias)
        pointed = layer(states, context, visible=visible)
        found = mixture(pointed, logits, source=source).exp()
        if expected is None:
            spread = torch.nn.functional.one_hot(source, 11).double()
            expected = pointed.weights @ spread
        assert_close(found, expected)


def test_a_pointer_begins_by_going_on_with_what_was_written_last():
    made = model(zero_init=True, width=64, position={"kind": "none"})
    source, target = torch.tensor([[4, 9, 7, 11, 3]]), torch.tensor([[2, 9, 11]])
    passed = made.compute_states(
        source, target, source_lengths=torch.tensor([5]), target_lengths=torch.tensor([3])
    )
    weights = made.point(passed).weights[0]
    assert weights[1].argmax() == 2 and weights[1].max() > 0.8  # 7 follows 9
    assert weights[2].argmax() == 4 and weights[2].max() > 0.8  # 3 follows 11
