"""A head is a head: one set of promises for whatever turns states into tokens, labels or marks.

One logit for each answer; gradients reach the states and every parameter of the head; rows do not
feel one another, their order or padding; answering twice gives the same bits; a token that cannot
be written is -∞ and costs nothing.
"""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.embedding import Embedding
from regard.layers.visibility import padding
from regard.models.build.labels import pooling
from regard.models.heads import LabelHead, TokenHead, Transform
from regard.models.replaced_tokens import ReplacedHead
from regard.recipe.model import ModelSettings
from regard.tasks.losses import head_loss

ROWS, POSITIONS, WIDTH, TOKENS, LABELS = 3, 7, 12, 13, 5
LENGTHS = torch.tensor([7, 4, 1])
WRITABLE = torch.tensor([2, 3, 5, 11])


def token_head(*, tied=False, only=None, **parts):
    table = Embedding(TOKENS, WIDTH, scaled=False) if tied else None
    head = TokenHead(WIDTH, TOKENS, table=table, **parts)
    if only is not None:
        head.restrict_vocabulary(only)
    return head


def label_head(pool, *, normed=False, **hops):
    chosen = {"pooling": pool, **({"hops": {"hops": 3, "features": 11, **hops}} if hops else {})}
    settings = ModelSettings.model_validate({"width": WIDTH, "head": chosen})
    built, width = pooling(settings)
    return LabelHead(built, width, LABELS, dropout=0.3, normed=normed)


TOKEN_HEADS = {
    "tied": lambda: token_head(tied=True),
    "free": lambda: token_head(),
    "tied, bias": lambda: token_head(tied=True, bias=True),
    "free, bias": lambda: token_head(bias=True),
    "transform": lambda: token_head(tied=True, bias=True, transform=Transform(WIDTH)),
    "soft cap": lambda: token_head(tied=True, soft_cap=2.0),
}
LIMITED = {
    "tied, few": lambda: token_head(tied=True, only=WRITABLE),
    "free, few": lambda: token_head(only=WRITABLE),
    "bias, few": lambda: token_head(tied=True, bias=True, only=WRITABLE),
    "transform, few": lambda: token_head(bias=True, transform=Transform(WIDTH), only=WRITABLE),
    "soft cap, few": lambda: token_head(bias=True, soft_cap=2.0, only=WRITABLE),
}
POSITION_HEADS = {
    **{name: (make, TOKENS) for name, make in {**TOKEN_HEADS, **LIMITED}.items()},
    "replaced": (lambda: ReplacedHead(WIDTH), 0),
}
"""What answers at every position, and with how many logits; 0 for a single number."""
LABEL_HEADS = {
    **{
        pool: lambda pool=pool: label_head(pool)
        for pool in ("cls", "first", "last", "mean", "max", "mean-max", "attention")
    },
    "mean, normed": lambda: label_head("mean", normed=True),
    **{
        f"hops, {narrow}": lambda narrow=narrow: label_head("hops", narrow=narrow)
        for narrow in ("none", "dense", "pruned")
    },
}

at_positions = pytest.mark.parametrize("name", POSITION_HEADS)
of_texts = pytest.mark.parametrize("name", LABEL_HEADS)


def built(make):
    """Make a head in which nothing is zero."""
    torch.manual_seed(0)
    head = make().eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return head


def states():
    torch.manual_seed(1)
    return torch.randn(ROWS, POSITIONS, WIDTH, requires_grad=True)


def run_head(head, states, lengths=LENGTHS):
    return head(states, visible=padding(lengths, states.shape[1]))


# ── at every position ────────────────────────────────────────────────────────────────────────────


@at_positions
def test_every_position_has_its_logits(name):
    make, logits = POSITION_HEADS[name]
    wanted = (ROWS, POSITIONS, logits) if logits else (ROWS, POSITIONS)
    assert built(make)(states()).shape == wanted


@at_positions
def test_gradients_reach_states_and_parameters(name):
    head, given = built(POSITION_HEADS[name][0]), states()
    logits = head(given)
    logits = logits[logits.isfinite()]
    (logits * torch.randn_like(logits)).sum().backward()
    assert given.grad.abs().sum(dim=-1).min() > 0
    for parameter in head.parameters():
        assert parameter.grad.any()


