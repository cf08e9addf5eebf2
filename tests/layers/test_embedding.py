import torch
from torch.testing import assert_close

from regard.layers.dropout import keyed
from regard.layers.embedding import Embedding
from regard.layers.position import Added, Concatenated, Sinusoidal

TOKENS, WIDTH = 13, 6
IDS = torch.tensor([[3, 5, 3], [0, 12, 7]])


def test_a_state_is_the_row_of_its_id_scaled_by_the_root_of_the_width():
    plain, scaled = Embedding(TOKENS, WIDTH, scaled=False), Embedding(TOKENS, WIDTH, scaled=True)
    assert_close(plain(IDS), plain.table[IDS])
    assert_close(scaled(IDS), scaled.table[IDS] * WIDTH**0.5)


def test_the_position_joins_after_scaling_from_where_the_text_starts():
    waves = Sinusoidal(WIDTH)
    layer = Embedding(TOKENS, WIDTH, scaled=True, place=Added(waves))
    expected = layer.table[IDS] * WIDTH**0.5 + waves(3, start=4)
    assert_close(layer(IDS, start=4), expected)


def test_a_concatenated_position_widens_the_state():
    layer = Embedding(TOKENS, WIDTH, scaled=False, place=Concatenated(Sinusoidal(4)))
    assert layer(IDS).shape == (2, 3, WIDTH + 4)
    assert_close(layer(IDS)[..., :WIDTH], layer.table[IDS])


def test_a_tied_output_compares_each_state_with_each_token():
    layer, states = Embedding(TOKENS, WIDTH, scaled=False), torch.randn(2, 3, WIDTH)
    assert_close(layer.logits(states), states @ layer.table.T)


def test_a_tied_table_learns_from_both_of_its_uses():
    layer = Embedding(TOKENS, WIDTH, scaled=True).double()

    def slope(reading, writing):
        layer.table.grad = None
        read = layer(IDS) if reading else layer(IDS).detach()
        written = layer.logits(read) if writing else read @ layer.table.detach().T
        written.square().sum().backward()
        return layer.table.grad

    assert_close(slope(True, True), slope(True, False) + slope(False, True))


def test_scaled_states_begin_at_unit_size():
    torch.manual_seed(0)
    layer = Embedding(997, 64, scaled=True)
    assert_close(layer.table.mul(layer.scale).std(), torch.tensor(1.0), rtol=0.02, atol=0)


def test_entering_states_are_thinned_while_training_only():
    layer = Embedding(TOKENS, WIDTH, scaled=False, dropout=0.5)
    with keyed(1):
        thinned = layer(IDS)
    assert_close(thinned, torch.where(thinned == 0, 0, 2 * layer.table[IDS]))
    assert (thinned == 0).any()
    assert_close(layer.eval()(IDS), layer.table[IDS])
