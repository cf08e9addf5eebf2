import math

from regard.draw.sparkline import sparkline, sparklines


def test_the_least_is_the_lowest_bar_and_the_greatest_the_highest():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([3.0, -1.0, 1.0]) == "█▁▅"


def test_a_level_line_is_low():
    assert sparkline([2.5, 2.5, 2.5]) == "▁▁▁"


def test_what_is_no_number_leaves_a_gap():
    assert sparkline([1, math.nan, 2, math.inf]) == "▁ █ "
    assert sparkline([math.nan]) == " "
    assert sparkline([]) == ""


def test_series_share_one_scale():
    assert sparklines([[0, 7], [14, 3.5], [7, math.nan]]) == ["▁▅", "█▃", "▅ "]
    assert sparklines([]) == []


def test_many_values_are_averaged_into_the_width():
    line = sparkline(list(range(1009)), width=13)
    assert len(line) == 13
    assert list(line) == sorted(line)
    assert sparkline([0, 10, 0, 10, 20, 20], width=3) == "▁▁█"
    assert sparkline([math.nan, math.nan, 1, 1, 3, 3], width=3) == " ▁█"