@at_positions
def test_a_position_feels_no_other(name):
    head, given = built(POSITION_HEADS[name][0]), states()
    whole, order = head(given), torch.tensor([2, 0, 1])
    assert_close(head(given[order]), whole[order])
    assert_close(head(given.flip(1)), whole.flip(1))
    assert_close(head(given[1, 4]), whole[1, 4])


@at_positions
def test_answering_twice_gives_the_same_bits(name):
    head, given = built(POSITION_HEADS[name][0]), states()
    assert torch.equal(head(given), head(given))


@pytest.mark.parametrize("name", TOKEN_HEADS)
def test_a_loss_is_that_of_the_logits(name):
    head, given = built(TOKEN_HEADS[name]), states()
    targets = torch.arange(ROWS * POSITIONS) % TOKENS
    wanted = torch.nn.functional.cross_entropy(head(given).flatten(0, 1), targets, reduction="sum")
    assert_close(head_loss(head, given.flatten(0, 1), targets).smoothed, wanted)


def test_a_soft_cap_bounds_logits():
    given = 50 * states()
    assert built(TOKEN_HEADS["soft cap"])(given).abs().max() <= 2.0
    assert built(TOKEN_HEADS["tied"])(given).abs().max() > 2.0


# ── tokens that cannot be written ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", LIMITED)
def test_what_cannot_be_written_is_minus_infinity(name):
    head, given = built(LIMITED[name]), states()
    logits = head(given)
    kept = torch.isin(torch.arange(TOKENS), WRITABLE)
    assert (logits[..., ~kept] == -torch.inf).all()
    assert logits[..., kept].isfinite().all()
    assert torch.equal(logits[..., WRITABLE], head.logits(given))
    assert_close(logits[..., kept].softmax(dim=-1), logits.softmax(dim=-1)[..., kept])


@pytest.mark.parametrize("name", LIMITED)
def test_what_cannot_be_written_costs_nothing(name):
    head, given = built(LIMITED[name]), states().flatten(0, 1)
    assert head.matrix.shape == (len(WRITABLE), WIDTH)
    assert head.biases is None or head.biases.shape == (len(WRITABLE),)
    written = WRITABLE[torch.arange(len(given)) % len(WRITABLE)]
    lost = head_loss(head, given, head.places(written))
    wanted = torch.nn.functional.cross_entropy(head(given), written, reduction="sum")
    assert_close(lost.smoothed, wanted)
    lost.smoothed.backward()
    table = head.table.table if head.table is not None else head.to_logits.weight
    kept = torch.isin(torch.arange(TOKENS), WRITABLE)
    for grown in [table.grad, *([] if head.bias is None else [head.bias.grad[:, None]])]:
        assert not grown[~kept].any()
        assert grown[kept].any(dim=1).all()
    assert head.places(torch.arange(TOKENS))[~kept].tolist() == [-1] * int((~kept).sum())


# ── labels of texts ──────────────────────────────────────────────────────────────────────────────


@of_texts
def test_every_text_has_a_logit_for_each_label(name):
    assert run_head(built(LABEL_HEADS[name]), states()).shape == (ROWS, LABELS)


@of_texts
def test_gradients_reach_texts_and_parameters(name):
    head, given = built(LABEL_HEADS[name]), states()
    logits = run_head(head, given)
    (logits * torch.randn_like(logits)).sum().backward()
    assert given.grad.flatten(1).any(dim=1).all()
    for parameter in head.parameters():
        assert parameter.grad.any()


@of_texts
def test_padding_is_not_felt(name):
    head, given = built(LABEL_HEADS[name]), states()
    logits = run_head(head, given)
    logits.sum().backward()
    seen = padding(LENGTHS, POSITIONS)[:, 0, 0]
    assert not given.grad[~seen].any()
    other = torch.where(seen[:, :, None], given, 97.0)
    assert_close(run_head(head, other), logits)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = run_head(head, given[row : row + 1, :length], LENGTHS[row : row + 1])
        assert_close(alone, logits[row : row + 1])


@of_texts
def test_the_order_of_texts_is_not_felt(name):
    head, given = built(LABEL_HEADS[name]), states()
    order = torch.tensor([2, 0, 1])
    assert_close(run_head(head, given[order], LENGTHS[order]), run_head(head, given)[order])


@of_texts
def test_nothing_is_dropped_but_in_training(name):
    head, given = built(LABEL_HEADS[name]), states()
    assert torch.equal(run_head(head, given), run_head(head, given))
    head.train()
    assert not torch.equal(run_head(head, given), run_head(head, given))
