"""T5: an encoder-decoder of pre-norm RMS blocks with bucketed relative positions, without biases.

    scores       q·k, unscaled: our 1/√features goes into Wq
    positions    the bias of the first block serves all
    logits       h·E/√width, if the embeddings are scaled here: its table is then √width·E

Tokens that a run cannot write are suppressed when it generates.
"""

from typing import Any

from torch import Tensor

from regard.interop.exports.hf.architecture import (
    ATTENTION,
    NO_EMBEDDING_NORM,
    NO_SEGMENTS,
    NO_TOKEN_BIAS,
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
    embedding_scale,
)
from regard.interop.exports.hf.causal import list_suppressed_notes
from regard.tasks.foreign import Export, Obstacle
from regard.text import special

NEEDS = (
    *ATTENTION,
    NOT_NORMED,
    NOT_CAPPED,
    NO_TRANSFORM,
    NO_SEGMENTS,
    NO_EMBEDDING_NORM,
    NO_TOKEN_BIAS,
    TIED,
    Need("model.position.kind", ("relative",), "its positions are biases of the scores"),
    Need("model.norm", ("rms",), "its norms are RMSNorm"),
    Need("model.norm_order", ("pre",), "its norms come before each layer"),
    Need("model.last_norm", (True,), "the output of its last block is normalised"),
    Need("model.biases", (False,), "its layers have no biases"),
    Need("model.mixer.biases", (False,), "its projections have no biases"),
    Need("model.copying", (False,), "it has no copy mechanism"),
)
ACTIVATIONS = {"relu": "relu", "relu2": "relu2", "gelu": "gelu", "swiglu": "gated-silu"}


def find_missing_buckets(run: Described, _shape: Export) -> list[Obstacle]:
    """Refuse the full table of relative positions."""
    values = run.recipe.flat()
    if values.get("model.position.buckets", 1) is not None:
        return []
    remedy = "Set model.position.buckets to 32 and model.position.positions to 128."
    return [Obstacle("model.position.buckets", None, "distances share buckets in it", remedy)]


def make_config(run: Described) -> dict[str, Any]:
    """Return ``config.json``."""
    model, values = run.recipe.model, run.recipe.flat()
    heads = values["model.mixer.heads"]
    return {
        "vocab_size": run.tokenizer.size,
        "d_model": model.width,
        "d_kv": model.width // heads,
        "d_ff": model.feed_forward,
        "num_layers": model.depth,
        "num_decoder_layers": model.decoder_depth,
        "num_heads": heads,
        "relative_attention_num_buckets": values["model.position.buckets"],
        "relative_attention_max_distance": values["model.position.positions"],
        "dropout_rate": model.dropout,
        "layer_norm_epsilon": model.norm_epsilon or 1e-6,
        "feed_forward_proj": ACTIVATIONS[model.activation],
        "tie_word_embeddings": model.scaled_embedding,  # says whether logits are divided by √width
        "scale_decoder_outputs": model.scaled_embedding,
        "n_positions": run.recipe.text.max_length,
        "pad_token_id": special.PAD,
        "eos_token_id": special.END,
        "decoder_start_token_id": special.BEGIN,
    }


def map_tensors(run: Described, parts: Parts, _shape: Export) -> Tensors:
    """Return all tensors by their names there."""
    features = run.recipe.model.width // run.recipe.flat()["model.mixer.heads"]
    scale = attention_scale(run) / features**0.5
    found: Tensors = {"shared.weight": parts.get("reading.table") * embedding_scale(run)}
    for side in ("encoder", "decoder"):
        found[f"{side}.final_layer_norm.weight"] = parts.get(f"{side}.norm.weight")
        bias = parts.get(f"{side}.blocks.0.mixer.part.bias.table")
        first = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        found[first] = bias.mT.contiguous()
        depth = run.recipe.model.depth if side == "encoder" else run.recipe.model.decoder_depth
        for number in range(depth):
            found |= _block(
                parts.at(f"{side}.blocks.{number}"), f"{side}.block.{number}.layer", scale
            )
    return found


def _block(block: Parts, theirs: str, scale: float) -> Tensors:
    found = _attention(block.at("mixer.part"), f"{theirs}.0.SelfAttention", scale)
    found[f"{theirs}.0.layer_norm.weight"] = block.weight("mixer.norm")
    last = 1
    if block.has("cross.norm.weight"):
        found |= _attention(block.at("cross.part"), f"{theirs}.1.EncDecAttention", scale)
        found[f"{theirs}.1.layer_norm.weight"] = block.weight("cross.norm")
        last = 2
    dense = block.at("feed_forward.part")
    names = {"wi": "to_inner", "wo": "to_output"}
    if dense.has("to_gate.weight"):
        names = {"wi_0": "to_gate", "wi_1": "to_inner", "wo": "to_output"}
    for name, ours in names.items():
        found[f"{theirs}.{last}.DenseReluDense.{name}.weight"] = dense.weight(ours)
    found[f"{theirs}.{last}.layer_norm.weight"] = block.weight("feed_forward.norm")
    return found


def _attention(part: Parts, theirs: str, scale: float) -> dict[str, Tensor]:
    return {
        f"{theirs}.q.weight": part.weight("to_query") * scale,
        f"{theirs}.k.weight": part.weight("to_key"),
        f"{theirs}.v.weight": part.weight("to_value"),
        f"{theirs}.o.weight": part.weight("to_output"),
    }


T5 = Architecture(
    "t5",
    "encoder-decoder",
    {"tokens": "T5ForConditionalGeneration"},
    NEEDS,
    make_config,
    map_tensors,
    find_missing_buckets,
    list_suppressed_notes,
)
