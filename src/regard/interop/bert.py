"""BERT of Hugging Face transformers: its config as our settings, its tensors by our names.

    embeddings.word_embeddings              reading.table, rows in the order of our ids
    encoder.layer.N.attention.self.query    stack.blocks.N.mixer.part.to_query, and so on
    pooler, cls.seq_relationship            pair_head; their label 0 is "follows", ours is 1

The states are equal to theirs up to rounding, with padding and segments.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.errors import DataError
from regard.interop.files import CONFIG, WEIGHTS, read_optional_json
from regard.interop.imports.configs import READERS

UNWRITTEN = -100.0
"""Bias of a token that the checkpoint lacks: it is never predicted."""

BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
_FREE = {
    "head.to_logits.weight": "cls.predictions.decoder.weight",
    "head.bias": "cls.predictions.decoder.bias",
}
"""A head that is not tied to the table has a matrix and a bias of its own."""
_COPIES = {*_FREE.values(), "cls.predictions.bias"}
"""Where it is tied they are written once more, or not at all."""
_PLAIN = {
    "body.reading.table": "embeddings.word_embeddings.weight",
    "body.reading.segments": "embeddings.token_type_embeddings.weight",
    "body.reading.place.table.table": "embeddings.position_embeddings.weight",
}
_TOKENS = {"head.bias": "cls.predictions.bias"}
_TOKEN_PARTS = {
    "head.transform.dense": "cls.predictions.transform.dense",
    "head.transform.norm": "cls.predictions.transform.LayerNorm",
}
_PAIR_PARTS = {
    "pair_head.pool.dense": "pooler.dense",
    "pair_head.to_logits": "cls.seq_relationship",
}
_BLOCK_PARTS = {
    "mixer.part.to_query": "attention.self.query",
    "mixer.part.to_key": "attention.self.key",
    "mixer.part.to_value": "attention.self.value",
    "mixer.part.to_output": "attention.output.dense",
    "mixer.norm": "attention.output.LayerNorm",
    "feed_forward.part.to_inner": "intermediate.dense",
    "feed_forward.part.to_output": "output.dense",
    "feed_forward.norm": "output.LayerNorm",
}


class Heads(NamedTuple):
    """Which heads a checkpoint has."""

    tokens: bool
    """A head for masked tokens."""
    pairs: bool
    """A head for next-sentence prediction, with its pooler."""


def is_plain(config: Mapping[str, Any], folder: Path) -> bool:
    """Whether it is a BERT without labels, whose tokenizer BERT's own library wrote."""
    labelled = "ForSequenceClassification" in name_architecture(config)
    tagged = "ForTokenClassification" in name_architecture(config)
    if config.get("model_type") != "bert" or labelled or tagged:
        return config.get("model_type") not in READERS
    whole = read_optional_json(folder, "tokenizer.json")
    normalizer = whole.get("normalizer")
    return not whole or (isinstance(normalizer, dict) and normalizer["type"] == "BertNormalizer")


