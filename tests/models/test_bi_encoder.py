"""A bi-encoder gives vectors of length one that feel no padding; its mean weighs what it should."""

import numpy as np
import pytest
import torch

from regard.layers.weighted_mean import WeightedMean
from regard.models.build.retrieval import bi_encoder
from regard.models.topics import (
    compute_lsa_vectors,
    initialise_from_lsa,
    initialise_idf_weights,
    inverse_document_frequency,
)
from regard.recipe.model import (
    AttentionSettings,
    HeadSettings,
    ModelSettings,
    NoPositionSettings,
    RecurrentSettings,
)
from regard.recipe.retrieval import RetrievalSettings

TOKENS = 31


def settings(**more):
    plain = {"width": 12, "depth": 2, "feed_forward": 17, "dropout": 0.0}
    return ModelSettings(**{**plain, "mixer": AttentionSettings(heads=3), **more})


@pytest.mark.parametrize(
    "pooling", ["mean", "max", "first", "cls", "last", "mean-max", "attention"]
)
def test_vectors_have_length_one_and_do_not_feel_padding(pooling):
    torch.manual_seed(3)
    own = settings(head=HeadSettings(pooling=pooling), zero_init=False)
    model = bi_encoder(own, TOKENS, RetrievalSettings()).double().eval()
    ids = torch.randint(7, TOKENS, (5, 11))
    lengths = torch.tensor([11, 7, 3, 2, 5])
    together = model(ids, lengths=lengths)
    assert together.norm(dim=1).tolist() == pytest.approx([1.0] * 5)
    for row, length in enumerate(lengths.tolist()):
        alone = model(ids[row : row + 1, :length], lengths=lengths[row : row + 1])
        assert torch.allclose(alone[0], together[row], atol=1e-12)


def test_a_recurrent_body_serves_as_well():
    own = settings(
        mixer=RecurrentSettings(kind="recurrent"), position=NoPositionSettings(kind="none")
    )
    model = bi_encoder(own, TOKENS, RetrievalSettings()).eval()
    assert model(torch.tensor([[8, 9, 10]]), lengths=torch.tensor([3])).shape == (1, 12)


def test_a_weighted_mean_is_its_equation():
    torch.manual_seed(2)
    pool = WeightedMean(TOKENS, learned=True).double()
    torch.nn.init.normal_(pool.importance)
    states, ids = torch.randn(3, 7, 5, dtype=torch.double), torch.randint(0, TOKENS, (3, 7))
    lengths = torch.tensor([7, 2, 0])
    visible = (torch.arange(7)[None] < lengths[:, None])[:, None, None]
    found = pool(states, ids=ids, visible=visible)
    for row, length in enumerate(lengths.tolist()):
        weights = pool.importance[ids[row, :length]].exp()
        expected = (weights[:, None] * states[row, :length]).sum(0) / weights.sum().clamp(min=1e-9)
        assert torch.allclose(found[row], expected)
    found.sum().backward()
    assert torch.isfinite(pool.importance.grad).all()


def counted(documents):
    pairs = [
        (n, t, c)
        for n, d in enumerate(documents)
        for t, c in zip(*np.unique(d, return_counts=True), strict=True)
    ]
    found = torch.tensor([[n, t] for n, t, _ in pairs]).T
    return found, torch.tensor([float(c) for *_, c in pairs])


def test_rare_tokens_count_for_more_and_unseen_ones_for_little():
    postings, _ = counted([[8, 9], [8, 10], [8, 8, 11]])
    assert inverse_document_frequency(postings, shape=(3, TOKENS))[8:10].tolist() == pytest.approx(
        [0.05, np.log(3)]
    )
    model = bi_encoder(settings(), TOKENS, RetrievalSettings(term_weights="learned"))
    initialise_idf_weights(model, postings, shape=(3, TOKENS))
    weights = model.pool.importance.exp().tolist()
    assert weights[9] == pytest.approx(np.log(3)) and weights[30] == pytest.approx(0.05)
    fixed = bi_encoder(settings(), TOKENS, RetrievalSettings(term_weights="idf"))
    assert not fixed.pool.importance.requires_grad


def test_tokens_of_the_same_documents_begin_near_each_other():
    torch.manual_seed(1)
    rng = np.random.default_rng(3)
    documents = [rng.choice([8, 9, 10] if n % 2 else [11, 12, 13], 7) for n in range(23)]
    postings, counts = counted(documents)
    vectors = compute_lsa_vectors(postings, counts, shape=(23, TOKENS), width=12)
    assert vectors.shape == (TOKENS, 12) and not vectors[14:].any()
    model = bi_encoder(settings(), TOKENS, RetrievalSettings())
    before = model.body.reading.table[20].clone()
    initialise_from_lsa(model, vectors)
    table = torch.nn.functional.normalize(model.body.reading.table, dim=1)
    alike = table @ table.T
    assert alike[8, 9] > 0.5 > alike[8, 12] and torch.equal(before, model.body.reading.table[20])


def test_a_body_that_adds_nothing_begins_as_that_analysis():
    """A weighted mean of topic vectors is the document's own place in the analysis."""
    torch.manual_seed(4)
    rng = np.random.default_rng(5)
    documents = [rng.integers(8, TOKENS, 13) for _ in range(29)]
    postings, counts = counted(documents)
    retrieval = RetrievalSettings(term_weights="learned", start="topics")
    own = settings(position=NoPositionSettings(kind="none"), norm="rms")
    model = bi_encoder(own, TOKENS, retrieval).eval()
    initialise_idf_weights(model, postings, shape=(29, TOKENS))
    vectors = compute_lsa_vectors(postings, counts, shape=(29, TOKENS), width=12)
    initialise_from_lsa(model, vectors)
    ids = torch.from_numpy(np.stack(documents))
    idf = inverse_document_frequency(postings, shape=(29, TOKENS))
    expected = torch.nn.functional.normalize((idf[ids][..., None] * vectors[ids]).sum(1), dim=1)
    found = model(ids, lengths=torch.full((29,), 13))
    assert torch.allclose(found, expected, atol=1e-3)
