"""What is printed drives no terminal and hides nothing, whatever files are called."""

import json

import pytest

from regard.cli.screen import print_json, print_text

HIDDEN = "\x1b[2J\x9b31m\u202e\u2066\u200f\x85"


def test_json_has_escapes_instead_of_hidden_characters(capsys):
    print_json({HIDDEN: [HIDDEN, "Häuser\t漢"]})
    out = capsys.readouterr().out
    assert not set(HIDDEN) & set(out.replace("[2J", "").replace("31m", "")) - set("[2J31m")
    assert "\\u202e" in out and "\\u009b" in out and "Häuser\\t漢" in out
    assert json.loads(out) == {HIDDEN: [HIDDEN, "Häuser\t漢"]}


@pytest.mark.parametrize("character", sorted(set(HIDDEN) - set("[2J31m")))
def test_no_line_drives_the_terminal(capsys, character):
    print_text(f"a run of runs/a{character}b\tc\nd")
    assert capsys.readouterr().out == "a run of runs/ab\tc\nd\n"
