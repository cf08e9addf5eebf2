"""Let another library compute a run's answers: convert it once, compare once, and attach it.

    CACHE/engines/KEY/    the converted model, and checked.json: how many answers were the same

The key is a hash of everything that the file depends on: the weights, the shape of the network, the
tokenizer, the library's version. An engine that does not give the same answers is refused; ``auto``
then takes torch.
"""

import hashlib
import json
import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from regard.decoding.engine import Engine
from regard.errors import RunError
from regard.files import cache_folder, sync, write_whole
from regard.inference.engines.translator import TranslatorEngine
from regard.interop.exports.ctranslate2.fit import find_obstacles
from regard.interop.exports.ctranslate2.spec import write_ctranslate2
from regard.run import Run
from regard.run_files import MODEL
from regard.tasks.writing.text_to_text import TextToText
from regard.text.special import SPECIAL

FORMAT = 1
CHECKED = "checked.json"
COMPARED = 16
"""Texts whose answers are compared, by greedy search and by the recipe's own."""


def attach_engine(run: Run) -> None:
    """Give the run's task the engine that its recipe asks for; torch needs none."""
    settings, task = run.recipe.decoding, run.task
    if settings.engine == "torch" or not isinstance(task, TextToText):
        return
    if settings.engine != "auto":
        task.engine = open_ctranslate2(run)
        return
    if settings.method == "sample" or find_spec("ctranslate2") is None:
        return
    if find_obstacles(run.recipe):
        return
    try:
        task.engine = open_ctranslate2(run)
    except RunError:  # not the same answers
        return


def open_ctranslate2(run: Run) -> Engine:
    """Open the run in CTranslate2; convert and compare it first if the cache does not have it."""
    folder = cache_folder() / "engines" / _key(run)
    if not (folder / CHECKED).is_file():
        _convert(run, folder)
    checked = json.loads((folder / CHECKED).read_text(encoding="utf-8"))
    if checked["same"] < checked["of"]:
        raise RunError(
            f"an engine must give the same answers. CTranslate2 gives those of torch to "
            f"{checked['same']} of {checked['of']} texts.",
            'Set decoding.engine to "torch", and please report it with the run\'s recipe.toml.',
        )
    quantization = run.recipe.decoding.quantization
    return _open(run, folder, quantization=quantization, workers=torch.get_num_threads())


def _key(run: Run) -> str:
    recipe = run.recipe
    facts = {
        "format": FORMAT,
        "weights": run.facts["files"][MODEL],
        "model": recipe.model.model_dump(mode="json"),
        "task": recipe.task,
        "max_length": recipe.text.max_length,
        "tokenizer": run.tokenizer.fingerprint,
        "ctranslate2": version("ctranslate2") if find_spec("ctranslate2") else "",
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _convert(run: Run, folder: Path) -> None:
    """Write, compare and rename; if another process was faster, its folder stays."""
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    try:
        write_ctranslate2(run.recipe, run.model, run.tokenizer, unfinished)
        checked = _compare(run, _open(run, unfinished))
        write_whole(unfinished / CHECKED, json.dumps(checked, indent=1))
        for file in unfinished.iterdir():
            sync(file)
        try:
            unfinished.rename(folder)
        except OSError:
            if not (folder / CHECKED).is_file():
                raise
        sync(folder.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _open(run: Run, folder: Path, **options: Any) -> TranslatorEngine:  # noqa: ANN401
    return TranslatorEngine(folder, run.tokenizer, **options)


def _compare(run: Run, engine: Engine) -> dict[str, int]:
    """Count texts that both answer the same, by greedy search and as the recipe says."""
    task, texts = run.task, _texts(run)
    model: Any = run.model
    assert isinstance(task, TextToText)

    def answers() -> list[Any]:
        quick = task.hypotheses(model, texts, quick=True, truncate=True)
        usual = task.hypotheses(model, texts, truncate=True)
        return [tuple(one[0].ids for one in both) for both in zip(quick, usual, strict=True)]

    ours = answers()
    task.engine = engine
    try:
        theirs = answers()
    finally:
        task.engine = None
    return {"same": sum(map(tuple.__eq__, ours, theirs)), "of": len(texts)}


def _texts(run: Run) -> list[str]:
    """Take texts that the run answered when it was evaluated, else spell the vocabulary."""
    stored = [one["asked"] for one in run.answers[:COMPARED]]
    ids = range(len(SPECIAL), run.tokenizer.size)
    made = (run.tokenizer.decode(ids[at::COMPARED][:12]) for at in range(COMPARED))
    return stored or [text for text in made if text.strip()]
