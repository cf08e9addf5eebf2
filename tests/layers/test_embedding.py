import torch
from torch.testing import assert_close

from regard.layers.dropout import keyed
from regard.layers.embedding import Embedding, Extras, Ngrams
from regard.layers.memory import Memory
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


# ── n-grams, segments, norm, explicit positions ─────────────────────────────────────────────────

END = 1


def make_ngrams(longest=3, rows=101):
    torch.manual_seed(0)
    ngrams = Ngrams(longest, rows=rows, width=WIDTH, boundary=END)
    for table in ngrams.tables:
        torch.nn.init.normal_(table)
    return ngrams


def test_an_ngram_does_not_depend_on_later_tokens():
    ngrams = make_ngrams()
    one, other = torch.tensor([[5, 7, 2, 9]]), torch.tensor([[5, 7, 2, 11]])
    assert_close(ngrams(one)[:, :3], ngrams(other)[:, :3])
    assert (ngrams(one)[:, 3] != ngrams(other)[:, 3]).any()


def test_an_ngram_depends_on_as_many_tokens_as_it_is_long():
    ngrams = make_ngrams(longest=3)
    ids = torch.tensor([[5, 7, 2, 9]])
    far, near = torch.tensor([[6, 7, 2, 9]]), torch.tensor([[5, 8, 2, 9]])
    assert_close(ngrams(ids)[:, 3], ngrams(far)[:, 3])
    assert (ngrams(ids)[:, 3] != ngrams(near)[:, 3]).any()


def test_equal_ngrams_have_equal_vectors_and_order_matters():
    ngrams = make_ngrams(longest=2)
    found = ngrams(torch.tensor([[4, 5, 4, 5, 4]]))[0]
    assert_close(found[1], found[3])
    assert_close(found[2], found[4])
    assert (found[1] != found[2]).any()


def test_no_ngram_crosses_a_document_boundary():
    ngrams = make_ngrams(longest=4)
    one, other = torch.tensor([[5, END, 7, 9]]), torch.tensor([[8, END, 7, 9]])
    assert_close(ngrams(one)[:, 1:], ngrams(other)[:, 1:])


def test_ngrams_token_by_token_equal_all_at_once():
    ngrams, ids = make_ngrams(longest=3), torch.tensor([[5, 7, 2, 9, 9], [3, 3, 1, 4, 8]])
    memory = Memory()
    steps = [ngrams(ids[:, t : t + 1], memory=memory) for t in range(5)]
    assert_close(torch.cat(steps, dim=1), ngrams(ids))


def test_ngram_hashes_are_spread_evenly_over_the_rows():
    ngrams = Ngrams(2, rows=97, width=WIDTH, boundary=END)
    pairs = torch.cartesian_prod(torch.arange(2, 62), torch.arange(2, 62))
    rows = ngrams.hashes(pairs, 1)[0] % 97
    counts = torch.bincount(rows[:, 0], minlength=97)
    assert counts.min() > 0.3 * 3600 / 97 and counts.max() < 2 * 3600 / 97


def test_ngrams_are_dropped_as_a_whole_while_training_only():
    torch.manual_seed(0)
    ngrams = Ngrams(2, rows=101, width=WIDTH, boundary=END, dropout=0.5)
    torch.nn.init.normal_(ngrams.tables[0])
    ids = torch.arange(2, 62).view(5, 12)
    whole = ngrams.eval()(ids)
    with keyed(1):
        thinned = ngrams.train()(ids)
    gone = (thinned == 0).all(dim=-1)
    assert_close(thinned, torch.where(gone[..., None], 0, 2 * whole))
    assert 0.2 < gone.double().mean() < 0.8


def test_ngrams_are_initialised_to_zero_and_get_gradients():
    layer = Embedding(
        TOKENS, WIDTH, scaled=False, extras=Extras(Ngrams(2, rows=11, width=WIDTH, boundary=END))
    )
    assert_close(layer(IDS), layer.table[IDS])
    layer(IDS).square().sum().backward()
    assert layer.ngrams.tables[0].grad.abs().sum() > 0


def test_a_segment_is_added_and_the_sum_is_normalised_as_in_bert():
    norm = torch.nn.LayerNorm(WIDTH)
    waves = Sinusoidal(WIDTH)
    layer = Embedding(
        TOKENS, WIDTH, scaled=False, place=Added(waves), extras=Extras(segments=2, norm=norm)
    )
    kinds = torch.tensor([[0, 0, 1], [0, 1, 1]])
    expected = norm(layer.table[IDS] + layer.segments[kinds] + waves(3))
    assert_close(layer(IDS, segments=kinds), expected)
    assert_close(layer(IDS), norm(layer.table[IDS] + layer.segments[0] + waves(3)))


def test_positions_can_be_given_explicitly():
    layer = Embedding(TOKENS, WIDTH, scaled=False, place=Added(Sinusoidal(WIDTH)))
    whole = layer(torch.tensor([[3, 5, 3, 7, 9]]))
    kept = torch.tensor([[0, 3, 4]])
    assert_close(layer(torch.tensor([[3, 7, 9]]), at=kept), whole[:, [0, 3, 4]])
