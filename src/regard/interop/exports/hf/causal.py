"""Llama, Arcee, Qwen3 and GPT-2: causal models.

              norm   positions  feed-forward             queries and keys
    llama     rms    rotary     silu-gated               plain
    arcee     rms    rotary     relu²                    plain
    qwen3     rms    rotary     silu-gated, or relu²     normalised, with weights
    gpt2      layer  added      gelu or relu             plain

Rotary embeddings turn features m and m + features/2 together there, and 2m and 2m + 1 here: the
rows of Wq and Wk are reordered. relu(x)² is relu(x)·x, a gated unit with two equal matrices. The
output layer is the table without √width; where that factor is in the embeddings, both are stored.

Tokens that a run cannot write are suppressed when it generates.
"""

from typing import Any

import torch
from torch import Tensor

from regard.interop.exports.hf.architecture import (
    ATTENTION,
    NO_EMBEDDING_NORM,
    NO_SEGMENTS,
    NO_TOKEN_BIAS,
    NO_TRANSFORM,
    NOT_CAPPED,
    NOT_NORMED,
    Architecture,
    Described,
    Need,
    Parts,
    Tensors,
    attention_scale,
    embedding_scale,
    position_table,
    unwritable,
)
from regard.run import Run
from regard.tasks.foreign import Export
from regard.text import special

SHARED = (
    *ATTENTION,
    NOT_CAPPED,
    NO_TRANSFORM,
    NO_SEGMENTS,
    NO_EMBEDDING_NORM,
    NO_TOKEN_BIAS,
    Need("model.norm_order", ("pre",), "its norms come before each layer"),
    Need("model.last_norm", (True,), "the output of its last block is normalised"),
    Need("data.apart", (False,), "a window may see all documents in it"),
)
ROTARY = (
    Need("model.position.kind", ("rotary",), "its positions are rotary"),
    Need("model.norm", ("rms",), "its norms are RMSNorm"),
    Need("model.biases", (False,), "its layers have no biases"),
)
LAYER = (
    Need(
        "model.position.kind",
        ("learned", "sinusoidal", "none"),
        "its positions are added to the embeddings",
    ),
    Need("model.norm", ("layer",), "its norms are LayerNorm"),
    Need("model.activation", ("gelu", "relu", "relu2"), "its feed-forward layers have no gate"),
)


def list_suppressed_notes(run: Run) -> tuple[str, ...]:
    """Say that probabilities differ where tokens are suppressed instead of missing."""
    if not unwritable(run, Parts(run.parameters)):
        return ()
    return (
        "tokens that training never showed have logits there, which are suppressed in generation "
        "only: log-probabilities of texts are lower than in regard",
    )


def permute_rotary(weight: Tensor, heads: int) -> Tensor:
    """Reorder rows from pairs (2m, 2m + 1) to halves (m, m + features/2), in every head."""
    pairs = weight.unflatten(0, (heads, -1, 2))
    return pairs.transpose(1, 2).flatten(0, 2).contiguous()


def make_config(run: Described) -> dict[str, Any]:
    """Return the parts of ``config.json`` that Llama and its relatives share."""
    model, values = run.recipe.model, run.recipe.flat()
    heads, base = values["model.mixer.heads"], values["model.position.base"]
    gated = model.activation == "swiglu"
    return {
        "vocab_size": run.tokenizer.size,
        "hidden_size": model.width,
        "intermediate_size": model.feed_forward,
        "num_hidden_layers": model.depth,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "head_dim": model.width // heads,
        "hidden_act": "silu" if gated else model.activation,
        "max_position_embeddings": run.recipe.text.max_length,
        "rms_norm_eps": model.norm_epsilon or 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
        "rope_theta": base,  # what llama.cpp and version 4 read
        "attention_bias": values["model.mixer.biases"],
        "attention_dropout": values["model.mixer.dropout"],
        "mlp_bias": False,
        **shared_config(run),
    }


def shared_config(run: Described) -> dict[str, Any]:
    """Return the special tokens, and whether one table serves both ends."""
    model = run.recipe.model
    return {
        "tie_word_embeddings": model.tied and not model.scaled_embedding,
        "pad_token_id": special.PAD,
        "bos_token_id": special.END,  # a text begins after the end of another
        "eos_token_id": special.END,
    }


def map_tensors(run: Described, parts: Parts, _shape: Export) -> Tensors:
    """Return all tensors of a Llama by their names there."""
    stack = parts.at("body.stack")
    found = map_ends(run, parts, table="model.embed_tokens.weight")
    found["model.norm.weight"] = stack.weight("norm")
    for number in range(run.recipe.model.depth):
        found |= _block(run, stack.at(f"blocks.{number}"), f"model.layers.{number}")
    return found


def map_ends(run: Described, parts: Parts, *, table: str) -> Tensors:
    """Return embeddings and output layer: one table, or two where they differ."""
    embeddings = parts.get("body.reading.table")
    output = parts.weight("head.to_logits") if not run.recipe.model.tied else embeddings
    found = {table: embeddings * embedding_scale(run)}
    if not shared_config(run)["tie_word_embeddings"]:
        found["lm_head.weight"] = output
    return found


