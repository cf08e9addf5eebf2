"""Each written word is tested against the words attributed to it."""

import numpy as np
import pytest

from regard.explain.output_erasure import MOST_ERASED, OutputFaithfulness, erase_for_each

SOURCE = [f"s{n}" for n in range(11)]
OUTPUTS = ("▁dog", "▁runs", "!")


def needs(kept):
    """Let the first output need source word 2, the second source word 7, the third none."""
    found = np.log(np.full((len(kept), 3), 0.9))
    found[~kept[:, 2], 0] = np.log(0.1)
    found[~kept[:, 7], 1] = np.log(0.2)
    return found


def scores(*places):
    found = np.zeros((len(places), len(SOURCE)))
    found[np.arange(len(places)), places] = 2.0
    found[:, 0] += 1.0
    return found


def erased(attributed):
    outputs = erase_for_each(needs, attributed, OUTPUTS, SOURCE, generator=np.random.default_rng(0))
    return OutputFaithfulness(outputs)


def test_each_written_word_is_tested_by_its_own_words():
    found = erased(scores(2, 7, 5))
    assert [one.dependent for one in found.outputs] == [True, True, False]
    first = found.outputs[0]
    assert first.erased == ("s2", "s0") and first.drop == pytest.approx(np.log(9))
    assert first.low == first.high == first.chance == 0
    assert found.faithful and [one.output for one in found.dependent] == ["▁dog", "▁runs"]
    sentence = found.describe("dog runs!")
    assert sentence.startswith(
        "2 of the 3 written words depend on the words attributed to them, most of all "
        '"dog" on "s2" and "s0" (90% to 10%).'
    )
    assert "goes from 90% to 40% without the 2 words attributed to it, to 90% without" in sentence


def test_words_of_the_wrong_output_are_no_evidence():
    found = erased(scores(7, 2, 5))
    assert not found.dependent and not found.faithful
    assert "None of the 3 written words depends measurably" in found.describe("")
    one = erased(scores(2, 3, 5))
    assert "1 of the 3 written words depends on the words attributed to it, " in one.describe("")


def test_one_word_is_described_by_itself():
    outputs = erased(scores(2, 7, 5)).outputs
    assert '"dog" depends on "s2" and "s0". Without these 2 words' in OutputFaithfulness(
        outputs[:1]
    ).describe("")
    assert '"!" does not depend measurably on "s5" and "s0".' in OutputFaithfulness(
        outputs[2:]
    ).describe("")


def test_the_draws_leave_the_attributed_words_alone_and_are_as_many():
    seen = []

    def record(kept):
        seen.append(kept)
        return np.zeros((len(kept), 1))

    words = [str(n) for n in range(200)]
    erase_for_each(record, np.arange(200.0)[None], ["x"], words, generator=np.random.default_rng(0))
    (masks,) = seen
    assert masks[0].all() and ((~masks[1:]).sum(axis=1) == MOST_ERASED).all()
    assert not masks[1, -MOST_ERASED:].any()


def test_a_source_of_one_word_cannot_be_tested():
    assert (
        erase_for_each(needs, scores(2)[:, :1], ["x"], ["a"], generator=np.random.default_rng(0))
        == ()
    )
    assert "too few words to erase" in OutputFaithfulness(()).describe("x")
