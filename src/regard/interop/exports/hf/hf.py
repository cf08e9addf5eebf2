"""The target ``hf``: a folder for Hugging Face transformers."""

import json
from pathlib import Path
from typing import Any

from regard.files import write_tensors, write_whole
from regard.interop.exports.hf.architecture import Architecture, Parts, find_obstacles, unwritable
from regard.interop.exports.hf.bart import BARTS
from regard.interop.exports.hf.bert import ENCODERS
from regard.interop.exports.hf.card import write_card
from regard.interop.exports.hf.causal import CAUSAL
from regard.interop.exports.hf.side import open_folder
from regard.interop.exports.hf.t5 import T5
from regard.interop.exports.hf.tokenizer import (
    SETTINGS,
    WHOLE,
    build_settings,
    build_tokenizer,
)
from regard.interop.exports.hf.tokenizer import find_obstacles as find_tokenizer_obstacles
from regard.interop.exports.target import Fit, Target
from regard.models.parameters import collect_parameters
from regard.run import Run
from regard.tasks.foreign import Export, Obstacle
from regard.text import special

ARCHITECTURES: tuple[Architecture, ...] = (*BARTS, T5, *CAUSAL, *ENCODERS)
CONFIG, WEIGHTS, GENERATION = "config.json", "model.safetensors", "generation_config.json"
NO_POOLING = Obstacle(
    "task",
    "retrieval",
    "transformers has no class that pools states to a vector",
    "Export to sentence-transformers instead.",
)
NO_CAUSAL_HEAD = Obstacle(
    "model.causal",
    True,
    "transformers has no causal class with a head built like this one",
    "Leave model.causal out.",
)
PAIRED = "ForPreTraining"
"""Ends the classes with a head for sentence pairs."""
NEVER = (special.PAD, special.UNKNOWN, special.BEGIN, special.CLS, special.SEP, special.MASK)
"""Tokens that no answer contains."""


def fits(run: Run) -> Fit | list[Obstacle]:
    """Return the architecture that a run fits, or what stands in the way of the nearest one."""
    shape = run.task.export()
    return choose(run, shape) if shape.head != "vector" else [NO_POOLING]


def choose(run: Run, shape: Export) -> Fit | list[Obstacle]:
    """Return the first architecture that fits, or the obstacles of the nearest one."""
    head = "pairs" if shape.pairs else shape.head
    tokens = find_tokenizer_obstacles(run.tokenizer, shape)
    able = [one for one in ARCHITECTURES if one.kind == shape.kind and head in one.classes]
    if not able:
        return [NO_CAUSAL_HEAD]
    found = []
    for one in able:
        obstacles = [*find_obstacles(run.recipe, one.needs), *one.further(run, shape), *tokens]
        if not obstacles:
            name = one.classes[head]
            lacks = ("pair_logits",) if shape.pairs and not name.endswith(PAIRED) else ()
            return Fit(name, one.notes(run), lacks, one)
        found.append(obstacles)
    return min(found, key=len)


def write(run: Run, fit: Fit, folder: Path) -> None:
    """Write config, weights, tokenizer, generation settings and card."""
    shape, one = run.task.export(), fit.plan
    write_network(run, shape, fit, folder)
    write_tokenizer(run, shape, folder)
    if shape.head == "tokens" and one.kind != "encoder":
        _write_json(folder / GENERATION, make_generation(run, one))
    write_card(run, fit, folder)


def write_network(run: Run, shape: Export, fit: Fit, folder: Path) -> None:
    """Write ``config.json`` and ``model.safetensors``."""
    one: Architecture = fit.plan
    parts = Parts(collect_parameters(run.model))
    tensors = {key: tensor.clone() for key, tensor in one.tensors(run, parts, shape).items()}
    config = {
        "architectures": [fit.architecture],
        "model_type": one.name,
        "dtype": str(next(iter(tensors.values())).dtype).removeprefix("torch."),
        **one.config(run),
        **make_labels(shape),
    }
    _write_json(folder / CONFIG, config)
    write_tensors(folder / WEIGHTS, tensors, metadata={"format": "pt"})


def write_tokenizer(run: Run, shape: Export, folder: Path) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json``."""
    found = build_tokenizer(run.tokenizer, shape)
    write_whole(folder / WHOLE, json.dumps(found, ensure_ascii=False))
    _write_json(folder / SETTINGS, build_settings(run, shape))


def make_labels(shape: Export) -> dict[str, Any]:
    """Return the labels of a classifier or a tagger."""
    if not shape.labels:
        return {}
    return {
        "id2label": {str(number): label for number, label in enumerate(shape.labels)},
        "label2id": {label: number for number, label in enumerate(shape.labels)},
        **({"problem_type": shape.problem} if shape.problem else {}),
    }


def make_generation(run: Run, one: Architecture) -> dict[str, Any]:
    """Return ``generation_config.json``: the run's own decoding, as far as there is a like."""
    decoding = run.recipe.decoding
    never = set(NEVER)
    if one.name not in (architecture.name for architecture in BARTS):
        never |= set(unwritable(run, Parts(collect_parameters(run.model))))
    found: dict[str, Any] = {
        "pad_token_id": special.PAD,
        "eos_token_id": special.END,
        "suppress_tokens": sorted(never),
        "num_beams": decoding.beam if decoding.method == "beam" else 1,
        "do_sample": decoding.method == "sample",
    }
    if decoding.method == "sample":
        found |= {
            "temperature": decoding.temperature,
            "top_k": decoding.top_k,
            "top_p": decoding.top_p,
        }
    if decoding.method == "beam":
        found |= {"length_penalty": decoding.length_penalty, "early_stopping": True}
    if decoding.no_repeat:
        found["no_repeat_ngram_size"] = decoding.no_repeat
    if one.kind == "causal":
        return {**found, "bos_token_id": special.END, "max_new_tokens": decoding.max_length}
    longest = min(decoding.max_length, run.recipe.text.max_length - 1)
    return {
        **found,
        "bos_token_id": special.BEGIN,
        "decoder_start_token_id": special.BEGIN,
        "forced_eos_token_id": None,
        "max_new_tokens": longest,
    }


def _write_json(file: Path, found: dict[str, Any]) -> None:
    write_whole(file, json.dumps(found, indent=2, ensure_ascii=False))


HF = Target(
    "hf",
    "a folder for Hugging Face transformers",
    ("transformers",),
    fits,
    write,
    open_folder,
)
