"""Heads: what can be written, what cannot, and the start from a lexicon."""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.embedding import Embedding
from regard.layers.pooling import Mean
from regard.models.build.writing import transformer
from regard.models.heads import LabelHead, TokenHead, Transform
from regard.models.lexical_start import start_from_lexicon
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.model import ModelSettings
from regard.tasks.losses import consistency, cross_entropy, head_loss

WIDTH, TOKENS = 7, 13
WRITTEN = torch.tensor([2, 3, 5, 11])


def head(**settings):
    torch.manual_seed(0)
    return TokenHead(WIDTH, TOKENS, table=Embedding(TOKENS, WIDTH, scaled=False), **settings)


def test_a_limited_head_gives_the_same_logits_where_it_gives_any():
    full, limited = head(), head()
    limited.restrict_vocabulary(WRITTEN)
    states = torch.randn(5, WIDTH)
    wanted, found = full(states), limited(states)
    assert_close(found[:, WRITTEN], wanted[:, WRITTEN])
    others = [n for n in range(TOKENS) if n not in WRITTEN]
    assert (found[:, others] == -torch.inf).all()


def test_places_lead_back_to_the_tokens():
    limited = head()
    limited.restrict_vocabulary(WRITTEN)
    places = limited.places(torch.tensor([[3, 11], [2, 4]]))
    assert places.tolist() == [[1, 3], [0, -1]]
    assert_close(limited.matrix, limited.table.table[WRITTEN])


def test_a_soft_cap_bends_logits_into_its_bounds():
    capped, free = head(soft_cap=2.0), head()
    states = 50 * torch.randn(5, WIDTH)
    assert capped(states).abs().max() <= 2.0 < free(states).abs().max()
    assert_close(capped(states * 1e-4), free(states * 1e-4), rtol=1e-3, atol=1e-5)


def test_what_can_be_written_is_saved_with_the_weights():
    def model():
        return transformer(ModelSettings.model_validate({"width": 12, "feed_forward": 17}), TOKENS)

    first, second = model(), model()
    first.head.restrict_vocabulary(WRITTEN)
    load_parameters(second, collect_parameters(first))
    assert second.head.written.tolist() == WRITTEN.tolist()
    states = torch.randn(2, 12)
    assert_close(first.head(states), second.head(states))


def test_a_label_head_reads_a_pooled_text():
    states = torch.randn(3, 5, WIDTH)
    visible = torch.ones(3, 1, 1, 5, dtype=torch.bool)
    made = LabelHead(Mean(), WIDTH, 4)
    assert_close(made(states, visible=visible), made.to_logits(states.mean(1)))


def test_a_lexicon_brings_translations_together_and_lets_attention_copy():
    torch.manual_seed(0)
    settings = {"width": 64, "feed_forward": 17, "position": {"kind": "none"}}
    model = transformer(ModelSettings.model_validate(settings), 40)
    source, target = torch.arange(5), torch.arange(20, 25)
    start_from_lexicon(model, source, target, torch.full((5,), 0.9, dtype=torch.float64))
    table = model.reading.table
    alike = table @ table.T
    assert (alike[source, target] > 0.6).all()
    assert alike[source, target + 5].abs().max() < 0.5
    assert_close(table.norm(dim=1), torch.ones(40))
    assert_close(model.decoder.blocks[0].cross.part.to_output.weight, 0.5 * torch.eye(64))


def test_a_limited_head_keeps_its_biases_and_transform():
    full, limited = head(bias=True, transform=Transform(WIDTH)), head(bias=True)
    limited.transform = full.transform
    torch.nn.init.normal_(full.bias)
    limited.bias = full.bias
    limited.restrict_vocabulary(WRITTEN)
    states = torch.randn(5, WIDTH)
    assert_close(limited(states)[:, WRITTEN], full(states)[:, WRITTEN])
    assert_close(full(states), full.transform_states(states) @ full.matrix.T + full.bias)


@pytest.mark.parametrize("soft_cap", [0.0, 3.0])
def test_the_fast_loss_of_a_head_equals_the_equation(soft_cap):
    given = head(bias=True, transform=Transform(WIDTH), soft_cap=soft_cap).double()
    torch.nn.init.normal_(given.bias)
    given.restrict_vocabulary(WRITTEN)
    states = torch.randn(17, WIDTH, dtype=torch.float64)
    targets = torch.randint(len(WRITTEN), (17,))
    fast = head_loss(given, states, targets, smoothing=0.1)
    slow = cross_entropy(given(states)[:, WRITTEN], targets, smoothing=0.1)
    assert_close(fast.smoothed, slow.smoothed)
    slopes = [torch.autograd.grad(loss.smoothed, given.bias)[0] for loss in (fast, slow)]
    assert_close(*slopes)


def test_two_passes_are_apart_by_the_mean_of_both_divergences():
    first, second = torch.randn(2, 5, 11, dtype=torch.float64)
    p, q = (
        torch.distributions.Categorical(logits=first),
        torch.distributions.Categorical(logits=second),
    )
    both = torch.distributions.kl_divergence(p, q) + torch.distributions.kl_divergence(q, p)
    assert_close(consistency(first, second), both.sum() / 2)
    assert consistency(first, first) == 0
