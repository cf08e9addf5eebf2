"""Marian, Pegasus, BART and mBART: encoder-decoders with positions added to the embeddings.

            norms    norm of the embeddings    rows of the position table
    marian  post     no                        as given; loaded, though a sinusoid there
    pegasus pre      no                        as given
    bart    post     yes                       two unused ones first
    mbart   pre      yes                       two unused ones first

Tokens that a run cannot write, and biases of tokens, are ``final_logits_bias``.
"""

from typing import Any

import torch
from torch import Tensor

from regard.interop.exports.hf.architecture import (
    ATTENTION,
    NO_SEGMENTS,
    NO_TRANSFORM,
    NOT_CAPPED,
    NOT_NORMED,
    TIED,
    Architecture,
    Described,
    Need,
    Parts,
    Tensors,
    attention_scale,
    need_norms,
    position_table,
    unwritable,
)
from regard.text import special

UNWRITTEN = -1e4
"""Bias of a token that is never written."""
OFFSET = 2
"""Unused rows at the beginning of BART's position tables."""
COMMON = (
    *ATTENTION,
    NOT_NORMED,
    NOT_CAPPED,
    NO_TRANSFORM,
    NO_SEGMENTS,
    TIED,
    Need(
        "model.position.kind",
        ("sinusoidal", "learned", "none"),
        "its positions are added to the embeddings",
    ),
    Need("model.norm", ("layer",), "its norms are LayerNorm"),
    Need("model.norm_epsilon", (None, 1e-5), "its norms have the epsilon 1e-5"),
    Need("model.last_norm", (True,), "the output of its last block is normalised"),
    Need("model.activation", ("relu", "gelu", "relu2"), "its feed-forward layers have no gate"),
    Need("model.copying", (False,), "it has no copy mechanism"),
)


def make_config(run: Described, *, offset: int) -> dict[str, Any]:
    """Return the parts of ``config.json`` that the four architectures share."""
    model = run.recipe.model
    heads = run.recipe.flat()["model.mixer.heads"]
    position = run.recipe.flat().get("model.position.positions")
    pre = model.norm_order == "pre"
    return {
        "vocab_size": run.tokenizer.size,
        "d_model": model.width,
        "encoder_layers": model.depth,
        "decoder_layers": model.decoder_depth,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": model.feed_forward,
        "decoder_ffn_dim": model.feed_forward,
        "activation_function": model.activation,
        "max_position_embeddings": position or run.recipe.text.max_length,
        "scale_embedding": model.scaled_embedding,
        "dropout": model.dropout,
        "attention_dropout": run.recipe.flat()["model.mixer.dropout"],
        "activation_dropout": 0.0,
        "is_encoder_decoder": True,
        "tie_word_embeddings": True,
        "static_position_embeddings": model.position.kind != "learned",
        # What CTranslate2's converter reads, and configs of version 5 lack.
        "normalize_before": pre,
        "add_final_layer_norm": pre,
        "normalize_embedding": bool(offset),
        "pad_token_id": special.PAD,
        "bos_token_id": special.BEGIN,
        "eos_token_id": special.END,
        "decoder_start_token_id": special.BEGIN,
        "forced_eos_token_id": None,
        "forced_bos_token_id": None,
        "num_hidden_layers": model.depth,
    }


def map_tensors(run: Described, parts: Parts, *, offset: int) -> Tensors:
    """Return all tensors by their names there."""
    reading = parts.at("reading")
    table, untied = reading.get("table"), parts.has("writing.table")
    found: Tensors = {"model.shared.weight": table, "final_logits_bias": _bias(run, parts)}
    if untied:  # as imported where the two sides have positions of their own
        found["model.decoder.embed_tokens.weight"] = parts.get("writing.table")
        found["lm_head.weight"] = parts.weight("head.to_logits")
    for side in ("encoder", "decoder"):
        embedding = parts.at("writing") if untied and side == "decoder" else reading
        places = position_table(run, embedding)
        before = places.new_zeros(offset, places.shape[1])
        found[f"model.{side}.embed_positions.weight"] = torch.cat([before, places])
        if embedding.has("norm.weight"):
            found |= embedding.layer("norm", f"model.{side}.layernorm_embedding")
        if parts.has(f"{side}.norm.weight"):
            found |= parts.at(side).layer("norm", f"model.{side}.layer_norm")
        depth = run.recipe.model.depth if side == "encoder" else run.recipe.model.decoder_depth
        for number in range(depth):
            block = parts.at(f"{side}.blocks.{number}")
            found |= _block(block, f"model.{side}.layers.{number}", attention_scale(run))
    return found


def _block(block: Parts, theirs: str, scale: float) -> Tensors:
    found = {
        **_attention(block.at("mixer.part"), f"{theirs}.self_attn", scale),
        **block.layer("mixer.norm", f"{theirs}.self_attn_layer_norm"),
        **block.layer("feed_forward.part.to_inner", f"{theirs}.fc1"),
        **block.layer("feed_forward.part.to_output", f"{theirs}.fc2"),
        **block.layer("feed_forward.norm", f"{theirs}.final_layer_norm"),
    }
    if block.has("cross.norm.weight"):
        found |= _attention(block.at("cross.part"), f"{theirs}.encoder_attn", scale)
        found |= block.layer("cross.norm", f"{theirs}.encoder_attn_layer_norm")
    return found


def _attention(part: Parts, theirs: str, scale: float) -> Tensors:
    names = {
        "to_query": "q_proj",
        "to_key": "k_proj",
        "to_value": "v_proj",
        "to_output": "out_proj",
    }
    found: Tensors = {}
    for ours, name in names.items():
        factor = scale if ours == "to_query" else 1.0
        layer = part.layer(ours, f"{theirs}.{name}")
        found |= {key: tensor * factor for key, tensor in layer.items()}
    return found


def _bias(run: Described, parts: Parts) -> Tensor:
    """Return the bias of every token: the head's own, and a low one where nothing is written."""
    table = parts.get("reading.table")
    bias = parts.get("head.bias").clone() if parts.has("head.bias") else table.new_zeros(len(table))
    bias[torch.tensor(unwritable(run, parts), dtype=torch.long)] = UNWRITTEN
    return bias[None]


def _architecture(name: str, generation: str, *, order: str, normed: bool) -> Architecture:
    offset = OFFSET if normed else 0
    return Architecture(
        name,
        "encoder-decoder",
        {"tokens": generation},
        (*COMMON, *need_norms(order, normed=normed)),
        lambda run: make_config(run, offset=offset),
        lambda run, parts, _shape: map_tensors(run, parts, offset=offset),
    )


BARTS = (
    _architecture("marian", "MarianMTModel", order="post", normed=False),
    _architecture("pegasus", "PegasusForConditionalGeneration", order="pre", normed=False),
    _architecture("bart", "BartForConditionalGeneration", order="post", normed=True),
    _architecture("mbart", "MBartForConditionalGeneration", order="pre", normed=True),
)
