"""``config.json`` of each architecture as the table ``[model]``; what has no setting is refused."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from regard.errors import DataError

Tensors = Mapping[str, Tensor]
ANY = object()


class Config:
    """Reads settings, and refuses invalid or unsupported ones by their name.

    Args:
        found: The file's content.
        file: Its path, for messages.
        tensors: The weights, whose shapes say what the file does not.

    """

    def __init__(self, found: Mapping[str, Any], file: str, tensors: Tensors) -> None:
        self.found, self.file, self.tensors = found, file, tensors

    def count(self, name: str, usual: int | None = None) -> int:
        """Return a whole number above 0."""
        value = self.found.get(name)
        value = usual if value is None else value
        if type(value) is not int or value < 1:
            raise self.refuse(name, "a whole number from 1 on")
        return value

    def number(self, name: str, usual: float, *, most: float = 1.0) -> float:
        """Return a number from 0 to below ``most``."""
        value = self.found.get(name, usual)
        if type(value) not in (int, float) or not 0 <= value < most:
            raise self.refuse(name, f"a number from 0 to below {most:g}")
        return float(value)

    def require(self, name: str, *allowed: object) -> Any:  # noqa: ANN401 - a setting's value
        """Return a value that must be among those allowed; the first one if it is missing."""
        value = self.found.get(name, allowed[0])
        if value not in allowed or isinstance(value, bool) != isinstance(allowed[0], bool):
            raise self.refuse(name, " or ".join(map(repr, allowed)))
        return value

    def same(self, name: str, value: object) -> None:
        """Refuse a setting that differs from another one that it must be equal to."""
        if self.found.get(name, value) != value:
            raise self.refuse(name, repr(value))

    def rows(self, name: str) -> int:
        """Return how many rows a tensor has."""
        if name not in self.tensors or self.tensors[name].dim() != 2:
            raise DataError(f"{self.file}: there is no table {name}.", "Get both files again.")
        return len(self.tensors[name])

    def refuse(self, name: str, rule: str) -> DataError:
        """Return the error for a setting."""
        got = repr(self.found[name]) if name in self.found else "nothing"
        return DataError(
            f"{self.file}: {name} must be {rule}. Got {got}.",
            "This variant is not supported; import another model.",
        )


ACTIVATIONS = ("gelu", "relu", "relu2")


def read_bart(config: Config) -> dict[str, Any]:
    """Read Marian, Pegasus, BART or mBART."""
    kind = config.found["model_type"]
    normed, width = kind in ("bart", "mbart"), config.count("d_model")
    heads, inner = config.count("encoder_attention_heads"), config.count("encoder_ffn_dim")
    config.same("decoder_attention_heads", heads)
    config.same("decoder_ffn_dim", inner)
    config.require("tie_word_embeddings", True)
    config.require("share_encoder_decoder_embeddings", True)
    activation = config.require("activation_function", *ACTIVATIONS)
    tables = [f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")]
    shared = ["embed_positions.weight", "layernorm_embedding.weight", "layernorm_embedding.bias"]
    return {
        "width": width,
        "depth": config.count("encoder_layers"),
        "decoder_depth": config.count("decoder_layers"),
        "feed_forward": inner,
        "activation": activation,
        "norm": "layer",
        "norm_order": "pre" if kind in ("pegasus", "mbart") else "post",
        "biases": True,
        "tied": all(_is_shared(config.tensors, name) for name in shared),
        "scaled_embedding": config.require("scale_embedding", False, True),
        "dropout": config.number("dropout", 0.1),
        "writes": "all",
        "mixer": _mixer(config, heads, biases=True, dropout="attention_dropout"),
        "position": {"kind": "learned", "positions": config.rows(tables[0]) - 2 * normed},
        "embedding": {"norm": normed},
        "head": {"bias": True},
    }


def _is_shared(tensors: Tensors, name: str) -> bool:
    """Say whether encoder and decoder have equal tensors of a name."""
    pair = [tensors.get(f"model.{side}.{name}") for side in ("encoder", "decoder")]
    one, other = pair
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool((one == other).all())


def _mixer(
    config: Config, heads: int, *, biases: bool, dropout: str, **more: object
) -> dict[str, Any]:
    share = config.number(dropout, 0.0)
    return {"kind": "attention", "heads": heads, "biases": biases, "dropout": share, **more}


def read_t5(config: Config) -> dict[str, Any]:
    """Read T5; the logits are divided by √width unless the file says otherwise."""
    width, heads = config.count("d_model"), config.count("num_heads")
    config.same("d_kv", width // heads)
    forms = {"relu": "relu", "relu2": "relu2", "gelu": "gelu", "gated-silu": "swiglu"}
    form = config.require("feed_forward_proj", *forms)
    scaled = config.found.get("scale_decoder_outputs", config.found.get("tie_word_embeddings"))
    return {
        "width": width,
        "depth": config.count("num_layers"),
        "decoder_depth": config.count("num_decoder_layers", config.found.get("num_layers")),
        "feed_forward": config.count("d_ff"),
        "activation": forms[form],
        "norm": "rms",
        "norm_order": "pre",
        "norm_epsilon": config.number("layer_norm_epsilon", 1e-6),
        "biases": False,
        "scaled_embedding": scaled is not False,
        "dropout": config.number("dropout_rate", 0.1),
        "writes": "all",
        "mixer": {"kind": "attention", "heads": heads, "score": "dot"},
        "position": {
            "kind": "relative",
            "buckets": config.count("relative_attention_num_buckets", 32),
            "positions": config.count("relative_attention_max_distance", 128),
        },
    }


def read_llama(config: Config) -> dict[str, Any]:
    """Read Llama, Arcee or Qwen3."""
    kind = config.found["model_type"]
    width, heads = config.count("hidden_size"), config.count("num_attention_heads")
    config.same("num_key_value_heads", heads)
    config.same("head_dim", width // heads)
    config.require("mlp_bias", False)
    config.require("use_sliding_window", False)
    forms = {"llama": ("silu",), "arcee": ("relu2",), "qwen3": ("silu", "relu")}[kind]
    form = config.require("hidden_act", *forms)
    biases = config.require("attention_bias", False, True)
    own = "lm_head.weight" in config.tensors
    return {
        "width": width,
        "depth": config.count("num_hidden_layers"),
        "feed_forward": config.count("intermediate_size"),
        "activation": {"silu": "swiglu", "relu2": "relu2", "relu": "relu2"}[form],
        "norm": "rms",
        "norm_order": "pre",
        "norm_epsilon": config.number("rms_norm_eps", 1e-6),
        "biases": False,
        "scaled_embedding": False,
        "tied": not own,
        "dropout": 0.0,
        "writes": "all",
        "mixer": _mixer(
            config, heads, biases=biases, dropout="attention_dropout", normed=kind == "qwen3"
        ),
        "position": {"kind": "rotary", "base": _read_base(config)},
    }


def _read_base(config: Config) -> float:
    """Return the base of rotary embeddings of the plain kind."""
    found = config.found.get("rope_parameters") or config.found.get("rope_scaling") or {}
    kind = found.get("rope_type", found.get("type", "default")) if isinstance(found, dict) else None
    if kind != "default" or found.get("partial_rotary_factor", 1.0) != 1.0:
        raise config.refuse("rope_parameters", "of the type 'default', over all of a head")
    base = found.get("rope_theta", config.found.get("rope_theta", 10000.0))
    if type(base) not in (int, float) or not 1 < base < 1e12:
        raise config.refuse("rope_parameters", "with a rope_theta above 1")
    return float(base)


def read_gpt2(config: Config) -> dict[str, Any]:
    """Read GPT-2."""
    config.require("scale_attn_weights", True)
    config.require("scale_attn_by_inverse_layer_idx", False)
    width, heads = config.count("n_embd"), config.count("n_head")
    own = "lm_head.weight" in config.tensors
    return {
        "width": width,
        "depth": config.count("n_layer"),
        "feed_forward": config.count("n_inner", 4 * width),
        "activation": config.require("activation_function", *ACTIVATIONS),
        "norm": "layer",
        "norm_order": "pre",
        "norm_epsilon": config.number("layer_norm_epsilon", 1e-5),
        "biases": True,
        "scaled_embedding": False,
        "tied": not own,
        "dropout": config.number("resid_pdrop", 0.1),
        "writes": "all",
        "mixer": _mixer(config, heads, biases=True, dropout="attn_pdrop"),
        "position": {"kind": "learned", "positions": config.rows("transformer.wpe.weight")},
    }


def read_bert(config: Config) -> dict[str, Any]:
    """Read BERT, Megatron-BERT or RoBERTa-PreLayerNorm."""
    kind = config.found["model_type"]
    config.require("position_embedding_type", "absolute")
    config.require("is_decoder", False)
    config.require("add_cross_attention", False)
    offset = 1 if kind == "roberta-prelayernorm" else 0
    if offset:
        config.require("pad_token_id", 0)
    tied = not any("decoder.weight" in name for name in config.tensors)
    heads = config.count("num_attention_heads")
    dropout = "attention_probs_dropout_prob"
    return {
        "width": config.count("hidden_size"),
        "depth": config.count("num_hidden_layers"),
        "feed_forward": config.count("intermediate_size"),
        "activation": config.require("hidden_act", *ACTIVATIONS),
        "norm": "layer",
        "norm_order": "post" if kind == "bert" else "pre",
        "norm_epsilon": config.number("layer_norm_eps", 1e-12),
        "biases": True,
        "scaled_embedding": False,
        "tied": tied,
        "dropout": config.number("hidden_dropout_prob", 0.1),
        "mixer": _mixer(config, heads, biases=True, dropout=dropout),
        "position": {
            "kind": "learned",
            "positions": config.count("max_position_embeddings") - offset,
        },
        "embedding": {
            "segments": config.count("type_vocab_size", 2),
            "norm": kind != "megatron-bert",
        },
    }


class Reader(NamedTuple):
    """How a ``model_type`` is read."""

    read: Callable[[Config], dict[str, Any]]
    copies: Mapping[str, str]
    """Tensors that are stored again, or not at all, and the ones that they equal."""


_SHARED = "model.shared.weight"
_BARTS = {
    "model.encoder.embed_tokens.weight": _SHARED,
    "model.decoder.embed_tokens.weight": _SHARED,
    "lm_head.weight": _SHARED,
}
_T5 = {
    "encoder.embed_tokens.weight": "shared.weight",
    "decoder.embed_tokens.weight": "shared.weight",
    "lm_head.weight": "shared.weight",
}
_BERTS = {
    "cls.predictions.decoder.bias": "cls.predictions.bias",
    "lm_head.decoder.bias": "lm_head.bias",
}
READERS = {
    **dict.fromkeys(("marian", "pegasus", "bart", "mbart"), Reader(read_bart, _BARTS)),
    "t5": Reader(read_t5, _T5),
    **dict.fromkeys(("llama", "arcee", "qwen3"), Reader(read_llama, {})),
    "gpt2": Reader(read_gpt2, {}),
    **dict.fromkeys(("bert", "megatron-bert", "roberta-prelayernorm"), Reader(read_bert, _BERTS)),
}
