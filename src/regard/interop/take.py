"""From a Hugging Face folder to a finished run, without training.

Everything is read and checked first; only then is the run folder made, and if writing fails it is
removed.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard import run as folders
from regard import run_files
from regard.errors import DataError, UsageError
from regard.files import hash_file, new_folder, write_whole
from regard.interop import bert
from regard.interop.files import CONFIG, WEIGHTS, check_folder, read_json, read_weights
from regard.interop.imports.model import Imported, read_model
from regard.interop.pieces import Pieces, read_pieces
from regard.interop.sentences import PLAIN, Sentences, is_sentence_encoder, read_sentences
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.report.imported_card import imported_card
from regard.run import Run
from regard.tasks.foreign import ForeignEncoder
from regard.tasks.kinds import KINDS, make_task

UNTRAINED = {"steps": 0, "seconds": 0.0, "tokens": 0, "tokens_per_second": 0.0}


class Target(NamedTuple):
    """The task of the run, and the tables of its recipe that the encoder's heads decide."""

    task: str
    tables: dict[str, Any]

    @property
    def head(self) -> dict[str, Any]:
        """The settings of the head."""
        return self.tables["model"]["head"]


def import_folder(
    source: Path,
    run: Path,
    *,
    task: str | None = None,
    report: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Make a run of a Hugging Face folder; ``task`` where the folder leaves a choice.

    ``report`` may add a page to the run.
    """
    found = read(source, task=task)
    try:
        with new_folder(run, run_files.SEAL):
            _write(run, found)
            report(folders.open_unsealed(run))
            folders.seal(run)
    except FileExistsError:
        raise UsageError(
            f"a run folder must be new, so that no run is overwritten. {run} exists.",
            "Name another folder.",
        ) from None
    return Run(run)


def read(source: Path, *, task: str | None = None) -> Imported:
    """Read a folder and build its model; nothing is written."""
    check_folder(source)
    config = read_json(source, CONFIG)
    if not bert.is_plain(config, source):
        return read_model(source, config, task=task)
    settings = bert.read_settings(config, source)
    pieces = read_pieces(source)
    tensors = bert.strip_prefixes(read_weights(source))
    heads = bert.find_heads(tensors)
    encoder = ForeignEncoder(is_sentence_encoder(source), heads.tokens, heads.pairs)
    target, sentences = _choose(source, encoder, task), PLAIN
    if encoder.pools and "pooling" in target.head:
        sentences = read_sentences(source, lowercase=pieces.tokenizer.lowercase)
        target.head["pooling"] = sentences.pooling
    recipe = _make_recipe(source, settings, pieces, target, sentences)
    with torch.random.fork_rng(devices=()):  # what is drawn here is overwritten at once
        model = make_task(recipe, pieces.tokenizer).build()
    wanted = collect_parameters(model)
    taken = bert.map_parameters(tensors, wanted, rows=pieces.rows, folder=source)
    load_parameters(model, taken)
    known = sum(row is not None for row in pieces.rows)
    facts = {
        "from": source.resolve().name,
        "architecture": bert.name_architecture(config),
        "weights": hash_file(source / WEIGHTS),
        "parameters": sum(parameter.numel() for parameter in wanted.values()),
        "left_out": bert.list_left_out(tensors, wanted, source),
        "rows_left_out": len(tensors["embeddings.word_embeddings.weight"]) - known,
        "normalized": sentences.normalized,
    }
    return Imported(recipe, model, pieces.tokenizer, facts)


def _choose(source: Path, encoder: ForeignEncoder, task: str | None) -> Target:
    """Take the task that is asked for, else the one that the encoder was trained for."""
    able = [name for name, kind in KINDS.items() if kind.task.adopt(ForeignEncoder())]
    if task is not None and task not in able:
        raise UsageError(
            f"an encoder can be imported for {' or '.join(able)}. Got {task!r}.",
            "Name one of them.",
        )
    found = {name: KINDS[name].task.adopt(encoder) for name in able}
    possible = [name for name, adoption in found.items() if adoption]
    usual = [name for name, adoption in found.items() if adoption and adoption.usual]
    if task is None and not usual:
        raise UsageError(
            f"{source} has neither a pooling of its states (modules.json) nor a head for masked "
            "words.",
            f"Say what to import it for: --task {' or '.join(possible)}.",
        )
    chosen = task or usual[0]
    adoption = found[chosen]
    if adoption is None:
        raise UsageError(
            f"{source} has no head for masked words, which {chosen} needs.",
            f"Import it for another task: --task {' or '.join(possible)}.",
        )
    return Target(chosen, adoption.tables)


def _make_recipe(
    source: Path, settings: dict[str, Any], pieces: Pieces, target: Target, sentences: Sentences
) -> Recipe:
    """Write the whole recipe that this model would have been trained by, but for its data."""
    if target.head.get("transform") and settings["activation"] != "gelu":
        raise DataError(
            f"{source / CONFIG}: the transform of a head for masked words is gelu here, and "
            f"{settings['activation']} there.",
            "Import its body alone, with --task retrieval.",
        )
    positions = settings["position"]["positions"]
    tables: dict[str, Any] = {
        **target.tables,
        "task": target.task,
        "data": {"train": []},
        "text": {
            "tokenizer": "bert",
            "vocabulary": pieces.tokenizer.size,
            "lowercase": pieces.tokenizer.lowercase,
            "max_length": min(sentences.longest or positions, positions),
            "overlong": "head",
        },
        "model": {**settings, "head": target.head, "start": {"imported": source.resolve().name}},
    }
    return make(tables)


def _write(run: Path, found: Imported) -> None:
    recipe, facts = found.recipe, found.facts
    folders.write_recipe(run, recipe)
    found.tokenizer.save(run / run_files.TOKENIZER)
    folders.write_model(run, found.model, found.tokenizer)
    line = json.dumps({"event": "imported", "step": 0, **facts})
    write_whole(run / run_files.JOURNAL, f"{line}\n")
    metrics = {"imported": facts, "training": {**UNTRAINED, "parameters": facts["parameters"]}}
    write_whole(run / run_files.METRICS, json.dumps(metrics, indent=1))
    write_whole(run / run_files.CARD, imported_card(recipe, facts))
