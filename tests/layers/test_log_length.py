"""A look sharpened by the length keeps its share of a lead, whatever the length."""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.attention import softmax
from regard.layers.log_length import log_length
from regard.layers.visibility import causal, padding


def lead(keys, by):
    scores = torch.zeros(1, 1, 1, keys, dtype=torch.float64)
    scores[..., 0] = by
    return scores


@pytest.mark.parametrize("keys", [2, 7, 101])
def test_a_lead_is_worth_the_closed_form(keys):
    visible = torch.ones(1, 1, 1, keys, dtype=torch.bool)
    first = log_length(lead(keys, 1.5), visible)[0, 0, 0, 0]
    assert_close(first, torch.tensor(keys**1.5 / (keys**1.5 + keys - 1), dtype=torch.float64))


def test_the_number_is_that_of_visible_keys_and_not_of_padding():
    scores = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    visible = padding(torch.tensor([7, 4]), 7)
    short = log_length(scores[1:, :, :, :4], torch.ones(1, 1, 1, 4, dtype=torch.bool))
    assert_close(log_length(scores, visible)[1:, :, :, :4], short)


def test_every_query_counts_what_it_sees_itself():
    scores = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    weights = log_length(scores, causal(5, 5))
    for place in range(5):
        row = (
            scores[:, :, place : place + 1, : place + 1] * torch.tensor(place + 1.0).log().double()
        )
        expected = softmax(row, torch.ones(1, 1, 1, place + 1, dtype=torch.bool))
        assert_close(weights[:, :, place : place + 1, : place + 1], expected)


def test_one_key_is_looked_at_whole():
    assert log_length(lead(1, 3.0), torch.ones(1, 1, 1, 1, dtype=torch.bool)).item() == 1.0
