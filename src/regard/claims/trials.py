"""Trials: the small trainings of slow claims, run through the public training code and kept.

A trial is a recipe and the files it reads. Its folder is named by a hash of both and of the code
that trains; a finished one is loaded, an interrupted one resumed.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from regard import __version__, files
from regard.errors import RegardError
from regard.inference.predictor import Predictor
from regard.recipe.load import make
from regard.run import Run
from regard.run_files import CHECKPOINTS, SEAL
from regard.tasks.task import Evaluation
from regard.training.train import train
from regard.training.watcher import Progress, SilentWatcher, Watcher

Tables = dict[str, Any]

SOURCE = Path(files.__file__).parent
CHANGES_NO_FIGURE = {"claims", "cli", "draw", "interop", "report"}
"""Rooms that neither train nor answer; a claim's own modules are hashed by its fingerprint."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher of trials", default=None)


@contextmanager
def watch_trials(watcher: Watcher) -> Iterator[None]:
    """Report the trainings inside to a watcher."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class PrefixedWatcher:
    """Passes messages of a training on, prefixed with the trial's name.

    Args:
        name: The trial's name.
        watcher: Receives the messages.

    """

    def __init__(self, name: str, watcher: Watcher) -> None:
        self.name, self.watcher = name, watcher

    def say(self, text: str) -> None:
        self.watcher.say(f"{self.name}: {text}")

    def step(self, progress: Progress) -> None:
        self.watcher.step(progress)

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None:
        self.watcher.receive_evaluation(progress, measured)


def cache_folder() -> Path:
    """Give the folder of trials and cached measurements."""
    return files.cache_folder() / "claims"


@cache
def source_hash() -> str:
    """Hash the code that training and answering run through."""
    digest = sha256()
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE)
        if name.parts[0] not in CHANGES_NO_FIGURE:
            digest.update(f"{name.as_posix()}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def trial_folder(name: str, tables: Tables, written: Mapping[str, str]) -> Path:
    """Name the folder of a trial by everything that its figures depend on."""
    stated = json.dumps([tables, dict(written), __version__, source_hash()], sort_keys=True)
    return cache_folder() / "trials" / f"{name}-{sha256(stated.encode()).hexdigest()[:16]}"


def to_jsonl(rows: Iterable[tuple[str, str]]) -> str:
    """Write texts and their labels, one JSON object per line."""
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)


def make_labelled_files(
    train: Iterable[tuple[str, str]], valid: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Make the files of a classification trial."""
    return {"train.jsonl": to_jsonl(train), "valid.jsonl": to_jsonl(valid)}


def accuracy(run: Run, rows: Iterable[tuple[str, str]]) -> float:
    """Predict the labels of texts with a finished run; give the accuracy."""
    texts, labels = zip(*rows, strict=True)
    answers = Predictor(run).predict(texts)
    right = sum(answer.text == label for answer, label in zip(answers, labels, strict=True))
    return right / len(labels)


def run_trial(name: str, tables: Tables, written: Mapping[str, str]) -> Run:
    """Train a recipe on these files, or load the run if that was done before.

    Files are given by name and content; ``train.de`` and ``train.en`` are both ``data.train``.
    """
    folder = trial_folder(name, tables, written)
    run = folder / "run"
    if (run / SEAL).exists():
        return Run(run)
    watcher = PrefixedWatcher(name, _watcher.get() or SilentWatcher())
    folder.mkdir(parents=True, exist_ok=True)
    data: dict[str, list[str]] = {}
    for file, text in written.items():
        (folder / file).write_text(text, encoding="utf-8")
        data.setdefault(file.split(".")[0], []).append(str(folder / file))
    recipe = make({**tables, **_on_the_cpu(tables), "data": {**data, **tables.get("data", {})}})
    begun = (run / CHECKPOINTS).is_dir() and any((run / CHECKPOINTS).iterdir())
    try:
        finished = train(recipe, run, resume=begun, watcher=watcher)
    except RegardError:
        if not begun:
            raise
        shutil.rmtree(run)
        finished = train(recipe, run, watcher=watcher)
    shutil.rmtree(run / CHECKPOINTS, ignore_errors=True)
    return finished


def _on_the_cpu(tables: Tables) -> Tables:
    """Train and answer on the CPU: a verdict must not depend on an accelerator."""
    return {name: {**tables.get(name, {}), "device": "cpu"} for name in ("training", "decoding")}
