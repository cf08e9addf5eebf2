"""Many texts: answers in order and to the bit, whoever computes them; workers only if they pay."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.errors import UsageError
from regard.inference.predictor import Predictor, load_run
from regard.serve import bulk
from regard.serve.bulk import Opening, Question, answer_all
from regard.serve.work import open_served

from .conftest import KEEPSAKES

CHUNK = 8
FOLDER = KEEPSAKES / "classification"
PLAIN = Question()
DECODING = {"baseline_weight": 0.5}


def texts(number):
    rng = random.Random(number)
    words = ["a", "the", "film", "was", "really", "great", "dull", "fine", "one", "plot"]
    return [" ".join(rng.choices(words, k=rng.randint(0, 19))) for _ in range(number)]


def ask(asked, question=PLAIN, folder=FOLDER, decoding=DECODING, ensemble=()):
    model = Predictor(load_run(folder, decoding=decoding, ensemble=ensemble))
    return answer_all(model, asked, question, Opening(folder, decoding, ensemble))


@pytest.fixture
def started(monkeypatch):
    """Let workers start at once; note the process numbers of them."""
    monkeypatch.setattr(bulk, "WORTH", 0.0)
    monkeypatch.setattr(bulk, "CHUNK", CHUNK)
    monkeypatch.setattr(bulk, "cores", lambda: 2)
    found, start = [], bulk.Engine.start

    async def note(engine):
        await start(engine)
        found.extend(worker.pid for worker in engine.workers)

    monkeypatch.setattr(bulk.Engine, "start", note)
    return found


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until_gone(pids):
    until = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_alive, pids))


@pytest.mark.parametrize("question", [PLAIN, Question(vectors=True)])
def test_workers_answer_in_order_to_the_bit_and_end(started, question):
    asked = texts(CHUNK * 9 + 3)
    found = list(ask(asked, question))
    assert len(started) == 2 and wait_until_gone(started)
    model = Predictor(load_run(FOLDER, decoding=DECODING))
    chunks = [asked[n : n + CHUNK] for n in range(0, len(asked), CHUNK)]
    expected = [one for chunk in chunks for one in model.answer(chunk, vectors=question.vectors)]
    assert found == expected
    assert len({one.log_probability for one in found}) > 1 or question.vectors


def test_workers_open_the_run_as_it_was_opened_here():
    opening = Opening(FOLDER, DECODING, [KEEPSAKES / "ensemble"])
    run = open_served(FOLDER, **opening.settings(1).opening).run
    assert len(run.task.ensemble.networks) == 1
    assert run.recipe.decoding.baseline_weight == 0.5


def test_a_translator_is_not_guarded_as_in_the_server(started):
    asked, folder = ["a a a a b b c c d"] * CHUNK * 2, KEEPSAKES / "translation"
    longest = {"max_length": 40, "method": "greedy"}
    found = list(ask(asked, folder=folder, decoding=longest))
    assert found[-1] == Predictor(load_run(folder, decoding=longest)).predict(asked[-CHUNK:])[-1]
    assert len(found[-1].ids) > 20


def test_few_texts_start_no_worker(monkeypatch):
    monkeypatch.setattr(bulk, "CHUNK", CHUNK)
    monkeypatch.setattr(bulk, "_BackgroundEngine", lambda *_: pytest.fail("a worker is started"))
    asked = texts(CHUNK * 5)
    assert len(list(ask(asked))) == len(asked)
    assert list(ask([])) == []


def test_a_refusal_in_a_worker_names_the_same_reason(started):
    asked = ["a b"] * CHUNK * 4 + ["a b c " * 200] + ["b"] * CHUNK * 2
    answers = ask(asked, folder=KEEPSAKES / "translation", decoding={})
    with pytest.raises(UsageError, match="this model reads at most") as told:
        list(answers)
    with pytest.raises(UsageError) as expected:
        Predictor(load_run(KEEPSAKES / "translation")).predict(asked)
    assert str(told.value) == str(expected.value)
    assert wait_until_gone(started)


def test_one_who_stops_reading_ends_the_workers(started):
    answers = ask(texts(CHUNK * 20))
    for _ in range(CHUNK * 2):
        next(answers)
    assert len(started) == 2 and all(map(is_alive, started))
    answers.close()
    assert wait_until_gone(started)


def test_a_long_file_says_how_far_it_is(tmp_path, capsys, started, monkeypatch):
    monkeypatch.setattr("regard.cli.predict.SECONDS", 0.0)
    lines, answered = tmp_path / "lines.txt", tmp_path / "answered.txt"
    lines.write_text("\n".join(asked := texts(CHUNK * 4)) + "\n")
    assert main(["predict", str(FOLDER), "--input", str(lines), "--output", str(answered)]) == 0
    assert f"{len(asked)} texts answered" in capsys.readouterr().err
    assert len(answered.read_text().splitlines()) == len(asked) and len(started) == 2


INTERRUPTED = """
import sys
from regard.cli.main import main
from regard.serve import bulk
bulk.WORTH, bulk.CHUNK, bulk.cores = 0.0, 8, lambda: 2
print("begins", flush=True)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_process_and_no_file(tmp_path):
    lines, answered = tmp_path / "lines.txt", tmp_path / "answered.txt"
    lines.write_text("a b c d e f g\n" * 200_000)
    call = ["predict", str(FOLDER), "--input", str(lines), "--output", str(answered)]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        unfinished = tmp_path / ".answered.txt.unfinished"
        until = time.monotonic() + 60
        while not unfinished.exists() or unfinished.stat().st_size < 20_000:
            assert time.monotonic() < until and process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert not answered.exists() and not unfinished.exists()
    left = subprocess.run(["pgrep", "-s", str(process.pid)], capture_output=True, text=True)
    assert wait_until_gone([int(pid) for pid in left.stdout.split()])