def _block(run: Described, block: Parts, theirs: str) -> Tensors:
    part, heads = block.at("mixer.part"), run.recipe.flat()["model.mixer.heads"]
    found = {
        f"{theirs}.input_layernorm.weight": block.weight("mixer.norm"),
        f"{theirs}.post_attention_layernorm.weight": block.weight("feed_forward.norm"),
        **_feed_forward(block.at("feed_forward.part"), f"{theirs}.mlp"),
    }
    names = {"to_query": "q_proj", "to_key": "k_proj", "to_value": "v_proj", "to_output": "o_proj"}
    normed = part.has("norm_query.weight")
    for ours, name in names.items():
        layer = part.layer(ours, f"{theirs}.self_attn.{name}")
        if not part.has(f"{ours}.bias"):
            del layer[f"{theirs}.self_attn.{name}.bias"]
        if ours in ("to_query", "to_key"):
            layer = {key: permute_rotary(tensor, heads) for key, tensor in layer.items()}
        if ours == "to_query" and not normed:
            layer = {key: tensor * attention_scale(run) for key, tensor in layer.items()}
        found |= layer
    if normed:
        query, key = part.weight("norm_query") * attention_scale(run), part.weight("norm_key")
        found[f"{theirs}.self_attn.q_norm.weight"] = permute_rotary(query, 1)
        found[f"{theirs}.self_attn.k_norm.weight"] = permute_rotary(key, 1)
    return found


def _feed_forward(dense: Parts, theirs: str) -> Tensors:
    found = {
        f"{theirs}.up_proj.weight": dense.weight("to_inner"),
        f"{theirs}.down_proj.weight": dense.weight("to_output"),
    }
    if dense.has("to_gate.weight"):
        found[f"{theirs}.gate_proj.weight"] = dense.weight("to_gate")
    return found


def make_qwen_config(run: Described) -> dict[str, Any]:
    """Return Qwen3's ``config.json``; relu² is a unit gated by itself."""
    found = make_config(run)
    found["use_sliding_window"] = False
    if run.recipe.model.activation == "relu2":
        found["hidden_act"] = "relu"
    return found


def map_qwen_tensors(run: Described, parts: Parts, shape: Export) -> Tensors:
    """Return Qwen3's tensors."""
    found = map_tensors(run, parts, shape)
    for name, tensor in list(found.items()):
        gate = name.replace("up_proj", "gate_proj")
        if gate not in found:
            found[gate] = tensor.clone()
    return found


def make_gpt2_config(run: Described) -> dict[str, Any]:
    """Return GPT-2's ``config.json``."""
    model, values = run.recipe.model, run.recipe.flat()
    positions = values.get("model.position.positions") or run.recipe.text.max_length
    return {
        "vocab_size": run.tokenizer.size,
        "n_embd": model.width,
        "n_layer": model.depth,
        "n_head": values["model.mixer.heads"],
        "n_inner": model.feed_forward,
        "n_positions": positions,
        "n_ctx": positions,  # what llama.cpp reads
        "activation_function": model.activation,
        "layer_norm_epsilon": model.norm_epsilon or 1e-5,
        "embd_pdrop": model.dropout,
        "resid_pdrop": model.dropout,
        "attn_pdrop": values["model.mixer.dropout"],
        **shared_config(run),
    }


def map_gpt2_tensors(run: Described, parts: Parts, _shape: Export) -> Tensors:
    """Return GPT-2's tensors; matrices are transposed there, queries, keys and values one."""
    stack = parts.at("body.stack")
    found = map_ends(run, parts, table="transformer.wte.weight")
    found["transformer.wpe.weight"] = position_table(run, parts.at("body.reading"))
    found |= stack.layer("norm", "transformer.ln_f")
    scale = attention_scale(run)
    for number in range(run.recipe.model.depth):
        block, theirs = stack.at(f"blocks.{number}"), f"transformer.h.{number}"
        part, dense = block.at("mixer.part"), block.at("feed_forward.part")
        layers = [(part.weight(n), part.bias(n)) for n in ("to_query", "to_key", "to_value")]
        layers[0] = (layers[0][0] * scale, layers[0][1] * scale)
        weights, biases = (torch.cat(each) for each in zip(*layers, strict=True))
        found |= block.layer("mixer.norm", f"{theirs}.ln_1")
        found |= block.layer("feed_forward.norm", f"{theirs}.ln_2")
        for name, weight, bias in (
            ("attn.c_attn", weights, biases),
            ("attn.c_proj", part.weight("to_output"), part.bias("to_output")),
            ("mlp.c_fc", dense.weight("to_inner"), dense.bias("to_inner")),
            ("mlp.c_proj", dense.weight("to_output"), dense.bias("to_output")),
        ):
            found[f"{theirs}.{name}.weight"] = weight.mT.contiguous()
            found[f"{theirs}.{name}.bias"] = bias
    return found


def _llama(name: str, generation: str, activation: str, reason: str) -> Architecture:
    return Architecture(
        name,
        "causal",
        {"tokens": generation},
        (*SHARED, *ROTARY, NOT_NORMED, Need("model.activation", (activation,), reason)),
        make_config,
        map_tensors,
        notes=list_suppressed_notes,
    )


CAUSAL = (
    _llama("arcee", "ArceeForCausalLM", "relu2", "its feed-forward layers are relu²"),
    _llama("llama", "LlamaForCausalLM", "swiglu", "its feed-forward layers are gated by silu"),
    Architecture(
        "qwen3",
        "causal",
        {"tokens": "Qwen3ForCausalLM"},
        (
            *SHARED,
            *ROTARY,
            Need("model.mixer.normed", (True,), "its queries and keys are normalised"),
            Need("model.activation", ("swiglu", "relu2"), "its feed-forward layers are gated"),
            Need("model.norm_epsilon", (None, 1e-6), "all its norms share one epsilon"),
        ),
        make_qwen_config,
        map_qwen_tensors,
        notes=list_suppressed_notes,
    ),
    Architecture(
        "gpt2",
        "causal",
        {"tokens": "GPT2LMHeadModel"},
        (*SHARED, *LAYER, NOT_NORMED),
        make_gpt2_config,
        map_gpt2_tensors,
        notes=list_suppressed_notes,
    ),
)
