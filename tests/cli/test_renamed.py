"""Old names of options: refused with the new spelling, which exists."""

import re

import pytest

from regard.cli.main import main
from regard.cli.renamed import RENAMED
from regard.cli.verbs import VERBS

CASES = [(verb, old, new) for verb, table in RENAMED.items() for old, new in table.items()]


def help_of(words, capsys):
    assert main([*words, "--help"]) == 0
    return capsys.readouterr().out


def test_every_verb_of_the_table_is_a_verb():
    assert set(RENAMED) <= set(VERBS)


@pytest.mark.parametrize("spelling", ["{0}", "{0}=x"])
@pytest.mark.parametrize(("verb", "old", "new"), CASES)
def test_an_old_option_is_refused_with_the_new_spelling(verb, old, new, spelling, capsys):
    assert main([verb, "runs/x", spelling.format(old), "x"]) == 2
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        f"error: regard {verb} has no option {old}: it was renamed.",
        f"Write {new}.",
    ]
    assert shown.out == ""


@pytest.mark.parametrize(("verb", "old", "new"), CASES)
def test_the_new_spelling_exists_and_the_old_one_does_not(verb, old, new, capsys):
    words = {"recipe": ["recipe", "document"], "account": ["account", "of"]}.get(verb, [verb])
    if new.startswith("regard "):
        words = new.split()[1:2]
    shown = help_of(words, capsys)
    options = set(re.findall(r"--[a-z-]+", shown))
    assert old not in options
    assert set(re.findall(r"--[a-z-]+", new)) <= options


def test_after_two_dashes_an_old_option_is_text(capsys):
    assert main(["predict", "runs/x", "--", "--with"]) == 2
    assert "runs/x is not a run folder" in capsys.readouterr().err
