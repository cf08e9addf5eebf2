import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from regard import __version__, errors
from regard.cli import main as face
from regard.cli import verbs
from regard.cli.main import main

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def verb(monkeypatch):
    """Put a function in the place of a verb."""

    def placed(function):
        monkeypatch.setattr(verbs, "home", lambda name: function)

    return placed


def raises(error):
    def train(recipe: str) -> None:
        """Raise an error."""
        raise error

    return train


def test_help_lists_every_verb_in_a_line_and_succeeds(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name, line in verbs.VERBS.items() if line not in shown] == []


def test_a_bare_call_is_a_question_and_gets_the_help(capsys):
    assert main([]) == 2
    assert "Commands" in capsys.readouterr().err


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"regard {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.RegardError, 1),
        (errors.UsageError, 2),
        (errors.RecipeError, 2),
        (errors.DataError, 1),
        (errors.RunError, 1),
        (errors.TrainingError, 1),
        (errors.DiskError, 74),
        (errors.Stopped, 143),
    ],
)
def test_an_error_is_two_lines_on_stderr_and_its_own_exit_code(verb, capsys, error, code):
    verb(raises(error("a.de:3: this is wrong", "Mend it.")))
    assert main(["train", "x"]) == code
    shown = capsys.readouterr()
    assert shown.err == "error: a.de:3: this is wrong\nMend it.\n"
    assert shown.out == ""


def test_an_error_cannot_play_tricks_with_the_terminal(verb, capsys):
    verb(raises(errors.DataError("a\x1b[31m\u202eb\nc", "Mend\r it.")))
    main(["train", "x"])
    assert capsys.readouterr().err == "error: a[31mb c\nMend it.\n"


@pytest.mark.parametrize("words", [["--traceback", "train", "x"], ["train", "x", "--traceback"]])
def test_a_traceback_is_shown_when_asked_for_in_any_place(verb, capsys, words):
    verb(raises(errors.DataError("this is wrong", "Mend it.")))
    assert main(words) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.endswith("error: this is wrong\nMend it.\n")


def test_after_two_dashes_everything_is_text(verb, capsys):
    def train(texts: list[str]) -> None:
        """Repeat."""
        face.print_text(" ".join(texts))

    verb(train)
    assert main(["train", "--", "--traceback"]) == 0
    assert capsys.readouterr().out == "--traceback\n"


def test_a_mistake_of_ours_is_called_ours(verb, capsys):
    verb(raises(KeyError("width")))
    assert main(["train", "x"]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 2
    assert "KeyError" in shown[0]
    assert "--traceback" in shown[1]


def test_running_out_of_memory_has_a_remedy(verb, capsys):
    verb(raises(MemoryError()))
    assert main(["train", "x"]) == 1
    assert "training.batch_tokens" in capsys.readouterr().err


def test_a_full_disk_is_no_mistake_of_ours(verb, capsys):
    verb(raises(OSError(errno.ENOSPC, "No space left on device", "runs/x")))
    assert main(["train", "x"]) == 74
    shown = capsys.readouterr().err
    assert "disk is full" in shown and "runs/x" in shown and "--resume" in shown


@pytest.mark.parametrize("error", [KeyboardInterrupt(), typer.Abort()])
def test_an_interruption_is_no_error(verb, capsys, error):
    verb(raises(error))
    assert main(["train", "x"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trian", "x"], "'trian'"),
        (["train", "x", "--steps", "3"], "--steps"),
        (["--wrong"], "--wrong"),
        (["recipe", "shwo", "x"], "'shwo'"),
    ],
)
def test_a_wrong_call_is_two_lines_and_exit_code_2(verb, capsys, words, said):
    if words[0] == "train":
        verb(raises(AssertionError("called in spite of it")))
    assert main(words) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "--help" in shown.err.splitlines()[1]
    assert len(shown.err.splitlines()) == 2
    assert shown.out == ""


def test_examples_in_a_docstring_keep_their_lines(verb, capsys):
    def train(recipe: str) -> None:
        """Train.

        Examples:
            regard train scenes
            regard train mine.toml

        """

    verb(train)
    assert main(["train", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "regard train scenes\n" in shown
    assert "regard train mine.toml\n" in shown


def test_only_the_called_verb_is_opened(monkeypatch):
    opened = []
    monkeypatch.setattr(verbs, "home", lambda name: opened.append(name) or raises(KeyError()))
    main(["evaluate", "--help"])
    main(["--help"])
    assert opened == ["evaluate"]


def run(*words, **environment):
    command = [sys.executable, "-m", "regard", *words]
    surroundings = {**os.environ, "PYTHONPATH": str(SOURCE), **environment}
    return subprocess.run(command, capture_output=True, text=True, env=surroundings)


def test_python_m_regard_is_regard():
    done = run("recipe", "list", "--json")
    assert "scenes" in json.loads(done.stdout)["recipes"]
    assert done.returncode == 0


def test_the_exit_code_reaches_the_shell():
    assert run("recipe", "show", "absent").returncode == 2


def test_a_shell_can_complete_verbs_and_the_options_of_a_verb():
    completing = {"_REGARD_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert "doctor" in run(COMP_WORDS="regard ", **completing).stdout.split()
    completing["COMP_CWORD"] = "3"
    shown = run(COMP_WORDS="regard recipe show --", **completing).stdout.split()
    assert "--set" in shown


@pytest.mark.parametrize("words", [["--version"], ["recipe", "document"]])
def test_a_reader_that_leaves_early_makes_no_noise(words):
    reading, writing = os.pipe()
    os.close(reading)
    surroundings = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-m", "regard", *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=surroundings,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_verb_shows_examples_and_has_json(name, capsys):
    words = [name, "show", "--help"] if name == "recipe" else [name, "--help"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert f"    regard {name}" in shown
    assert "--json" in shown


@pytest.mark.parametrize("kind", ["translation", "summary", "label", "continu", "[MASK]", "vector"])
def test_the_help_of_predict_names_every_kind_of_answer(kind, capsys):
    assert main(["predict", "--help"]) == 0
    assert kind in capsys.readouterr().out
