import itertools

import pytest
import torch

from regard.decoding import beam as beam_file
from regard.decoding.beam import beam_search
from regard.decoding.search import greedy_search

from .toy import BEGIN, END, PAD, Toy, every_finished_sequence, limits

SOURCES = range(13)


def penalised(total, length, alpha):
    return total / ((5 + length) / 6) ** alpha


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("end_bias", [-1.0, 0.0, 2.0])
def test_a_beam_of_one_is_greedy(alpha, end_bias):
    rows = [limits(*[11] * 13), limits(*range(1, 14))]
    for limit in rows:
        expected = greedy_search(Toy(SOURCES, end_bias=end_bias), 13, limits=limit)
        found = beam_search(
            Toy(SOURCES, end_bias=end_bias), 13, limits=limit, width=1, length_penalty=alpha
        )
        assert [(a.ids, a.log_probability, a.finished) for (a,) in found] == [
            (a.ids, a.log_probability, a.finished) for a in expected
        ]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_beam_as_wide_as_the_space_is_exhaustive_search(alpha):
    tokens, longest, best = [3, 4, 5], 5, 7  # PAD and BEGIN are never produced
    toy = Toy(range(5), vocabulary=6, dtype=torch.float64)
    found = beam_search(
        toy,
        5,
        limits=limits(*[longest] * 5),
        width=3**longest,
        length_penalty=alpha,
        best=best,
    )
    for source, answers in enumerate(found):
        scored = [
            (penalised(toy.log_probability(source, (*ids, END)), len(ids) + 1, alpha), list(ids))
            for ids in every_finished_sequence(tokens, longest)
        ]
        expected = sorted(scored, reverse=True)[:best]
        assert [a.ids for a in answers] == [ids for _, ids in expected]
        assert [a.score for a in answers] == pytest.approx([score for score, _ in expected])
        assert all(a.finished for a in answers)


def beam_by_hand(toy, source, *, longest, width, alpha, best):
    """Search in plain Python, with no early stop but a beam's worth of finished answers."""
    alive, finished, cut = [(0.0, ())], [], []
    for length in range(1, longest + 1):
        grown = []
        for _, ids in alive:
            for token in set(range(toy.vocabulary)) - {BEGIN, PAD}:
                grown.append((toy.log_probability(source, (*ids, token)), (*ids, token)))
        grown.sort(reverse=True)
        finished += [(penalised(t, length, alpha), i) for t, i in grown[:width] if i[-1] == END]
        alive = [one for one in grown if one[1][-1] != END][:width]
        if len(finished) >= width or not alive:
            break
        cut = [(penalised(t, length, alpha), i) for t, i in alive]
    found = sorted(finished or cut, reverse=True)[:best]
    return [(list(i[:-1] if i[-1] == END else i), s) for s, i in found]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize(("width", "best"), [(2, 1), (3, 2), (5, 5)])
def test_the_early_stop_changes_no_answer(alpha, width, best):
    longest = [2, 3, 5, 7, 11, 7, 5, 7, 3, 11, 7, 5, 7]
    for end_bias in (-2.0, 0.0, 1.0):
        toy = Toy(SOURCES, end_bias=end_bias, dtype=torch.float64)
        found = beam_search(
            toy, 13, limits=limits(*longest), width=width, length_penalty=alpha, best=best
        )
        for source, answers in enumerate(found):
            expected = beam_by_hand(
                toy, source, longest=longest[source], width=width, alpha=alpha, best=best
            )
            assert [a.ids for a in answers] == [ids for ids, _ in expected]
            assert [a.score for a in answers] == pytest.approx([score for _, score in expected])


def test_the_early_stop_saves_steps():
    toy, patient = Toy(range(7), end_bias=2.0), Toy(range(7), end_bias=2.0)
    beam_search(toy, 7, limits=limits(*[31] * 7), width=5, length_penalty=0.6)
    never_sure = pytest.MonkeyPatch()
    never_sure.setattr(
        beam_file._Finished,
        "is_complete",
        lambda self, likeliest, longest: len(self.answers) >= self.width,
    )
    beam_search(patient, 7, limits=limits(*[31] * 7), width=5, length_penalty=0.6)
    never_sure.undo()
    assert sum(toy.rows_per_step) < 0.8 * sum(patient.rows_per_step)


