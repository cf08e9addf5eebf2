import io
import re

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from regard.draw.picture import Picture
from regard.draw.terminal import TerminalMap, map_text

SOURCE = ["Der", "Hund", "schläft"]
TARGET = ["The", "dog", "is", "asleep"]
WEIGHTS = [[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.45, 0.1, 0.45], [0.02, 0.28, 0.7]]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def test_without_colours_the_picture_is_made_of_shades():
    expected = [
        "two words",
        "        Der  Hund  schläft",
        "   The ████ ░░░░░ ░░░░░░░░",
        "   dog      █████",
        "    is ▒▒▒▒ ░░░░░ ▒▒▒▒▒▒▒▒",
        "asleep      ▒▒▒▒▒ ▓▓▓▓▓▓▓▓",
        "       0 ░▒▓█ 100%",
    ]
    drawn = map_text(Picture(TARGET, SOURCE, WEIGHTS, "two words"), width=40)
    assert [line.rstrip() for line in drawn.splitlines()] == expected
    assert "\x1b" not in drawn


def test_with_colours_each_cell_carries_its_percentage():
    drawn = map_text(Picture(TARGET, SOURCE, WEIGHTS), width=40, colour=True)
    lines = [ESCAPE.sub("", line).split() for line in drawn.splitlines()]
    assert lines[1] == ["The", "80", "10", "10"]
    assert lines[2] == ["dog", "·", "100", "·"]
    assert lines[3] == ["is", "45", "10", "45"]
    assert lines[4] == ["asleep", "·", "28", "70"]


def test_a_stronger_cell_has_a_further_shade():
    grey = np.linspace(0.05, 1.0, 13)[None]
    for background in ("dark", "light"):
        drawn = map_text(
            Picture(["x"], list("abcdefghijklm"), grey), colour=True, background=background
        )
        shades = re.findall(r"48;5;\d+", drawn.splitlines()[1])
        changes = [a for a, b in zip(shades, [*shades[1:], ""], strict=True) if a != b]
        assert len(set(changes)) == len(changes) >= 5


@pytest.mark.parametrize("width", [23, 31, 47, 80, 131])
@pytest.mark.parametrize("columns", [1, 3, 13, 53])
@pytest.mark.parametrize("colour", [True, False])
def test_the_picture_fits_the_terminal(width, columns, colour):
    source = [f"Wortungetüm{place}" for place in range(columns)]
    target = ["Donaudampfschifffahrtsgesellschaft", "日本語", "a"]
    drawn = map_text(
        Picture(target, source, np.full((3, columns), 0.5)), width=width, colour=colour
    )
    assert all(cell_len(ESCAPE.sub("", line)) <= width for line in drawn.splitlines())


def test_words_that_do_not_fit_across_are_written_downwards():
    drawn = map_text(Picture(TARGET, SOURCE, WEIGHTS), width=17).splitlines()
    assert "".join(line[12:13] for line in drawn[:7]) == "schläft"
    assert drawn[7].rstrip() == " The ██ ░░ ░░"


def test_columns_that_do_not_fit_are_folded_and_none_is_lost():
    source = [chr(ord("a") + place) for place in range(23)]
    weights = np.eye(23)
    drawn = map_text(Picture(source, source, weights), width=31)
    assert drawn.count("█") == 2 * 23 + 1  # two per cell, one in the legend
    heads = [line.split() for line in drawn.splitlines() if line.startswith("  ")][:-1]
    assert [letter for head in heads for letter in head] == source
    assert len(heads) == 3


def test_what_is_left_out_is_said():
    picture = Picture(["w"] * 13, ["v"] * 7, np.zeros((13, 7)))
    console = Console(file=io.StringIO(), width=80, no_color=True)
    with console.capture() as capture:
        console.print(TerminalMap(picture, most_rows=11, most_columns=5))
    assert "Drawn: 11 of 13 rows, 5 of 7 columns" in capture.get()
    assert "Drawn" not in map_text(picture)


def test_a_word_cannot_contain_terminal_codes_or_markup():
    evil = ["\x1b[2J\x1b]0;owned\x07", "[bold red]x[/]", "\u202egnp.exe", "a\nb"]
    drawn = map_text(Picture(evil, evil, np.eye(4), "\x1b[2Jtitle"), width=100)
    assert not set(drawn) & set("\x1b\x07\u202e")
    assert "[bold red]x[/]" in drawn
    assert "a⏎b" in drawn


def test_no_words_are_no_reason_to_fail():
    assert "0" in map_text(Picture([], [], []))
    assert "a" in map_text(Picture([], ["a"], np.zeros((0, 1))))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([[0.5, 0.5]], r"shape \(1, 2\) for 2 rows and 1 columns"),
        ([[np.nan], [1.0]], "finite"),
        ([[-0.1], [1.0]], "not negative"),
    ],
)
def test_weights_that_make_no_picture_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        map_text(Picture(["a", "b"], ["c"], weights))
