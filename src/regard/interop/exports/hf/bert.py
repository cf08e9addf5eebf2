"""BERT, Megatron-BERT and RoBERTa-PreLayerNorm: encoders with heads for tokens, labels and tags.

                             norms   norm of the embeddings   positions begin at row
    bert                     post    yes                      0
    megatron-bert            pre     no                       0
    roberta-prelayernorm     pre     yes                      1, as <pad> has the id 0

A classifier pools by the first state, through a dense layer and tanh. Segments that a run lacks are
rows of zeros. BERT's label 0 of a sentence pair is "follows", ours is 1.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from regard.interop.exports.hf.architecture import (
    ATTENTION,
    NOT_CAPPED,
    NOT_NORMED,
    Architecture,
    Described,
    Need,
    Parts,
    Tensors,
    attention_scale,
    embedding_scale,
    find_obstacles,
    need_norms,
    position_table,
)
from regard.run import Run
from regard.tasks.foreign import Export, Obstacle
from regard.text import special

COMMON = (
    *ATTENTION,
    NOT_NORMED,
    NOT_CAPPED,
    Need(
        "model.position.kind",
        ("learned", "sinusoidal", "none"),
        "its positions are added to the embeddings",
    ),
    Need("model.norm", ("layer",), "its norms are LayerNorm"),
    Need("model.last_norm", (True,), "the output of its last block is normalised"),
    Need("model.activation", ("gelu", "relu", "relu2"), "its feed-forward layers have no gate"),
)
SHARED_HEADS = {
    "labels": "ForSequenceClassification",
    "tags": "ForTokenClassification",
    "states": "Model",
}


class Names(NamedTuple):
    """How one of the three calls its parts."""

    body: str
    embedding_norm: str
    first_norm: str
    """Of a block: that of attention."""
    second_norm: str
    last_norm: str
    """After the last block; empty for post-norm."""
    dense: str
    """Of the transform of the head for masked tokens."""
    dense_norm: str
    output: str
    """The output layer for masked tokens."""
    output_bias: str
    pooler: str
    """The dense layer of a classifier, below the class's prefix or at the top."""
    labels: str


BERT = Names(
    "bert",
    "embeddings.LayerNorm",
    "attention.output.LayerNorm",
    "output.LayerNorm",
    "",
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.decoder",
    "cls.predictions.bias",
    "bert.pooler.dense",
    "classifier",
)
MEGATRON = BERT._replace(
    embedding_norm="", first_norm="attention.ln", second_norm="ln", last_norm="encoder.ln"
)
ROBERTA = Names(
    "roberta_prelayernorm",
    "embeddings.LayerNorm",
    "attention.LayerNorm",
    "intermediate.LayerNorm",
    "LayerNorm",
    "lm_head.dense",
    "lm_head.layer_norm",
    "lm_head.decoder",
    "lm_head.bias",
    "classifier.dense",
    "classifier.out_proj",
)


LABELS = (
    Need("model.head.pooling", ("cls",), "its classifiers pool through a dense layer"),
    Need("model.head.norm", (False,), "its pooled state is not normalised"),
)
TOKENS = (
    Need("model.head.transform", (True,), "its output layer begins with a dense layer and a norm"),
    Need("model.activation", ("gelu",), "its output layer has the activation of its blocks"),
)
PAIRS = (Need("model.embedding.segments", (2, 1, 0), "its segments are the first and second text"),)


def find_head_obstacles(run: Described, shape: Export) -> list[Obstacle]:
    """Refuse heads that are built otherwise there."""
    needs = {"labels": LABELS, "tokens": TOKENS}.get(shape.head, ())
    return find_obstacles(run.recipe, (*needs, *(PAIRS if shape.pair_template else ())))


def make_config(run: Described, *, offset: int) -> dict[str, Any]:
    """Return ``config.json``."""
    model, values = run.recipe.model, run.recipe.flat()
    positions = values.get("model.position.positions") or run.recipe.text.max_length
    return {
        "vocab_size": run.tokenizer.size,
        "hidden_size": model.width,
        "num_hidden_layers": model.depth,
        "num_attention_heads": values["model.mixer.heads"],
        "intermediate_size": model.feed_forward,
        "hidden_act": model.activation,
        "hidden_dropout_prob": model.dropout,
        "attention_probs_dropout_prob": values["model.mixer.dropout"],
        "classifier_dropout": model.head.dropout,
        "max_position_embeddings": positions + offset,
        "type_vocab_size": max(2, model.embedding.segments),
        "layer_norm_eps": model.norm_epsilon or 1e-5,
        "position_embedding_type": "absolute",
        "tie_word_embeddings": model.tied and not model.scaled_embedding,
        "pad_token_id": special.PAD,
        "bos_token_id": special.CLS,
        "eos_token_id": special.SEP,
    }


def map_tensors(
    run: Described, parts: Parts, shape: Export, names: Names, *, offset: int
) -> Tensors:
    """Return all tensors by their names there."""
    prefix = "" if shape.head == "states" else f"{names.body}."
    body = {f"{prefix}{name}": tensor for name, tensor in _body(run, parts, names, offset).items()}
    return {**body, **_head(run, parts, names, shape)}


