"""Evaluation of rankings by vectors, by BM25 and by both."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.labelling.metrics import number_scores
from regard.tasks.retrieval.bm25 import words
from regard.tasks.retrieval.corpus import Corpus
from regard.tasks.retrieval.example import Tag
from regard.tasks.retrieval.metrics import DEPTH, mean_scores, rank, ranking_scores
from regard.tasks.retrieval.ranking import blend, words_found
from regard.tasks.task import Evaluation, Sample, Texts

SIGNATURE = "trec_eval|gain:grade|ties:later name first|depth:1000"
QUICK_QUERIES, QUICK_DOCUMENTS = 200, 3000  # while training
LISTED, SHOWN = 5, 12  # documents of a shown ranking, and rankings shown

Encode = Callable[[Sequence[str]], Tensor]
"""Embeds texts as vectors of length one."""


class JudgedQuery(NamedTuple):
    """A query and the grades of its documents."""

    text: str
    grades: dict[str, int]


class Ranked(NamedTuple):
    """The rankings of one query, by method."""

    query: JudgedQuery
    orders: dict[str, NDArray[np.int64]]
    scores: dict[str, dict[str, float]]


def judged_queries(examples: Iterable[Texts]) -> dict[str, list[JudgedQuery]]:
    """Collect the queries of examples, by the folder of their documents."""
    found: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for query, _, tag_text in examples:
        tag = Tag.read(tag_text)
        if tag.kind == "judged":
            found[tag.corpus].setdefault(query, {}).update(tag.grades)
        elif tag.kind in ("document", "pair") and query.strip():
            names = dict.fromkeys((tag.name, *tag.also), 1)
            found[""].setdefault(query, {}).update(names)
    return {
        place: [JudgedQuery(text, grades) for text, grades in by_text.items()]
        for place, by_text in found.items()
    }


def paired_documents(examples: Iterable[Texts]) -> dict[str, str]:
    """Collect the documents of labelled pairs, by name."""
    tags = ((text, Tag.read(written)) for _, text, written in examples)
    return {tag.name: text for text, tag in tags if tag.kind == "pair"}


def scored_pairs(examples: Iterable[Texts]) -> list[tuple[str, str, float]]:
    """Collect the pairs of examples that have a score."""
    pairs = ((first, second, Tag.read(written)) for first, second, written in examples)
    return [(first, second, tag.score) for first, second, tag in pairs if tag.kind == "scored"]


def measure_similarity(pairs: Sequence[tuple[str, str, float]], encode: Encode) -> Evaluation:
    """Correlate cosines with human scores; the baseline is the overlap of words."""
    first, second, gold = (list(side) for side in zip(*pairs, strict=True))
    cosines = (encode(first) * encode(second)).sum(dim=1).tolist()
    plain = [_overlap(*both) for both in zip(first, second, strict=True)]
    samples = [
        Sample(f"{one} | {other}", f"{true:g}", f"{said:.3f}")
        for one, other, true, said in zip(first, second, gold, cosines, strict=True)
    ]
    signature = {"spearman": "cosine of the two vectors; ties at their mean rank"}
    return Evaluation(
        number_scores(cosines, gold), number_scores(plain, gold), signature, len(pairs), samples
    )


def _overlap(one: str, other: str) -> float:
    """Compute the Jaccard similarity of the words of two texts."""
    mine, theirs = set(words(one)), set(words(other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def sample_documents(
    corpus: Corpus, queries: Sequence[JudgedQuery], *, most: int
) -> NDArray[np.int64]:
    """Choose all judged documents, and others spread over the corpus."""
    judged = {corpus.places[n] for q in queries for n in q.grades if n in corpus.places}
    some = np.linspace(0, len(corpus) - 1, min(most, len(corpus))).astype(np.int64)
    return np.union1d(some, np.array(sorted(judged), dtype=np.int64))


def rank_all(
    queries: Sequence[JudgedQuery],
    corpus: Corpus,
    vectors: tuple[NDArray[np.float32], NDArray[np.float32]],
    *,
    share: float,
    among: NDArray[np.int64] | None = None,
) -> list[Ranked]:
    """Rank documents for every query; ``vectors`` are those of the queries and the documents."""
    of_queries, documents = vectors
    empty = ~documents.any(axis=1)
    found = []
    for query, own in zip(queries, of_queries, strict=True):
        dense = documents @ own
        dense[empty] = -np.inf
        plain = corpus.words.scores(words(query.text))
        if among is not None:
            left_out = np.ones(len(corpus), dtype=bool)
            left_out[among] = False
            dense[left_out], plain[left_out] = -np.inf, 0.0
        scores = {
            "dense": dense,
            "bm25": words_found(plain),
            "hybrid": blend(dense, plain, share=share),
        }
        orders = {who: rank(each, corpus.ties, most=DEPTH) for who, each in scores.items()}
        judged = {
            who: ranking_scores([corpus.names[n] for n in order], query.grades)
            for who, order in orders.items()
        }
        found.append(Ranked(query, orders, judged))
    return found


def summarize(every: Sequence[tuple[Corpus, list[Ranked]]]) -> Evaluation:
    """Average the scores of all queries, and list samples."""
    ranked = [one for _, some in every for one in some]
    means = {
        who: mean_scores([one.scores[who] for one in ranked]) for who in ("dense", "bm25", "hybrid")
    }
    samples = [_sample(corpus, one) for corpus, some in every for one in some]
    shown = [_show_rankings(corpus, one) for corpus, some in every for one in some[:SHOWN]]
    details = {"searches": shown[:SHOWN], "ranks": _ranks(every)}
    return Evaluation(
        means["dense"],
        means["bm25"],
        {"ndcg@10": SIGNATURE},
        len(ranked),
        samples,
        means["hybrid"],
        details,
    )


def _sample(corpus: Corpus, one: Ranked) -> Sample:
    right = [n for n, grade in one.query.grades.items() if grade > 0 and n in corpus.places]
    expected = "; ".join(corpus.shown[corpus.places[name]] for name in right[:LISTED])
    order = one.orders["dense"]
    answered = corpus.shown[int(order[0])] if len(order) else ""
    return Sample(one.query.text, expected, answered, one.scores["dense"]["ndcg@10"])


def _show_rankings(corpus: Corpus, one: Ranked) -> dict[str, Any]:
    """Return the first documents of each ranking with their grades."""
    lists = {
        who: [
            {
                "document": corpus.names[n],
                "shown": corpus.shown[n],
                "grade": one.query.grades.get(corpus.names[n], 0),
            }
            for n in order[:LISTED].tolist()
        ]
        for who, order in one.orders.items()
    }
    return {"query": one.query.text, **lists}


def _ranks(every: Sequence[tuple[Corpus, list[Ranked]]]) -> list[list[int | None]]:
    """Return the rank of each query's first relevant document: by vectors, BM25 and both."""
    found: list[list[int | None]] = []
    for corpus, some in every:
        for one in some:
            right = {
                corpus.places[n] for n, g in one.query.grades.items() if g and n in corpus.places
            }
            found.append([_first(one.orders[who], right) for who in ("dense", "bm25", "hybrid")])
    return found


def _first(order: NDArray[np.int64], right: set[int]) -> int | None:
    places = np.flatnonzero(np.isin(order, list(right)))
    return int(places[0]) + 1 if len(places) else None
