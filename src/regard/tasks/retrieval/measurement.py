"""Questions put to a model, to BM25 and to both, and what their rankings are worth."""

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
QUICK_QUESTIONS, QUICK_DOCUMENTS = 200, 3000  # while training
LISTED, TOLD = 5, 12  # documents of a shown ranking, and rankings shown

Encode = Callable[[Sequence[str]], Tensor]
"""Texts to vectors of length one."""


class Question(NamedTuple):
    """What is asked, and which documents answer it how well."""

    text: str
    grades: dict[str, int]


class Ranked(NamedTuple):
    """One question's rankings, by who ranked."""

    question: Question
    orders: dict[str, NDArray[np.int64]]
    scores: dict[str, dict[str, float]]


def questions(examples: Iterable[Texts]) -> dict[str, list[Question]]:
    """Take questions out of examples, by where the documents they ask for are."""
    found: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for asked, _, written in examples:
        tag = Tag.read(written)
        if tag.kind == "judged":
            found[tag.corpus].setdefault(asked, {}).update(tag.grades)
        elif tag.kind in ("document", "pair") and asked.strip():
            names = dict.fromkeys((tag.name, *tag.also), 1)
            found[""].setdefault(asked, {}).update(names)
    return {
        place: [Question(text, grades) for text, grades in by_text.items()]
        for place, by_text in found.items()
    }


def paired_texts(examples: Iterable[Texts]) -> dict[str, str]:
    """Take the documents out of labelled pairs, by name."""
    tags = ((text, Tag.read(written)) for _, text, written in examples)
    return {tag.name: text for text, tag in tags if tag.kind == "pair"}


def scored(examples: Iterable[Texts]) -> list[tuple[str, str, float]]:
    """Take pairs with a score out of examples."""
    pairs = ((first, second, Tag.read(written)) for first, second, written in examples)
    return [(first, second, tag.score) for first, second, tag in pairs if tag.kind == "scored"]


def measure_likeness(pairs: Sequence[tuple[str, str, float]], encode: Encode) -> Evaluation:
    """Say how well cosines follow the scores that people gave, beside shared words."""
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
    """Share of the words of two texts that both have."""
    mine, theirs = set(words(one)), set(words(other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def smaller(corpus: Corpus, asked: Sequence[Question], *, most: int) -> NDArray[np.int64]:
    """Choose documents: all that are judged, and others spread over the corpus."""
    judged = {corpus.places[n] for q in asked for n in q.grades if n in corpus.places}
    some = np.linspace(0, len(corpus) - 1, min(most, len(corpus))).astype(np.int64)
    return np.union1d(some, np.array(sorted(judged), dtype=np.int64))


def ask(
    asked: Sequence[Question],
    corpus: Corpus,
    vectors: tuple[NDArray[np.float32], NDArray[np.float32]],
    *,
    share: float,
    among: NDArray[np.int64] | None = None,
) -> list[Ranked]:
    """Rank for every question; ``vectors`` are those of the questions and of all documents."""
    theirs, documents = vectors
    empty = ~documents.any(axis=1)
    found = []
    for question, own in zip(asked, theirs, strict=True):
        dense = documents @ own
        dense[empty] = -np.inf
        plain = corpus.words.scores(words(question.text))
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
            who: ranking_scores([corpus.names[n] for n in order], question.grades)
            for who, order in orders.items()
        }
        found.append(Ranked(question, orders, judged))
    return found


def told(every: Sequence[tuple[Corpus, list[Ranked]]]) -> Evaluation:
    """Put all questions together: means, answers one by one, and some to look at."""
    ranked = [one for _, some in every for one in some]
    means = {
        who: mean_scores([one.scores[who] for one in ranked]) for who in ("dense", "bm25", "hybrid")
    }
    samples = [_sample(corpus, one) for corpus, some in every for one in some]
    shown = [_shown(corpus, one) for corpus, some in every for one in some[:TOLD]]
    details = {"searches": shown[:TOLD], "ranks": _ranks(every)}
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
    right = [n for n, grade in one.question.grades.items() if grade > 0 and n in corpus.places]
    expected = "; ".join(corpus.shown[corpus.places[name]] for name in right[:LISTED])
    order = one.orders["dense"]
    answered = corpus.shown[int(order[0])] if len(order) else ""
    return Sample(one.question.text, expected, answered, one.scores["dense"]["ndcg@10"])


def _shown(corpus: Corpus, one: Ranked) -> dict[str, Any]:
    """Say what each ranking has first, and whether it is relevant."""
    lists = {
        who: [
            {
                "document": corpus.names[n],
                "shown": corpus.shown[n],
                "grade": one.question.grades.get(corpus.names[n], 0),
            }
            for n in order[:LISTED].tolist()
        ]
        for who, order in one.orders.items()
    }
    return {"query": one.question.text, **lists}


def _ranks(every: Sequence[tuple[Corpus, list[Ranked]]]) -> list[list[int | None]]:
    """Give the rank of each question's first relevant document: by vectors, by BM25, by both."""
    found: list[list[int | None]] = []
    for corpus, some in every:
        for one in some:
            right = {
                corpus.places[n] for n, g in one.question.grades.items() if g and n in corpus.places
            }
            found.append([_first(one.orders[who], right) for who in ("dense", "bm25", "hybrid")])
    return found


def _first(order: NDArray[np.int64], right: set[int]) -> int | None:
    places = np.flatnonzero(np.isin(order, list(right)))
    return int(places[0]) + 1 if len(places) else None