def _body(run: Described, parts: Parts, names: Names, offset: int) -> Tensors:
    reading, stack = parts.at("body.reading"), parts.at("body.stack")
    table, places = reading.get("table"), position_table(run, reading)
    segments = reading.get("segments") if reading.has("segments") else table[:1] * 0
    if len(segments) == 1:
        segments = segments.repeat(2, 1)
    found = {
        "embeddings.word_embeddings.weight": table * embedding_scale(run),
        "embeddings.position_embeddings.weight": torch.cat([places[:1] * 0] * offset + [places]),
        "embeddings.token_type_embeddings.weight": segments,
    }
    if names.embedding_norm:
        found |= reading.layer("norm", names.embedding_norm)
    if names.last_norm:
        found |= stack.layer("norm", names.last_norm)
    for number in range(run.recipe.model.depth):
        block = stack.at(f"blocks.{number}")
        for name, tensor in _block(run, block, names).items():
            found[f"encoder.layer.{number}.{name}"] = tensor
    return found


def _block(run: Described, block: Parts, names: Names) -> Tensors:
    found: Tensors = {}
    layers = {
        "mixer.part.to_query": "attention.self.query",
        "mixer.part.to_key": "attention.self.key",
        "mixer.part.to_value": "attention.self.value",
        "mixer.part.to_output": "attention.output.dense",
        "mixer.norm": names.first_norm,
        "feed_forward.part.to_inner": "intermediate.dense",
        "feed_forward.part.to_output": "output.dense",
        "feed_forward.norm": names.second_norm,
    }
    for ours, theirs in layers.items():
        factor = attention_scale(run) if ours.endswith("to_query") else 1.0
        layer = block.layer(ours, theirs)
        found |= {name: tensor * factor for name, tensor in layer.items()}
    return found


def _head(run: Described, parts: Parts, names: Names, shape: Export) -> Tensors:
    if shape.head == "states":
        if names is ROBERTA or "pooler" not in names.pooler:
            return _idle_pooler(run, parts, "pooler.dense")
        return _idle_pooler(run, parts, names.pooler.partition(".")[2])
    head = parts.at("head")
    if shape.head == "tags":
        return head.layer("to_logits", "classifier")
    if shape.head == "labels":
        return {**head.layer("pool.dense", names.pooler), **head.layer("to_logits", names.labels)}
    table = parts.get("body.reading.table")
    bias = head.get("bias") if head.has("bias") else table.new_zeros(len(table))
    found = {
        **head.layer("transform.dense", names.dense),
        **head.layer("transform.norm", names.dense_norm),
        names.output_bias: bias,
        f"{names.output}.bias": bias,
    }
    if not make_config(run, offset=0)["tie_word_embeddings"]:
        own = head.has("to_logits.weight")
        found[f"{names.output}.weight"] = head.weight("to_logits") if own else table
    if shape.pairs and names is not ROBERTA:
        pair = parts.at("pair_head")
        found |= pair.layer("pool.dense", names.pooler)
        flipped = pair.layer("to_logits", "cls.seq_relationship")
        found |= {name: tensor.flip(0) for name, tensor in flipped.items()}
    return found


def _idle_pooler(run: Described, parts: Parts, name: str) -> Tensors:
    """Return the identity: the class has a pooler, and others would be drawn at random."""
    table = parts.get("body.reading.table")
    width = run.recipe.model.width
    return {
        f"{name}.weight": torch.eye(width, dtype=table.dtype),
        f"{name}.bias": table.new_zeros(width),
    }


def _notes(run: Run) -> tuple[str, ...]:
    if run.task.export().pairs:
        return ("the head for sentence pairs is left out: the architecture has none",)
    return ()


def _architecture(
    name: str, classes: Mapping[str, str], names: Names, *, order: str, normed: bool
) -> Architecture:
    offset = 1 if names is ROBERTA else 0
    return Architecture(
        name,
        "encoder",
        classes,
        (*COMMON, *need_norms(order, normed=normed)),
        lambda run: make_config(run, offset=offset),
        lambda run, parts, shape: map_tensors(run, parts, shape, names, offset=offset),
        find_head_obstacles,
        notes=_notes if names is ROBERTA else lambda run: (),
    )


def _classes(prefix: str, **more: str) -> dict[str, str]:
    return {head: f"{prefix}{name}" for head, name in {**SHARED_HEADS, **more}.items()}


ENCODERS = (
    _architecture(
        "bert",
        _classes("Bert", tokens="ForMaskedLM", pairs="ForPreTraining"),
        BERT,
        order="post",
        normed=True,
    ),
    _architecture(
        "megatron-bert",
        _classes("MegatronBert", tokens="ForMaskedLM", pairs="ForPreTraining"),
        MEGATRON,
        order="pre",
        normed=False,
    ),
    _architecture(
        "roberta-prelayernorm",
        _classes("RobertaPreLayerNorm", tokens="ForMaskedLM", pairs="ForMaskedLM"),
        ROBERTA,
        order="pre",
        normed=True,
    ),
)
