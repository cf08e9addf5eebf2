"""BM25 is the equation, and what the library bm25s computes."""

import math

import numpy as np
import pytest

from regard.inference.search.folder import read_words, write_words
from regard.tasks.retrieval.bm25 import K1, B, Bm25, words

TEXTS = [
    "The wing of a plane, and the wind.",
    "a plane in the wind; a wind tunnel",
    "Nothing of the kind.",
    "",
    "wing wing wing tunnel plane heat heat",
]
QUERIES = ["wing wind", "the plane's heat", "heat heat tunnel", "unheard of zzz", "zzz"]


def by_hand(query, texts):
    documents = [words(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        total = 0.0
        for term in words(query):
            having = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            often = document.count(term)
            slow = K1 * (1 - B + B * len(document) / mean)
            total += idf * often / (often + slow) if often else 0.0
        scores.append(total)
    return scores


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_the_equation(query):
    index = Bm25.of(map(words, TEXTS))
    assert index.scores(words(query)).tolist() == pytest.approx(by_hand(query, TEXTS), abs=1e-5)


def test_scores_agree_with_the_library():
    library = pytest.importorskip("bm25s", reason="bm25s is not installed")
    rng = np.random.default_rng(5)
    terms = [f"t{n}" for n in range(29)]
    corpus = [rng.choice(terms, rng.integers(1, 23)).tolist() for _ in range(53)]
    theirs = library.BM25(k1=K1, b=B, method="lucene")
    theirs.index(corpus, show_progress=False)
    ours = Bm25.of(corpus)
    for _ in range(11):
        query = list(dict.fromkeys(rng.choice(terms, 5).tolist()))
        assert ours.scores(query) == pytest.approx(theirs.get_scores(query), abs=1e-5)


def test_a_query_that_matches_nothing_scores_nothing():
    assert not Bm25.of(map(words, TEXTS)).scores(words("zzz qqq")).any()


def test_lists_are_written_and_read_back(tmp_path):
    index = Bm25.of(map(words, [*TEXTS, "größer Ähre 漢字"]))
    write_words(tmp_path, index)
    again = read_words(tmp_path)
    assert again.places == index.places and again.count == index.count
    for query in [*QUERIES, "ähre 漢字"]:
        assert (again.scores(words(query)) == index.scores(words(query))).all()


def test_an_index_without_documents_is_empty():
    assert Bm25.of([]).scores(["a"]).shape == (0,)
