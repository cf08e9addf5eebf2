"""Engines: opened when asked, a few kept, none left behind."""

import shutil

import pytest
from tests.studio.conftest import copy_runs

from regard.serve.engine import Engine
from regard.studio import engines as module
from regard.studio.engines import MOST


@pytest.fixture
def opened(monkeypatch):
    """Return every engine that is made."""
    made = []

    class Noted(Engine):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(module, "Engine", Noted)
    return made


def ask(studio, name):
    return studio.post("/api/ask", {"run": name, "text": "a fine one"}).status


def test_a_run_that_cannot_be_opened_is_refused_and_leaves_nothing(studio, opened, tmp_path):
    run = copy_runs(tmp_path, "classification") / "classification"
    (run / "model.safetensors").write_bytes(b"not a model")
    run.rename(studio.root / "broken")
    assert (ask(studio, "broken"), ask(studio, "broken")) == (422, 422)
    assert len(opened) == 2 and all(engine._closed for engine in opened)
    shutil.rmtree(studio.root / "broken")


def test_a_few_engines_stay_open_and_the_one_used_last_among_them(studio, opened):
    names = ["translation", "ensemble", "language-modelling", "classification"]
    assert {ask(studio, name) for name in names} == {200}
    kept = [folder.name for folder, _ in studio.state.engines._opened]
    assert kept == names[-MOST:]
    made = len(opened)
    assert ask(studio, "classification") == 200 and len(opened) == made


def test_a_run_that_was_trained_again_is_opened_anew(studio, opened, tmp_path):
    run = copy_runs(tmp_path, "classification") / "classification"
    run.rename(studio.root / "again")
    assert ask(studio, "again") == 200
    seal = studio.root / "again" / "regard.json"
    seal.write_bytes(seal.read_bytes())
    assert ask(studio, "again") == 200
    assert len(opened) == 2
    shutil.rmtree(studio.root / "again")
