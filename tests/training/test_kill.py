"""A training killed for real, again and again, ends with the bits of one left in peace."""

import random
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest

from regard.recipe.dump import dump

KILLS = 20


def command(file, folder, *more):
    return [
        sys.executable,
        "-m",
        "regard",
        "train",
        str(file),
        "--run",
        str(folder),
        "--json",
        *more,
    ]


def finish(file, folder, *more):
    done = subprocess.run(command(file, folder, *more), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def begin(file, folder, *more):
    """Start a training and wait until it writes to its journal."""
    process = subprocess.Popen(
        command(file, folder, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    journal = folder / "journal.jsonl"
    before = journal.stat().st_size if journal.exists() else 0
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > before):
        time.sleep(0.05)
    return process


def bits(folder):
    return sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_training_killed_at_random_ends_with_the_same_bits(recipe, tmp_path):
    training = {**recipe().training.model_dump(), "budget": "400 steps", "checkpoints": 80}
    file = tmp_path / "recipe.toml"
    file.write_text(dump(recipe(training=training)))
    finish(file, tmp_path / "peace")
    rng, folder, killed = random.Random(0), tmp_path / "killed", 0
    while killed < KILLS and not (folder / "regard.json").exists():
        process = begin(file, folder, *(["--resume"] if folder.exists() else []))
        time.sleep(rng.uniform(0.0, 0.7))
        killed += process.poll() is None
        process.kill()
        process.wait()
    if not (folder / "regard.json").exists():
        finish(file, folder, "--resume")
    assert killed >= 3
    assert bits(folder) == bits(tmp_path / "peace")


@pytest.mark.slow
def test_a_training_asked_to_stop_saves_and_says_143(recipe, tmp_path):
    training = {**recipe().training.model_dump(), "budget": "100000 steps"}
    file = tmp_path / "recipe.toml"
    file.write_text(dump(recipe(training=training)))
    process = begin(file, tmp_path / "run")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    assert list((tmp_path / "run" / "checkpoints").glob("step-*"))
