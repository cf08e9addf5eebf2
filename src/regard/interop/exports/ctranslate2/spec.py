"""A run as a CTranslate2 model, written through CTranslate2's own specification classes.

    queries, keys, values    one matrix, stacked         relu2(x)    relu(x)·x, a gated unit whose
    rotary                   in pairs, as ours                       two matrices are one
    LayerNorm without bias   beta = 0                    tokens that cannot be written    bias -1e4

Translators, language models and the bodies of encoders; the tokens of the folder are those of
``tokenizer.json``.
"""

from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.errors import UsageError
from regard.files import write_whole
from regard.interop.exports.ctranslate2.fit import CAUSAL, ENCODERS, find_obstacles
from regard.layers.attention import Attention
from regard.layers.block import Block
from regard.layers.distance import RelativeBuckets
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import RMSNorm
from regard.layers.pooling import Cls
from regard.layers.position import Added, Learned
from regard.models.heads import TokenHead
from regard.models.stack import Stack
from regard.recipe.model import AttentionSettings, ModelSettings, RelativeSettings, RotarySettings
from regard.recipe.recipe import Recipe
from regard.recipe.tasks import ENCODER_DECODERS
from regard.text.special import BEGIN, END, SPECIAL, UNKNOWN
from regard.text.tokenizer import Tokenizer

VOCABULARY_MAP = "vmap.txt"
"""The tokens that can be written, for ``use_vmap``: the output layer then computes no others."""
UNWRITTEN = -1e4
"""Bias of a token outside the output vocabulary: its probability is 0 in float32."""
Quantization = Literal["float32", "int8"]
Spec = Any
"""One of CTranslate2's specifications, which are not typed."""


def write_ctranslate2(
    recipe: Recipe,
    model: nn.Module,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    quantization: Quantization = "float32",
) -> None:
    """Write a model into an existing folder; refuse a recipe that does not fit."""
    specs = import_ctranslate2().specs
    for obstacle in find_obstacles(recipe):
        raise UsageError(
            f"{obstacle.setting} = {obstacle.value!r} does not fit CTranslate2: {obstacle.reason}.",
            f"{obstacle.remedy} Then train again, or export to another target.",
        )
    positions = recipe.text.max_length + 1
    spec = _Writer(specs, recipe.model, positions).write(recipe.task, model)
    _name_tokens(spec, tokenizer.spelled, recipe)
    if recipe.model.norm_epsilon is not None:
        spec.config.layer_norm_epsilon = recipe.model.norm_epsilon
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(folder))
    written = getattr(getattr(model, "head", None), "written", None)
    if written is not None and recipe.task in ENCODER_DECODERS:
        tokens = " ".join(tokenizer.spelled[id] for id in written.tolist())
        write_whole(folder / VOCABULARY_MAP, f"\t{tokens}\n")  # for any source


def import_ctranslate2() -> ModuleType:
    """Import CTranslate2, which is an extra."""
    try:
        import ctranslate2
        import ctranslate2.specs
    except ImportError:
        raise UsageError(
            "this needs the extra ctranslate2, which is not installed.",
            "Install it with `pip install 'regard[ctranslate2]'`.",
        ) from None
    return ctranslate2


def _name_tokens(spec: Spec, tokens: list[str], recipe: Recipe) -> None:
    config = spec.config
    config.unk_token, config.eos_token = SPECIAL[UNKNOWN], SPECIAL[END]
    if recipe.task in (*CAUSAL, *ENCODERS):
        config.bos_token = SPECIAL[END]  # a text begins where another ended
        spec.register_vocabulary(tokens)
        return
    config.bos_token = config.decoder_start_token = SPECIAL[BEGIN]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)


