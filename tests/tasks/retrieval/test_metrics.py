"""Rankings are worth what trec_eval says they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.retrieval.metrics import NAMES, mean_scores, name_order, rank, ranking_scores
from regard.tasks.retrieval.ranking import blend, spread, words_found

THEIRS = {
    "ndcg@10": "ndcg_cut_10",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "map": "map",
}


@pytest.mark.parametrize("seed", range(7))
def test_scores_agree_with_trec_eval_ties_and_grades_included(seed):
    trec = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    rng = np.random.default_rng(seed)
    names = [f"d{n}" for n in range(137)]
    grades = {name: int(rng.integers(0, 4)) for name in rng.choice(names, 23, replace=False)}
    grades["d0"] = 1
    # Coarse scores: many are equal.
    scores = rng.integers(0, 11, len(names)).astype(np.float32)
    run = {"q": dict(zip(names, map(float, scores), strict=True))}
    judge = trec.RelevanceEvaluator({"q": grades}, set(THEIRS.values()) | {"recip_rank"})
    theirs = judge.evaluate(run)["q"]
    ours = ranking_scores([names[n] for n in rank(scores, name_order(names))], grades)
    for mine, name in THEIRS.items():
        assert ours[mine] == pytest.approx(theirs[name], abs=1e-9), mine
    first = theirs["recip_rank"]
    assert ours["mrr@10"] == pytest.approx(first if first >= 0.1 else 0.0)


def test_a_small_case_by_hand():
    scores = ranking_scores(["a", "b", "c"], {"b": 2, "d": 1, "a": 0})
    best = 2 + 1 / np.log2(3)
    assert scores["ndcg@10"] == pytest.approx(2 / np.log2(3) / best)
    assert scores["mrr@10"] == scores["recall@10"] == 0.5
    assert scores["map"] == pytest.approx(1 / 2 / 2)


grade_tables = st.dictionaries(
    st.sampled_from([f"d{n}" for n in range(31)]), st.integers(0, 3), min_size=1
).filter(lambda grades: any(grades.values()))


@given(grade_tables, st.permutations([f"d{n}" for n in range(31)]))
def test_scores_lie_between_nothing_and_the_best_ranking(grades, ranked):
    scores = ranking_scores(ranked, grades)
    assert all(0.0 <= scores[name] <= 1.0 + 1e-12 for name in NAMES)
    best = sorted(ranked, key=lambda name: -grades.get(name, 0))
    ideal = ranking_scores(best, grades)
    assert ideal["ndcg@10"] == pytest.approx(1.0) and ideal["map"] == pytest.approx(1.0)
    assert ideal["mrr@10"] == 1.0
    assert ranking_scores([], grades) == dict.fromkeys(NAMES, 0.0)


@given(grade_tables, st.permutations([f"d{n}" for n in range(31)]), st.randoms())
def test_what_stands_behind_the_last_relevant_one_does_not_matter(grades, ranked, chance):
    last = max((n for n, name in enumerate(ranked) if grades.get(name, 0)), default=0)
    tail = ranked[last + 1 :]
    chance.shuffle(tail)
    assert ranking_scores([*ranked[: last + 1], *tail], grades) == ranking_scores(ranked, grades)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=41), st.integers(1, 17))
def test_the_first_few_are_those_of_the_whole_order(numbers, most):
    scores = np.array(numbers, dtype=np.float32)
    ties = name_order([str(n) for n in range(len(numbers))])
    whole = rank(scores, ties)
    assert rank(scores, ties, most=most).tolist() == whole[:most].tolist()
    assert (np.diff(scores[whole]) <= 0).all()


def test_what_is_not_found_is_not_ranked():
    scores = words_found(np.array([0.0, 2.0, 0.0], dtype=np.float32))
    assert rank(scores, name_order(["a", "b", "c"])).tolist() == [1]


def test_both_scores_reach_from_nothing_to_one_before_they_are_added():
    dense = np.array([-0.5, 0.5, 0.0, -np.inf, -np.inf], dtype=np.float32)
    words = np.array([0.0, 0.0, 8.0, 4.0, 0.0], dtype=np.float32)
    assert spread(dense).tolist() == [0.0, 1.0, 0.5, 0.0, 0.0]
    both = blend(dense, words, share=0.25)
    assert both[:4].tolist() == [0.0, 0.25, 0.875, 0.375] and np.isneginf(both[4])


def test_every_query_weighs_the_same():
    one, other = dict.fromkeys(NAMES, 0.25), dict.fromkeys(NAMES, 0.75)
    assert mean_scores([one, other, other])["map"] == pytest.approx(7 / 12)
