"""What the stories share: a home that may be spoiled, what a call said, how a wrong one is refused."""

import json
import shutil

import pytest

from regard.cli.main import main


@pytest.fixture(scope="session")
def settled(tmp_path_factory):
    """Return a function that lets a story write its data and recipe, and trains where they are."""

    def settle(name, write):
        folder = tmp_path_factory.mktemp(name)
        write(folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REGARD_CACHE", str(folder / "cache"))
            call = ["train", str(folder / "recipe.toml"), "--run", str(folder / "run"), "--json"]
            assert main(call) == 0
        return folder

    return settle


@pytest.fixture
def fresh(home, tmp_path, monkeypatch):
    """Return a copy of a story's home that a test may spoil."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def said(capsys):
    """Return a function that reads stdout as JSON."""
    return lambda: json.loads(capsys.readouterr().out)


@pytest.fixture
def refused(capsys):
    """Return a function that runs a wrong call.

    The code is right, nothing is on stdout, and stderr is two lines that hold the words; where a
    training had begun, it ends in them.
    """

    def wrong(code, arguments, *words):
        capsys.readouterr()
        assert main(arguments) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        lines = [line for line in captured.err.splitlines() if line.strip()]
        lines = lines[-2:] if "train" in arguments else lines
        assert len(lines) == 2 and lines[0].startswith("error: "), captured.err
        for word in words:
            assert word in "\n".join(lines), captured.err

    return wrong
