"""Curves: only what is new is sent, and nothing is lost or told twice."""

import json
import math

import pytest

from regard.studio.curves import read_curves, smooth
from regard.studio.follow import Follower


def write(file, *events, end="\n"):
    with file.open("a", encoding="utf-8") as journal:
        journal.write(
            "".join(json.dumps(event) + "\n" for event in events).removesuffix("\n") + end
        )


def step(number, loss=1.0, **more):
    return {"event": "step", "step": number, "seconds": 60.0 * number, "loss": loss, **more}


def evaluation(number, **metrics):
    return {"event": "evaluation", "step": number, "metrics": metrics, "samples": []}


def read(follower, cursor="", smoothing=0.0):
    follower.update()
    found = read_curves(follower, cursor, smoothing)
    return found, found["steps"]["x"]["steps"], found["cursor"]


@pytest.fixture
def follower(tmp_path):
    return Follower(tmp_path / "journal.jsonl")


def test_a_page_gets_what_it_does_not_have_yet(follower):
    assert read(follower)[1] == []
    write(follower.file, step(20), step(40, tokens=700))
    first, steps, cursor = read(follower)
    assert steps == [20, 40] and first["steps"]["x"]["tokens"] == [None, 700]
    assert first["steps"]["x"]["minutes"] == [20, 40]
    write(follower.file, step(60, 0.5), evaluation(60, accuracy=0.75))
    more, steps, cursor = read(follower, cursor)
    assert steps == [60] and not more["whole"] and more["steps"]["y"]["training loss"] == [0.5]
    assert more["evaluations"]["y"] == {"valid accuracy": [0.75]}
    assert read(follower, cursor)[1] == []


def test_a_line_that_is_still_being_written_waits(follower):
    write(follower.file, step(20))
    cursor = read(follower)[2]
    write(follower.file, step(40), end="")
    assert read(follower, cursor)[1] == []
    write(follower.file, end="\n")
    assert read(follower, cursor)[1] == [40]


def test_a_resumed_run_is_sent_anew_without_the_steps_it_repeats(follower):
    write(follower.file, step(20), step(40), step(60))
    cursor = read(follower)[2]
    write(follower.file, {"event": "resumed", "step": 30}, *map(step, (40, 60, 80, 100)))
    found, steps, cursor = read(follower, cursor)
    assert found["whole"] and steps == [20, 40, 60, 80, 100]
    write(follower.file, step(120))
    assert read(follower, cursor)[1] == [120]


def test_a_run_that_was_begun_anew_is_sent_anew(follower):
    write(follower.file, step(20), step(40))
    cursor = read(follower)[2]
    other = follower.file.with_name("other.jsonl")
    write(other, *(step(20 * n, 0.125) for n in range(1, 6)))
    other.replace(follower.file)
    found, steps, _ = read(follower, cursor)
    assert found["whole"] and steps == [20, 40, 60, 80, 100]
    assert found["steps"]["y"]["training loss"] == [0.125] * 5


@pytest.mark.parametrize("cursor", ["", "0", "x:1:1", "::", "0:-1:0", "1:9999999:0", "\u0663:1:1"])
def test_a_cursor_of_nobody_gives_everything(follower, cursor):
    write(follower.file, step(20), step(40))
    assert read(follower, cursor)[1] == [20, 40]


def test_what_is_no_number_is_a_gap(follower):
    losses = [1.0, math.nan, "much", None, True, 2.0]
    write(follower.file, *(step(20 * n, loss) for n, loss in enumerate(losses, 1)))
    assert read(follower)[0]["steps"]["y"]["training loss"] == [1, None, None, None, None, 2]


def test_smoothing_is_the_mean_with_weights_that_fall_by_beta():
    values, beta = [3.0, 5.0, 2.0, 7.0], 0.6
    weights = [beta**n for n in range(3, -1, -1)]
    expected = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    assert smooth(values, beta)[-1] == pytest.approx(expected, rel=1e-12)
    assert smooth(values, 0.0) == values
    assert smooth([None, 3.0, None], 0.9)[::2] == [None, None]


def test_smoothing_goes_on_where_the_cursor_stands(follower):
    write(follower.file, *(step(20 * n, float(n)) for n in range(1, 6)))
    whole = read(follower, smoothing=0.8)[0]["steps"]["smooth"]["training loss"]
    part = read(follower, f"{follower.generation}:3:0", 0.8)[0]["steps"]["smooth"]["training loss"]
    assert part == whole[3:] != [4.0, 5.0]


def test_lines_that_are_no_events_are_passed_over(follower):
    follower.file.write_text('[1]\n{"step": 3}\nnull\n')
    write(follower.file, step(20))
    assert read(follower)[1] == [20]
