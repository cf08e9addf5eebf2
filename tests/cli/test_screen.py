import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.cli.screen import clean, console, fold, print_json, print_rows, print_text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Grüße, 世界 🙂", "Grüße, 世界 🙂"),
        ("a\x1b[2Jb", "a[2Jb"),
        ("a\x9b31mb\x07", "a31mb"),
        ("user\u202egnp.exe\u2066\u200f", "usergnp.exe"),
        ("a\tb\nc\r", "a\tb\nc"),
        ("\ud800x", "x"),
    ],
)
def test_what_could_move_the_cursor_or_turn_the_text_is_taken_out(text, safe):
    assert clean(text) == safe


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


def test_json_holds_no_number_that_is_none(capsys):
    print_json({"loss": float("nan"), "bleu": [1.5, float("inf")], "text": "ü", "run": (1, None)})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"loss": None, "bleu": [1.5, None], "text": "ü", "run": [1, None]}
    assert shown.count("\n") == 1


def test_a_terminal_that_cannot_show_a_letter_shows_a_question_mark():
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_text("Grüße", to=screen)
    screen.flush()
    assert screen.buffer.getvalue() == b"Gr??e\n"


def test_a_line_for_people_goes_to_stderr(capsys):
    print_text("3 tokens did not fit", to=sys.stderr)
    assert capsys.readouterr() == ("", "3 tokens did not fit\n")


def test_rows_stand_in_two_columns(capsys):
    print_rows([("a", "one"), ("longer", "two\x07")])
    assert capsys.readouterr().out == "a       one\nlonger  two\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_long_row_is_broken_between_words_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    value = "thresholds from 0.28 to 0.54, counted over all labels"
    line = f"micro_f1  {value}"
    assert fold(line, indent=10, to=io.StringIO()) == line
    folded = fold(line, indent=10, to=Terminal())
    assert folded.split("\n") == [
        "micro_f1  thresholds from 0.28 to 0.54,",
        "          counted over all labels",
    ]
    assert fold("short", indent=10, to=Terminal()) == "short"
    word = "x" * 99
    assert fold(word, indent=0, to=Terminal()) == word


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({}, False)],
)
def test_colour_is_the_users_choice(monkeypatch, capsys, variables, coloured):
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TERM", "xterm-256color")
    console().print("red", style="red")
    assert ("\x1b[31m" in capsys.readouterr().out) == coloured


def test_brackets_in_a_text_are_no_markup(capsys):
    console().print("[bold]x[/bold] :smile:")
    assert capsys.readouterr().out == "[bold]x[/bold] :smile:\n"
