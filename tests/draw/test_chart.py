import math
import re

import pytest
from defusedxml import ElementTree

from regard.draw.chart import Curve, line_chart, number, ticks

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0, 6000, [0, 1000, 2000, 3000, 4000, 5000, 6000]),
        (1.62, 2.31, [1.6, 1.8, 2.0, 2.2, 2.4]),
        (-0.013, 0.029, [-0.02, -0.01, 0.0, 0.01, 0.02, 0.03]),
    ],
)
def test_ticks_are_round_numbers_around_the_data(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 3.7, -2.0, 1e-9, 1e9])
def test_a_single_value_still_has_a_scale(value):
    marks = ticks(value, value)
    assert marks[0] < marks[-1]
    assert marks[0] <= value <= marks[-1]


def test_numbers_are_short():
    assert [number(value) for value in (0, 0.25, 950, 1200, 45_000, 2_500_000)] == [
        "0", "0.25", "950", "1.2k", "45k", "2.5M",
    ]  # fmt: skip


def curve_of(drawn):
    (line,) = ElementTree.fromstring(drawn).iter(f"{SVG}polyline")
    return [tuple(map(float, point.split(","))) for point in line.get("points").split()]


def test_a_falling_curve_falls_and_goes_right():
    points = curve_of(line_chart([Curve("loss", [0, 1, 2], [3, 2, 1])], title="t", x_label="steps"))
    assert points == sorted(points)
    assert [y for _, y in points] == sorted(y for _, y in points)  # down the page
    steps = [points[1][0] - points[0][0], points[2][0] - points[1][0]]
    assert steps[0] == pytest.approx(steps[1], abs=0.2)


def test_every_point_says_what_it_is():
    drawn = line_chart([Curve("BLEU", [500, 1500], [12.25, 30])], title="Score", x_label="steps")
    titles = [title.text for title in ElementTree.fromstring(drawn).iter(f"{SVG}title")]
    assert "BLEU: 12.25 at 500 steps" in titles
    assert "BLEU: 30 at 1.5k steps" in titles


def test_curves_are_named_and_coloured_apart():
    lines = [Curve("training", [0, 1], [2, 1]), Curve("validation", [0, 1], [3, 2])]
    drawing = ElementTree.fromstring(line_chart(lines, title="Loss", x_label="minutes"))
    written = [text.text for text in drawing.iter(f"{SVG}text")]
    assert {"training", "validation", "Loss", "minutes"} <= set(written)
    assert [group.get("class") for group in drawing.iter(f"{SVG}g")] == ["one", "two"]


def test_values_that_are_no_numbers_are_left_out():
    line = Curve("loss", [0, 1, 2, 3], [1.0, math.nan, math.inf, 2.0])
    assert len(curve_of(line_chart([line], title="t", x_label="steps"))) == 2


def test_a_long_curve_is_averaged_to_a_small_drawing():
    line = Curve("loss", range(100_003), [1.0] * 100_003)
    drawn = line_chart([line], title="t", x_label="steps")
    assert len(curve_of(drawn)) <= 160
    assert len(drawn) < 60_000


def test_no_curve_is_an_empty_chart():
    for lines in ([], [Curve("loss", [], [])], [Curve("loss", [3], [2.5])]):
        ElementTree.fromstring(line_chart(lines, title="t", x_label="steps"))


def test_the_chart_stands_alone():
    drawn = line_chart([Curve("<script>", [0], [1])], title='"><img src=x>', x_label="&")
    ElementTree.fromstring(drawn)
    assert not re.search(r"<script|<img|href|url\(", drawn)


def test_a_band_reaches_from_the_lows_to_the_highs_and_widens_the_scale():
    line = Curve("seeds", [0, 1], [5.0, 6.0], lows=[2.0, 4.0], highs=[8.0, 9.0])
    drawn = ElementTree.fromstring(line_chart([line], title="t", x_label="epochs"))
    (band,) = drawn.iter(f"{SVG}polygon")
    corners = [tuple(map(float, corner.split(","))) for corner in band.get("points").split()]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    assert xs[0] == xs[3] and xs[1] == xs[2] and xs[0] < xs[1]
    assert ys[1] < ys[0] < ys[2] < ys[3], "paper counts downwards: 9 above 8 above 4 above 2"
    bottom = max(float(grid.get("y1")) for grid in drawn.iter(f"{SVG}line"))
    assert all(y <= bottom for y in ys)
    notes = "".join(title.text or "" for title in drawn.iter(f"{SVG}title"))
    assert "(2 to 8)" in notes


def test_without_seeds_there_is_no_band():
    assert "<polygon" not in line_chart([Curve("one", [0, 1], [1, 2])], title="t", x_label="x")


def test_names_that_do_not_fit_one_line_take_several_and_none_is_cut_off():
    lines = [Curve(f"a group with a rather long name {n}", [0, 1], [n, n]) for n in range(6)]
    short = line_chart([Curve("a", [0, 1], [0, 1])], title="t", x_label="x")
    drawn = line_chart(lines, title="t", x_label="x")
    tall, usual = (float(re.search(r'viewBox="0 0 \S+ (\S+)"', each)[1]) for each in (drawn, short))
    assert tall > usual
    assert all(line.name in drawn for line in lines)
    assert drawn.count(" again") >= 4  # the fifth and sixth are broken lines