def test_the_reported_log_probability_is_that_of_re_scoring():
    toy = Toy(SOURCES, dtype=torch.float64)
    found = beam_search(toy, 13, limits=limits(*[5] * 13), width=4, length_penalty=0.6, best=3)
    for source, answers in enumerate(found):
        for answer in answers:
            ids = [*answer.ids, END] if answer.finished else answer.ids
            total = toy.log_probability(source, ids)
            assert answer.log_probability == pytest.approx(total)
            assert answer.score == pytest.approx(penalised(total, len(ids), 0.6))


def test_a_row_alone_answers_as_it_does_in_a_batch():
    longest = [2, 3, 5, 7, 11, 13, 1, 2, 3, 5, 7, 11, 13]
    together = beam_search(
        Toy(SOURCES), 13, limits=limits(*longest), width=3, length_penalty=0.6, best=2
    )
    alone = [
        beam_search(Toy([s]), 1, limits=limits(longest[s]), width=3, length_penalty=0.6, best=2)[0]
        for s in SOURCES
    ]
    assert together == alone


def test_the_answers_come_best_first_and_differ():
    found = beam_search(
        Toy(SOURCES), 13, limits=limits(*[11] * 13), width=5, length_penalty=0.6, best=5
    )
    for answers in found:
        assert [a.score for a in answers] == sorted((a.score for a in answers), reverse=True)
        assert len({tuple(a.ids) for a in answers}) == len(answers)


def test_unfinished_answers_come_back_only_where_nothing_finished():
    toy = Toy(range(5), end_bias=-99)
    for answers in beam_search(
        toy, 5, limits=limits(1, 2, 3, 5, 7), width=3, length_penalty=0.6, best=2
    ):
        assert [a.finished for a in answers] == [False, False]
    mixed = beam_search(
        Toy(SOURCES), 13, limits=limits(*[3] * 13), width=3, length_penalty=0.6, best=3
    )
    kinds = [{a.finished for a in answers} for answers in mixed]
    assert {True} in kinds
    assert {True, False} not in kinds


def test_a_greater_length_penalty_never_makes_the_best_answer_shorter():
    # Over the whole space only: what a narrow beam meets depends on the way.
    lengths = []
    for alpha in (0.0, 0.6, 1.2, 3.0):
        toy = Toy(range(7), vocabulary=5, end_bias=1.0)
        found = beam_search(toy, 7, limits=limits(*[5] * 7), width=32, length_penalty=alpha)
        lengths.append([len(answers[0].ids) for answers in found])
    for shorter, longer in itertools.pairwise(lengths):
        assert all(a <= b for a, b in zip(shorter, longer, strict=True))
    assert lengths[0] != lengths[-1]


def test_sources_that_are_over_leave_the_batch():
    toy = Toy(range(3), end_bias=-99)
    beam_search(toy, 3, limits=limits(1, 2, 5), width=4, length_penalty=0.6)
    assert toy.rows_per_step == [3, 8, 4, 4, 4]


def test_tokens_that_must_never_come_do_not_come():
    found = beam_search(
        Toy(SOURCES),
        13,
        limits=limits(*[7] * 13, never=(BEGIN, PAD, 3)),
        width=9,
        length_penalty=0.6,
        best=9,
    )
    seen = {token for answers in found for answer in answers for token in answer.ids}
    assert seen == {4, 5, 6}


def test_no_rows_give_no_answers():
    assert beam_search(Toy([]), 0, limits=limits(), width=3, length_penalty=0.6) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"width": 0, "length_penalty": 0.6}, "width=0"),
        ({"width": 2, "length_penalty": 0.6, "best": 3}, "best=3, width=2"),
        ({"width": 2, "length_penalty": -0.1}, "-0.1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        beam_search(Toy([0]), 1, limits=limits(3), **settings)


def test_a_cancelled_source_leaves_the_beam_and_the_others_do_not_notice():
    def search(cancelled):
        toy = Toy(range(5), end_bias=-9.0)
        asked = limits(*[7] * 5)._replace(cancelled=cancelled)
        return toy, beam_search(toy, 5, limits=asked, width=3, length_penalty=0.6)

    plain, whole = search(None)
    calls = iter([(), (), *[(1, 4)] * 9])
    toy, found = search(lambda: next(calls))
    assert [found[n] for n in (0, 2, 3)] == [whole[n] for n in (0, 2, 3)]
    assert all(not found[n][0].finished and len(found[n][0].ids) == 3 for n in (1, 4))
    assert plain.rows_per_step == [5, *[15] * 6]
    assert toy.rows_per_step == [5, 15, 15, *[9] * 4]
