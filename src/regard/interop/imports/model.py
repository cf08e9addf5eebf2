"""From a folder of transformers to a recipe, a network and a tokenizer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import DataError, UsageError
from regard.files import hash_file
from regard.interop.exports.hf.architecture import Architecture, Parts
from regard.interop.exports.hf.bart import OFFSET
from regard.interop.exports.hf.hf import ARCHITECTURES
from regard.interop.exports.sentence_transformers import view
from regard.interop.files import CONFIG, WEIGHTS, read_weights
from regard.interop.imports.configs import READERS, Config
from regard.interop.imports.inverse import invert, list_unused
from regard.interop.imports.tables import make_tables, read_labels
from regard.interop.imports.tokenizers import Cut, read_tokenizer
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import Export
from regard.tasks.kinds import make_task
from regard.tasks.task import Task
from regard.text import special
from regard.text.tokenizer import Tokenizer

TASKS = {
    "ForConditionalGeneration": ("translation", "summarization"),
    "MTModel": ("translation", "summarization"),
    "ForCausalLM": ("language-modelling",),
    "LMHeadModel": ("language-modelling",),
    "ForMaskedLM": ("masked-pretraining",),
    "ForPreTraining": ("masked-pretraining",),
    "ForSequenceClassification": ("classification", "sentence-pair"),
    "ForTokenClassification": ("tagging",),
    "Model": ("retrieval",),
}
"""By the end of a class's name, the tasks that it can be imported for; the usual one first."""
VOCABULARY = (
    *("word_embeddings.weight", "embed_tokens.weight", "shared.weight", "wte.weight"),
    *("predictions.bias", "decoder.weight", "decoder.bias", "lm_head.weight", "lm_head.bias"),
)
"""Endings of the tensors with one row per token."""
BUFFERS = ("position_ids", "token_type_ids", "inv_freq", ".attn.bias", ".attn.masked_bias")
POSITIONS = ("embed_positions.weight", "embeddings.position_embeddings.weight")
UNUSED_ROWS = {"bart": OFFSET, "mbart": OFFSET, "roberta-prelayernorm": 1}
"""Rows at the beginning of position tables."""
UNWRITTEN = -100.0
"""Bias of a token that the folder lacks."""


class Imported(NamedTuple):
    """What was read from a folder, ready to be written as a run."""

    recipe: Recipe
    model: nn.Module
    tokenizer: Tokenizer
    facts: dict[str, Any]
    """What the card and ``metrics.json`` say of it."""


class Draft(NamedTuple):
    """What an architecture's map asks of a run that does not exist yet."""

    recipe: Recipe
    tokenizer: Tokenizer
    task: Task[Any]


def read_model(source: Path, config: Mapping[str, Any], *, task: str | None) -> Imported:
    """Read a folder and build its model; nothing is written."""
    tensors = _complete(config, _drop_buffers(read_weights(source)))
    kind = str(config.get("model_type"))
    reader, one = READERS[kind], next(a for a in ARCHITECTURES if a.name == kind)
    name = _class_of(config, source)
    chosen = _choose_task(name, task)
    settings = reader.read(Config(config, str(source / CONFIG), tensors))
    labels = read_labels(source, config, chosen, tensors)
    tables = make_tables(source, config, settings, chosen, name)
    tables["data"] |= labels
    vectors = chosen == "retrieval"

    def make_draft(tokenizer: Tokenizer) -> Draft:
        text = {
            **tables["text"],
            "tokenizer": tokenizer.kind,
            "vocabulary": tokenizer.size,
            "lowercase": tokenizer.lowercase,
        }
        recipe = make({**tables, "text": text})
        return Draft(recipe, tokenizer, make_task(recipe, tokenizer))

    def shape_of(tokenizer: Tokenizer) -> Export:
        shape = make_draft(tokenizer).task.export()
        return view(shape) if vectors else shape

    cut = read_tokenizer(source, shape_of, encoder=one.kind == "encoder")
    draft, shape = make_draft(cut.tokenizer), shape_of(cut.tokenizer)
    _check_special_ids(one, cut, config, source)
    shape = shape._replace(head="states") if vectors else shape
    tensors = _order_rows(tensors, cut)
    with torch.random.fork_rng(devices=()):  # what is drawn here is overwritten at once
        model = draft.task.build()
    taken, left = _map(one, draft, shape, model, tensors, reader.copies, source)
    load_parameters(model, taken)
    facts = {
        "from": source.resolve().name,
        "architecture": name,
        "weights": hash_file(source / WEIGHTS),
        "parameters": sum(parameter.numel() for parameter in taken.values()),
        "left_out": left,
        "rows_left_out": 0,
        "normalized": vectors,
    }
    return Imported(draft.recipe, model, cut.tokenizer, facts)