def read_settings(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Turn a ``config.json`` into the table ``[model]``; refuse unsupported variants."""
    _check(config, folder / CONFIG)
    get = _ConfigReader(config, folder / CONFIG)
    return {
        "width": get.count("hidden_size"),
        "depth": get.count("num_hidden_layers"),
        "feed_forward": get.count("intermediate_size"),
        "activation": config["hidden_act"],
        "norm": "layer",
        "norm_order": "post",
        "norm_epsilon": get.number("layer_norm_eps", 1e-12),
        "biases": True,
        "scaled_embedding": False,
        "tied": config.get("tie_word_embeddings", True) is not False,
        "dropout": get.number("hidden_dropout_prob", 0.1),
        "mixer": {
            "kind": "attention",
            "heads": get.count("num_attention_heads"),
            "biases": True,
            "dropout": get.number("attention_probs_dropout_prob", 0.1),
        },
        "position": {"kind": "learned", "positions": get.count("max_position_embeddings")},
        "embedding": {"segments": get.count("type_vocab_size"), "norm": True},
    }


def name_architecture(config: Mapping[str, Any]) -> str:
    """Return the architecture that a config names."""
    named = config.get("architectures")
    joined = ", ".join(map(str, named)) if isinstance(named, list) else ""
    return joined or str(config.get("model_type") or "a model without a name")


def strip_prefixes(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Name every tensor as in a bare model: without ``bert.``, buffers and old spellings."""
    renamed = {}
    for name, tensor in tensors.items():
        plain = name.removeprefix("bert.")
        for old, new in (
            ("LayerNorm.gamma", "LayerNorm.weight"),
            ("LayerNorm.beta", "LayerNorm.bias"),
        ):
            plain = plain.replace(old, new)
        if plain not in BUFFERS:
            renamed[plain] = tensor
    return renamed


def find_heads(names: Iterable[str]) -> Heads:
    """Return which heads the tensors are of."""
    found = set(names)
    tokens = {*_TOKENS.values(), *_expand(_TOKEN_PARTS).values()} <= found
    return Heads(tokens, tokens and set(_expand(_PAIR_PARTS).values()) <= found)


def map_parameters(
    tensors: Mapping[str, Tensor],
    wanted: Mapping[str, Tensor],
    *,
    rows: Sequence[int | None],
    folder: Path,
) -> dict[str, Tensor]:
    """Return the parameters of a model by its own names; ``rows`` puts tokens in our order."""
    found = {}
    for name, theirs in _names(wanted).items():
        if theirs not in tensors:
            raise DataError(
                f"{folder / WEIGHTS} has no tensor {theirs}.", f"Get {WEIGHTS} and {CONFIG} again."
            )
        if not tensors[theirs].is_floating_point():
            raise DataError(
                f"parameters must be floating-point numbers. {theirs} in {folder / WEIGHTS} is "
                f"{tensors[theirs].dtype}.",
                "Import the model before quantization.",
            )
        tensor = tensors[theirs].to(wanted[name].dtype)
        if name in ("body.reading.table", "head.to_logits.weight", "head.bias"):
            _check_rows(tensor, rows, theirs, folder)
            tensor = _reorder(tensor, rows, missing=UNWRITTEN if name == "head.bias" else 0.0)
        if name.startswith("pair_head.to_logits."):
            tensor = tensor.flip(0)
        if tensor.shape != wanted[name].shape:
            raise DataError(
                f"tensors must have the shapes of {CONFIG}. {theirs} in {folder / WEIGHTS} "
                f"is {tuple(tensors[theirs].shape)}; {CONFIG} gives "
                f"{tuple(wanted[name].shape)}.",
                "Get both files again, from one place.",
            )
        found[name] = tensor
    return found


def list_left_out(tensors: Iterable[str], taken: Iterable[str], folder: Path) -> list[str]:
    """Name the heads that are not imported; a tensor of the body must be."""
    left = {*tensors} - {*_names(taken).values()} - _COPIES
    inside = sorted(name for name in left if name.startswith(("embeddings.", "encoder.")))
    if inside:
        raise DataError(
            f"every tensor of a body must be imported. {inside[0]} in {folder / WEIGHTS} has no "
            f"place in the model of {CONFIG}.",
            "Get both files again, from one place; adapters must be merged first.",
        )
    return sorted({name.rpartition(".")[0] or name for name in left})


class _ConfigReader:
    """Reads numbers from a config, and refuses invalid ones."""

    def __init__(self, config: Mapping[str, Any], file: Path) -> None:
        self.config, self.file = config, file

    def count(self, name: str) -> int:
        value = self.config.get(name)
        if type(value) is not int or value < 1:
            raise self._refuse(name, "a whole number from 1 on")
        return value

    def number(self, name: str, usual: float) -> float:
        value = self.config.get(name, usual)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise self._refuse(name, "a number from 0 to below 1")
        return float(value)

    def _refuse(self, name: str, rule: str) -> DataError:
        got = repr(self.config[name]) if name in self.config else "nothing"
        return DataError(f"{self.file}: {name} must be {rule}. Got {got}.", f"Get {CONFIG} again.")


def _check(config: Mapping[str, Any], file: Path) -> None:
    kind = config.get("model_type")
    if kind != "bert":
        raise DataError(
            f"{file}: models of the types {', '.join(sorted(READERS))} can be imported. This one "
            f"is {name_architecture(config)} ({kind!r}).",
            "Import a model of one of them, such as a sentence encoder based on BERT.",
        )
    allowed: dict[str, tuple[object, ...]] = {
        "position_embedding_type": ("absolute",),
        "hidden_act": ("gelu", "relu"),
        "is_decoder": (False,),
        "add_cross_attention": (False,),
    }
    for name, values in allowed.items():
        value = config.get(name, values[0] if name != "hidden_act" else None)
        if value not in values:
            raise DataError(
                f"{file}: {name} must be {' or '.join(map(repr, values))}. Got {value!r}.",
                "This variant of BERT is not supported; import another one.",
            )


def _expand(parts: Mapping[str, str]) -> dict[str, str]:
    """Name weight and bias of every part."""
    return {
        f"{ours}.{kind}": f"{theirs}.{kind}"
        for ours, theirs in parts.items()
        for kind in ("weight", "bias")
    }


def _names(ours: Iterable[str]) -> dict[str, str]:
    """Return the foreign name of every parameter of a model."""
    wanted = list(ours)
    own = _FREE if "head.to_logits.weight" in wanted else {}
    return {name: own.get(name) or _their_name(name) for name in wanted}


def _their_name(name: str) -> str:
    """Return the foreign name of one of our parameters."""
    norm = {"body.reading.norm": "embeddings.LayerNorm"}
    known = {**_PLAIN, **_TOKENS, **_expand({**norm, **_TOKEN_PARTS, **_PAIR_PARTS})}
    if name in known:
        return known[name]
    number, _, part = name.removeprefix("body.stack.blocks.").partition(".")
    return f"encoder.layer.{number}.{_expand(_BLOCK_PARTS)[part]}"


def _check_rows(tensor: Tensor, rows: Sequence[int | None], name: str, folder: Path) -> None:
    last = max(row for row in rows if row is not None)
    if last >= len(tensor):
        raise DataError(
            f"every token must have a row. The tokenizer of {folder} has {last + 1:,} tokens; "
            f"{name} has {len(tensor):,} rows.",
            "Get tokenizer and weights again, from one place.",
        )


def _reorder(tensor: Tensor, rows: Sequence[int | None], *, missing: float) -> Tensor:
    """Put rows in the order of our ids; a token that the checkpoint lacks gets ``missing``."""
    ordered = tensor[torch.tensor([0 if row is None else row for row in rows])]
    ordered[torch.tensor([row is None for row in rows])] = missing
    return ordered
