"""A training killed for real, again and again, ends with the bits of one left in peace."""

import os
import random
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest

from regard.recipe.dump import dump

KILLS = 25


def start(file, folder, *more):
    command = [sys.executable, "-m", "regard", "train", str(file), "--run", str(folder), "--json"]
    return subprocess.Popen([*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def bits(folder):
    return sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_training_killed_at_random_ends_with_the_same_bits(recipe, tmp_path):
    training = {**recipe().training.model_dump(), "budget": "400 steps", "checkpoints": 80}
    file = tmp_path / "recipe.toml"
    file.write_text(dump(recipe(training=training)))
    assert start(file, tmp_path / "peace").wait() == 0
    rng, folder, killed = random.Random(0), tmp_path / "killed", 0
    for _ in range(KILLS):
        process = start(file, folder, *(["--resume"] if folder.exists() else []))
        time.sleep(rng.uniform(2.0, 9.0))
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
    if not (folder / "regard.json").exists():
        assert start(file, folder, "--resume").wait() == 0
    assert killed >= 3
    assert bits(folder) == bits(tmp_path / "peace")


@pytest.mark.slow
def test_a_training_asked_to_stop_saves_and_says_143(recipe, tmp_path):
    training = {**recipe().training.model_dump(), "budget": "100000 steps"}
    file = tmp_path / "recipe.toml"
    file.write_text(dump(recipe(training=training)))
    process = start(file, tmp_path / "run")
    journal = tmp_path / "run" / "journal.jsonl"
    while not (journal.exists() and '"step"' in journal.read_text()):
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    assert b"--resume" in process.stderr.read()
    assert list((tmp_path / "run" / "checkpoints").glob("step-*"))