def _map(
    one: Architecture,
    draft: Draft,
    shape: Export,
    model: nn.Module,
    tensors: dict[str, Tensor],
    copies: Mapping[str, str],
    source: Path,
) -> tuple[dict[str, Tensor], list[str]]:
    """Return our parameters, and the parts of theirs that are left out."""
    own = collect_parameters(model)
    shapes = {name: parameter.shape for name, parameter in own.items()}

    def forward(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return one.tensors(draft, Parts(parameters), shape)

    unused = list_unused(forward, shapes, tensors)
    left = [name for name in unused if "pooler." in name]
    tensors = _unify(tensors, copies, [name for name in unused if name not in left], source)
    for name in left:
        del tensors[name]
    if shape.head == "states":
        tensors = {name: tensor for name, tensor in tensors.items() if "pooler." not in name}
    found = invert(forward, shapes, tensors, str(source / WEIGHTS))
    return {name: tensor.to(own[name].dtype) for name, tensor in found.items()}, sorted(
        {name.rpartition(".")[0] for name in left}
    )


def _unify(
    tensors: Mapping[str, Tensor], copies: Mapping[str, str], unused: Sequence[str], source: Path
) -> dict[str, Tensor]:
    """Drop tensors that are stored twice, and add those that are stored once and used twice."""
    found = dict(tensors)
    for name in unused:
        original = copies.get(name)
        if original is None or not torch.equal(tensors[name], tensors[original]):
            raise DataError(
                f"every tensor must have a place here. {source / WEIGHTS} has {name}, which the "
                f"model of {CONFIG} has not.",
                "Get both files again, from one place; adapters must be merged first.",
            )
        del found[name]
    for name, original in copies.items():
        if name not in found and name not in unused and original in found:
            found[name] = found[original]
    return found


def _class_of(config: Mapping[str, Any], source: Path) -> str:
    named = config.get("architectures")
    if not isinstance(named, list) or len(named) != 1:
        raise DataError(
            f"{source / CONFIG}: architectures must name one class. Got {named!r}.",
            "Save the model again with transformers.",
        )
    return str(named[0])


def _choose_task(name: str, asked: str | None) -> str:
    possible = next((tasks for end, tasks in TASKS.items() if name.endswith(end)), ())
    if not possible:
        raise DataError(
            f"a class must have a head that a task here has. Got {name}.",
            "Import a model for translation, text, masked tokens, labels or tags.",
        )
    if asked is not None and asked not in possible:
        raise UsageError(
            f"{name} can be imported for {' or '.join(possible)}. Got {asked!r}.",
            "Name one of them, or leave --task out.",
        )
    return asked or possible[0]


def _check_special_ids(
    one: Architecture, cut: Cut, config: Mapping[str, Any], source: Path
) -> None:
    """Refuse other special tokens where our ids are theirs."""
    expected = {"pad_token_id": special.PAD, "eos_token_id": special.END}
    if one.kind == "encoder-decoder":
        expected["decoder_start_token_id"] = special.BEGIN
    if one.kind == "encoder" or cut.rows is not None:
        return
    for name, id in expected.items():
        if config.get(name) != id:
            raise DataError(
                f"{source / CONFIG}: {name} must be {id}, as in its tokenizer. Got "
                f"{config.get(name)!r}.",
                "Get both files again, from one place.",
            )


def _drop_buffers(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    kept = {name: one for name, one in tensors.items() if not name.endswith(BUFFERS)}
    for name, tensor in kept.items():
        if not tensor.is_floating_point():
            raise DataError(
                f"parameters must be floating-point numbers. {name} is {tensor.dtype}.",
                "Import the model before quantization.",
            )
    return kept


def _complete(config: Mapping[str, Any], tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Clear rows of position tables that are never used; add what transformers computes itself."""
    kind, found = str(config.get("model_type")), dict(tensors)
    for name, table in tensors.items():
        if name.endswith(POSITIONS) and (unused := UNUSED_ROWS.get(kind, 0)):
            found[name] = torch.cat([table[:unused] * 0, table[unused:]])
    shared = tensors.get("model.shared.weight")
    if shared is None:
        return found
    found.setdefault("final_logits_bias", shared.new_zeros(1, len(shared)))
    rows = config.get("max_position_embeddings")
    if kind == "marian" and type(rows) is int and 0 < rows <= 1_000_000:
        table = _make_sinusoids(rows, shared.shape[1]).to(shared.dtype)
        for side in ("encoder", "decoder"):
            found.setdefault(f"model.{side}.embed_positions.weight", table)
    return found


def _make_sinusoids(rows: int, width: int) -> Tensor:
    """Return sines in the first half of every row, cosines in the second."""
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(rows, dtype=torch.float64)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def _order_rows(tensors: Mapping[str, Tensor], cut: Cut) -> dict[str, Tensor]:
    """Put the rows of tokens in the order of our ids."""
    if cut.rows is None:
        return dict(tensors)
    places = torch.tensor([0 if row is None else row for row in cut.rows])
    missing = torch.tensor([row is None for row in cut.rows])
    found = dict(tensors)
    for name, tensor in tensors.items():
        if name.endswith(VOCABULARY) and len(tensor) > int(places.max()):
            ordered = tensor[places]
            ordered[missing] = UNWRITTEN if tensor.dim() == 1 else 0.0
            found[name] = ordered
    return found
