"""From somebody else's folder to a finished run, without training.

Everything is read and checked first; only then is the run folder made, and if writing fails it is
taken away again.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from regard import run as folders
from regard.errors import DataError, UsageError
from regard.files import hash_file, write_whole
from regard.interop import bert
from regard.interop.files import CONFIG, WEIGHTS, check_folder, read_json, read_weights
from regard.interop.pieces import Pieces, read_pieces
from regard.interop.sentences import PLAIN, Sentences, is_sentence_encoder, read_sentences
from regard.models.build.pretraining import pretraining_model
from regard.models.build.retrieval import bi_encoder
from regard.models.parameters import parameters_of, put_parameters
from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.report.imported_card import imported_card
from regard.run import Run
from regard.text.tokenizer import Tokenizer

TASKS = ("retrieval", "masked-pretraining")
UNTRAINED = {"steps": 0, "seconds": 0.0, "tokens": 0, "tokens_per_second": 0.0}


class Imported(NamedTuple):
    """What was read from a folder, ready to be written as a run."""

    recipe: Recipe
    model: nn.Module
    tokenizer: Tokenizer
    facts: dict[str, Any]
    """What the card and ``metrics.json`` say of it."""


def import_folder(
    source: Path,
    run: Path,
    *,
    task: str | None = None,
    look: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Make a run of a Hugging Face folder; ``task`` where the folder leaves a choice.

    ``look`` may add to the run what a person wants to see of it.
    """
    if run.exists():
        raise UsageError(
            f"a run folder must be new, so that no run is overwritten. {run} exists.",
            "Name another folder.",
        )
    found = read(source, task=task)
    folders.create(run)
    try:
        _write(run, found)
        look(Run(run))
    except BaseException:
        shutil.rmtree(run, ignore_errors=True)
        raise
    return Run(run)


def read(source: Path, *, task: str | None = None) -> Imported:
    """Read a folder and build its model; nothing is written."""
    check_folder(source)
    config = read_json(source, CONFIG)
    settings = bert.settings_of(config, source)
    pieces = read_pieces(source)
    tensors = bert.plain_names(read_weights(source))
    heads = bert.heads_of(tensors)
    chosen = _task(source, heads, task)
    sentences = PLAIN
    if chosen == "retrieval" and is_sentence_encoder(source):
        sentences = read_sentences(source, lowercase=pieces.tokenizer.lowercase)
    recipe = _recipe(source, settings, pieces, chosen, sentences, pairs=heads.pairs)
    model = _model(recipe, pieces.tokenizer)
    wanted = parameters_of(model)
    taken = bert.parameters_of(tensors, wanted, rows=pieces.rows, folder=source)
    put_parameters(model, taken)
    facts = {
        "from": source.resolve().name,
        "architecture": bert.architecture(config),
        "weights": hash_file(source / WEIGHTS),
        "parameters": sum(parameter.numel() for parameter in wanted.values()),
        "left_out": bert.left_out(tensors, wanted, source),
        "rows_left_out": len(tensors["embeddings.word_embeddings.weight"]) - _known(pieces),
        "normalized": sentences.normalized,
    }
    return Imported(recipe, model, pieces.tokenizer, facts)


def _task(source: Path, heads: bert.Heads, asked: str | None) -> str:
    if asked is not None and asked not in TASKS:
        raise UsageError(
            f"a BERT becomes a run of {' or '.join(TASKS)}. Got {asked!r}.", "Name one of them."
        )
    chosen = asked or ("retrieval" if is_sentence_encoder(source) else None)
    chosen = chosen or ("masked-pretraining" if heads.tokens else None)
    if chosen is None:
        raise UsageError(
            f"{source} says neither how its states become a vector (modules.json) nor how they "
            "become words (a head for masked words).",
            "Ask for vectors, the mean of its states, with --task retrieval.",
        )
    if chosen == "masked-pretraining" and not heads.tokens:
        raise UsageError(
            f"masked-pretraining guesses words, and {source} has no head for masked words.",
            "Ask for vectors with --task retrieval.",
        )
    return chosen


def _recipe(
    source: Path,
    settings: dict[str, Any],
    pieces: Pieces,
    task: str,
    sentences: Sentences,
    *,
    pairs: bool,
) -> Recipe:
    """Write the whole recipe that this model would have been trained by, but for its data."""
    positions = settings["position"]["positions"]
    model = {**settings, "start": {"imported": source.resolve().name}}
    tables: dict[str, Any] = {
        "task": task,
        "data": {"train": []},
        "text": {
            "tokenizer": "bert",
            "vocabulary": pieces.tokenizer.size,
            "lowercase": pieces.tokenizer.lowercase,
            "max_length": min(sentences.longest or positions, positions),
            "overlong": "head",
        },
    }
    if task == "retrieval":
        return make({**tables, "model": {**model, "head": {"pooling": sentences.pooling}}})
    if settings["activation"] != "gelu":
        raise DataError(
            f"{source / CONFIG}: a head for masked words bends by gelu here, and by "
            f"{settings['activation']} there.",
            "Take its body alone, with --task retrieval.",
        )
    asked = {"pairs": "next-sentence" if pairs else "none"}
    model["head"] = {"bias": True, "transform": True}
    return make({**tables, "model": model, "pretraining": asked})


def _model(recipe: Recipe, tokenizer: Tokenizer) -> nn.Module:
    with torch.random.fork_rng(devices=()):  # what is drawn here is overwritten at once
        if recipe.task == "retrieval":
            return bi_encoder(recipe.model, tokenizer.size, recipe.retrieval)
        return pretraining_model(recipe.model, tokenizer.size, recipe.pretraining)


def _known(pieces: Pieces) -> int:
    return sum(row is not None for row in pieces.rows)


def _write(run: Path, found: Imported) -> None:
    recipe, facts = found.recipe, found.facts
    folders.write_recipe(run, recipe)
    found.tokenizer.save(run / folders.TOKENIZER)
    folders.write_model(run, found.model, found.tokenizer)
    line = json.dumps({"event": "imported", "step": 0, **facts})
    write_whole(run / folders.JOURNAL, f"{line}\n")
    metrics = {"imported": facts, "training": {**UNTRAINED, "parameters": facts["parameters"]}}
    write_whole(run / folders.METRICS, json.dumps(metrics, indent=1))
    write_whole(run / folders.CARD, imported_card(recipe, facts))
    folders.seal(run)
