"""Pairs are drawn as the recipe says, and what answers too is no competitor."""

import numpy as np
import pytest
import torch

from regard.data.batch import Batch, Padded
from regard.data.store import Store
from regard.models.bi_encoder import BiEncoder
from regard.recipe.retrieval import RetrievalSettings
from regard.tasks.retrieval.pairs import LABELLED, TITLED, UNTITLED, Pairs
from regard.tasks.retrieval.retrieval import Retrieval, _false_negatives
from regard.text import special


def shelf(folder, examples):
    """Return a store of examples that are ids already."""
    rows = [tuple([int(id) for id in field] for field in example) for example in examples]
    places = iter(rows)
    return Store.open_or_write(
        folder,
        lambda: (("", "", str(number)) for number in range(len(rows))),
        lambda some: [next(places) for _ in some],
        key=(str(rows),),
        longest=None,
    )


@pytest.fixture
def draw(tmp_path):
    def drawn(examples, seed=0, longest=47, **settings):
        pairs = Pairs(shelf(tmp_path, examples), RetrievalSettings(**settings), longest=longest)
        return pairs.batch(np.arange(len(examples)), np.random.default_rng(seed))

    return drawn


def document(number, kind=UNTITLED, words=61):
    begin = 100 * number
    return (range(begin, begin + 5), range(begin + 10, begin + 10 + words), [kind, number])


def rows(padded):
    return [row[:n] for row, n in zip(padded.ids.tolist(), padded.lengths.tolist(), strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_two_spans_of_one_document_ask_and_answer(draw, seed):
    examples = [document(number) for number in range(1, 8)]
    batch = draw(
        examples,
        seed,
        pairs=("crops",),
        query_length=(3, 7),
        document_length=(11, 13),
        deletion=0.0,
    )
    for number, asked, answer in zip(range(1, 8), *map(rows, batch.fields[:2]), strict=True):
        for ids, (fewest, most) in ((asked, (3, 7)), (answer, (11, 13))):
            assert ids[0] == special.CLS and ids[-1] == special.SEP
            whole = [*examples[number - 1][0], *examples[number - 1][1]]
            inner = ids[1:-1]
            assert fewest <= len(inner) <= most
            at = whole.index(inner[0])
            assert whole[at : at + len(inner)] == inner


def test_a_share_of_the_tokens_is_left_out(draw):
    examples = [document(number, words=400) for number in range(1, 30)]
    batch = draw(
        examples,
        pairs=("crops",),
        query_length=(5, 5),
        document_length=(200, 200),
        deletion=0.25,
        longest=300,
    )
    kept = np.mean([len(row) - 2 for row in rows(batch.fields[1])]) / 200
    assert 0.72 < kept < 0.78


def test_a_title_asks_for_a_span_of_its_body(draw):
    examples = [document(number, TITLED) for number in range(1, 12)]
    batch = draw(examples, pairs=("title",), document_length=(7, 9))
    for number, asked, answer in zip(range(1, 12), *map(rows, batch.fields[:2]), strict=True):
        assert asked[1:-1] == list(examples[number - 1][0])
        assert set(answer[1:-1]) <= set(examples[number - 1][1]) and 7 <= len(answer) - 2 <= 9
    both = draw(examples * 9, pairs=("crops", "title"), query_length=(3, 4), deletion=0.0)
    lengths = [len(row) - 2 for row in rows(both.fields[0])]
    assert lengths.count(5) > 30 and len(lengths) - lengths.count(5) > 30


def test_a_query_asks_for_the_beginning_of_its_document(draw):
    examples = [(range(7, 12), range(50, 90), [LABELLED, 1, 2, 3])]
    batch = draw(examples, pairs=("labelled",), document_length=(3, 17), deletion=0.5)
    assert rows(batch.fields[0]) == [[special.CLS, *range(7, 12), special.SEP]]
    assert rows(batch.fields[1]) == [[special.CLS, *range(50, 67), special.SEP]]
    assert rows(batch.fields[2]) == [[1, 2, 3]]


def test_hard_negatives_share_words_and_are_never_right(tmp_path):
    words = list(range(300, 320))
    examples = [(words[:5], 3 * words[:5], [LABELLED, n, 1, 2]) for n in (1, 2)]
    examples += [([1], words[: 5 + n], [UNTITLED, n]) for n in range(3, 10)]
    examples += [([1], range(500, 520), [UNTITLED, n]) for n in range(10, 15)]
    pairs = Pairs(
        shelf(tmp_path, examples),
        RetrievalSettings(pairs=("labelled",), hard_negatives=3, hard_from=5),
        longest=40,
    )
    for seed in range(7):
        batch = pairs.batch(np.array([0, 1]), np.random.default_rng(seed))
        owners = batch.fields[3].ids[:, 0].tolist()
        assert owners[:2] == [1, 2] and len(owners) == 8
        assert set(owners[2:]) <= set(range(3, 10))
        assert len(set(owners[2:5])) == 3


def test_what_false_negatives_is_no_competitor():
    also = Padded(torch.tensor([[1, 2, -1], [2, -1, -1], [3, 7, 1]]), torch.tensor([2, 1, 3]))
    owners = Padded(torch.tensor([[1], [2], [3], [7], [9]]), torch.ones(5, dtype=torch.long))
    assert _false_negatives(also, owners).tolist() == [
        [False, True, False, False, False],
        [False, False, False, False, False],
        [True, False, False, True, False],
    ]


class Known(BiEncoder):
    """Gives vectors that are known beforehand, by how many are asked for."""

    def __init__(self, vectors):
        torch.nn.Module.__init__(self)
        self.vectors = vectors

    def forward(self, ids, *, lengths):
        return self.vectors[len(ids)]


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_loss_is_its_equation(symmetric):
    torch.manual_seed(6)
    asked, answers = (
        torch.nn.functional.normalize(torch.randn(n, 5, dtype=torch.double), dim=1) for n in (3, 7)
    )
    vectors = {3: asked, 7: answers}
    task = Retrieval.__new__(Retrieval)
    task.settings = RetrievalSettings(temperature=0.3, symmetric=symmetric)
    padded = Padded(torch.zeros(3, 2, dtype=torch.long), torch.full((3,), 2))
    wide = Padded(torch.zeros(7, 2, dtype=torch.long), torch.full((7,), 2))
    also = Padded(torch.tensor([[1, 2], [2, -1], [3, -1]]), torch.tensor([2, 1, 1]))
    owners = Padded(torch.arange(1, 8)[:, None], torch.ones(7, dtype=torch.long))
    batch = Batch((padded, wide, also, owners), np.arange(3))
    lost = task.loss(Known(vectors), batch)
    scores = (asked @ answers.T / 0.3).exp()
    scores[0, 1] = 0.0  # document 2 answers question 1 too
    forth = -sum((scores[n, n] / scores[n].sum()).log() for n in range(3))
    back = -sum((scores[n, n] / scores[:, n].sum()).log() for n in range(3))
    expected = (forth + back) / 2 if symmetric else forth
    assert lost.smoothed.item() == pytest.approx(expected.item(), rel=1e-12)
    assert lost.plain == pytest.approx(forth.item()) and lost.tokens == 3