class _Writer:
    """Fills specifications with the parameters of a model.

    Args:
        specs: The module of CTranslate2's specifications.
        settings: The settings of the model.
        positions: Most tokens of a text; position tables have as many rows.

    """

    def __init__(self, specs: ModuleType, settings: ModelSettings, positions: int) -> None:
        self.specs, self.settings, self.positions = specs, settings, positions

    def write(self, task: str, model: nn.Module) -> Spec:
        """Return the specification of a whole model."""
        parts: Any = model
        if task in CAUSAL:
            decoder = self._decoder(parts.body.stack, parts.body.reading, parts.head, crosses=False)
            return self.specs.TransformerDecoderModelSpec(decoder)
        if task in ENCODERS:
            encoder = self._encoder(parts.body.stack, parts.body.reading)
            pool = getattr(parts, "pool", None)
            spec = self.specs.TransformerEncoderModelSpec(encoder, isinstance(pool, Cls))
            if isinstance(pool, Cls):
                self._linear(spec.pooler_dense, pool.dense)
            return spec
        encoder = self._encoder(parts.encoder, parts.reading)
        decoder = self._decoder(parts.decoder, parts.writing, parts.head, crosses=True)
        return self.specs.TransformerSpec(encoder, decoder)

    def _options(self) -> dict[str, Any]:
        """Return what encoder and decoder have in common."""
        settings, mixer = self.settings, self.settings.mixer
        assert isinstance(mixer, AttentionSettings)
        activation = self.specs.Activation
        options: dict[str, Any] = {
            "pre_norm": settings.norm_order == "pre",
            "no_final_norm": not settings.last_norm,
            "activation": {
                "relu": activation.RELU,
                "relu2": activation.RELU,
                "gelu": activation.GELU,
                "swiglu": activation.SWISH,
            }[settings.activation],
            "ffn_glu": settings.activation in ("relu2", "swiglu"),
            "rms_norm": settings.norm == "rms",
            "layernorm_embedding": settings.embedding.norm,
            "qk_norm": mixer.normed,
            "relative_attention_bias": isinstance(settings.position, RelativeSettings),
        }
        if isinstance(settings.position, RotarySettings):
            options |= {"rotary_dim": 0, "rotary_base": settings.position.base}
        return options

    def _encoder(self, stack: Stack, reading: Embedding) -> Spec:
        assert isinstance(self.settings.mixer, AttentionSettings)
        kinds = self.settings.embedding.segments > 0
        spec = self.specs.TransformerEncoderSpec(
            len(stack.blocks),
            self.settings.mixer.heads,
            num_source_embeddings=1 + kinds,
            embeddings_merge=self.specs.EmbeddingsMerge.ADD,
            **self._options(),
        )
        spec.embeddings[0].weight = _array(reading.table)
        if reading.segments is not None:  # they are scaled there, with the table
            spec.embeddings[1].weight = _array(reading.segments / reading.scale)
        self._stack(spec, stack, reading)
        return spec

    def _decoder(self, stack: Stack, writing: Embedding, head: TokenHead, *, crosses: bool) -> Spec:
        assert isinstance(self.settings.mixer, AttentionSettings)
        spec = self.specs.TransformerDecoderSpec(
            len(stack.blocks),
            self.settings.mixer.heads,
            with_encoder_attention=crosses,
            alibi=self.settings.position.kind == "alibi",
            **self._options(),
        )
        spec.embeddings.weight = _array(writing.table)
        matrix = writing.table if head.to_logits is None else head.to_logits.weight
        spec.projection.weight = _array(matrix)
        if (bias := _bias_of(head)) is not None:
            spec.projection.bias = bias
        if head.soft_cap:
            spec.final_logit_softcapping = np.float32(head.soft_cap)
        self._stack(spec, stack, writing)
        return spec

    def _stack(self, spec: Spec, stack: Stack, embedding: Embedding) -> None:
        spec.scale_embeddings = embedding.scale != 1.0
        if embedding.norm is not None:
            self._norm(spec.layernorm_embedding, embedding.norm)
        rotates = isinstance(self.settings.position, RotarySettings)
        if hasattr(spec, "position_encodings") and not rotates:
            spec.position_encodings.encodings = self._positions(embedding)
        if hasattr(spec, "layer_norm"):
            self._norm(spec.layer_norm, stack.norm)
        for layer, block in zip(spec.layer, stack.blocks, strict=True):
            assert isinstance(block, Block)
            self._attention(layer.self_attention, block.mixer.part, block.mixer.norm)
            if block.cross is not None:
                self._attention(layer.attention, block.cross.part, block.cross.norm, crosses=True)
            self._feed_forward(layer.ffn, block.feed_forward.part, block.feed_forward.norm)

    def _positions(self, embedding: Embedding) -> NDArray[np.float32]:
        """Return a row per position: without a table CTranslate2 would add sinusoids of its own."""
        place = embedding.place
        if not isinstance(place, Added):
            return np.zeros((self.positions, self.settings.width), np.float32)
        most = len(place.table.table) if isinstance(place.table, Learned) else self.positions
        return _array(place.table(most))

    def _attention(
        self, spec: Spec, attention: nn.Module, norm: nn.Module, *, crosses: bool = False
    ) -> None:
        assert isinstance(attention, Attention)
        assert isinstance(self.settings.mixer, AttentionSettings)
        self._norm(spec.layer_norm, norm)
        query, key, value = attention.to_query, attention.to_key, attention.to_value
        together = [[query], [key, value]] if crosses else [[query, key, value]]
        for linear, parts in zip(spec.linear, [*together, [attention.to_output]], strict=True):
            linear.weight = _array(torch.cat([part.weight for part in parts]))
            if attention.to_output.bias is not None:
                linear.bias = _array(torch.cat([part.bias for part in parts]))
        if attention.norm_query is not None and attention.norm_key is not None:
            self._norm(spec.q_norm, attention.norm_query)
            self._norm(spec.k_norm, attention.norm_key)
        if self.settings.mixer.score == "dot":
            spec.queries_scale = np.float32(1.0)
        if isinstance(attention.bias, RelativeBuckets):
            spec.relative_attention_bias = _array(attention.bias.table.T)
            spec.relative_attention_max_distance = np.dtype("int32").type(attention.bias.farthest)

    def _feed_forward(self, spec: Spec, part: nn.Module, norm: nn.Module) -> None:
        assert isinstance(part, FeedForward)
        self._norm(spec.layer_norm, norm)
        self._linear(spec.linear_0, part.to_inner if part.to_gate is None else part.to_gate)
        self._linear(spec.linear_1, part.to_output)
        if self.settings.activation in ("relu2", "swiglu"):
            self._linear(spec.linear_0_noact, part.to_inner)

    def _norm(self, spec: Spec, norm: nn.Module) -> None:
        assert isinstance(norm, nn.LayerNorm | RMSNorm)
        spec.gamma = _array(norm.weight)
        if isinstance(norm, nn.LayerNorm):
            bias = torch.zeros_like(norm.weight) if norm.bias is None else norm.bias
            spec.beta = _array(bias)

    def _linear(self, spec: Spec, layer: nn.Linear) -> None:
        spec.weight = _array(layer.weight)
        if layer.bias is not None:
            spec.bias = _array(layer.bias)


def _bias_of(head: TokenHead) -> NDArray[np.float32] | None:
    """Return the bias of each token, which also keeps tokens from being written."""
    if head.bias is None and head.written is None:
        return None
    bias = torch.zeros(head.tokens) if head.bias is None else head.bias.detach().cpu().clone()
    if head.written is not None:
        unwritten = torch.ones(head.tokens, dtype=torch.bool)
        unwritten[head.written.cpu()] = False
        bias[unwritten] = UNWRITTEN
    return _array(bias)


def _array(tensor: Tensor) -> NDArray[np.float32]:
    """Return a copy of its own, contiguous: CTranslate2 writes the bytes as they lie."""
    return np.array(tensor.detach().cpu().float().numpy(), dtype=np.float32, order="C")
