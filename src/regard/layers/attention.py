"""Attention: the output of a query is a weighted mean of the values of all keys it may attend to.

    scores  = score(query, key) + bias        compatibility of each query and key
    weights = select(scores, visible)         attention weights; each row sums to one
    mixed   = weights · value                 output of each query

Every model uses :func:`attend`: the translator and the GPT with projected states as queries, HAN
and the structured sentence embedding with learned ones.

Axes: ``batch``, ``head``, ``query``, ``key``, ``feature`` (of queries and keys), ``content`` (of
values), ``width`` (of a state). A singular names an axis; its plural counts it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.memory import Memory
from regard.layers.norm import RMSNorm
from regard.layers.position import Rotary
from regard.layers.tap import Tap
from regard.layers.visibility import Rule, causal

Queries = Float[Tensor, "batch head query feature"]
Keys = Float[Tensor, "batch head key feature"]
Values = Float[Tensor, "batch head key content"]
Scores = Float[Tensor, "batch head query key"]
Visible = Bool[Tensor, "#batch #head #query key"]
"""True where a query may attend. Rules combine with ``&``; see :mod:`regard.layers.visibility`."""

Score = Callable[[Tensor, Tensor], Tensor]
Select = Callable[[Tensor, Tensor], Tensor]


class AttentionOutput(NamedTuple):
    """Output and attention weights."""

    mixed: Float[Tensor, "batch head query content"]
    weights: Scores


def attend(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    score: Score,
    select: Select,
    visible: Visible,
    bias: Float[Tensor, "#batch #head query key"] | None = None,
) -> AttentionOutput:
    """Return the mean of ``value``, weighted by the scores of ``query`` and ``key``."""
    scores = score(query, key)
    if bias is not None:
        scores = scores + bias
    weights = select(scores, visible)
    return AttentionOutput(weights @ value, weights)


def fused(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    visible: Visible | None,
    bias: Float[Tensor, "#batch #head query key"] | None = None,
) -> Float[Tensor, "batch head query content"]:
    """Return the output of :func:`attend` for scaled dot and softmax by torch's fused kernel.

    Without ``visible`` attention is causal, and the kernel skips masked keys.
    """
    if visible is None:
        return nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    mask = visible
    if bias is not None:
        mask = bias.to(query.dtype).masked_fill(~visible, -math.inf)
    return nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


# ── score: compatibility of a query and a key ────────────────────────────────────────────────────


def scaled_dot(query: Queries, key: Keys) -> Scores:
    """q·k / √features  (Vaswani et al. 2017, eq. 1)."""
    return dot(query, key) / math.sqrt(query.shape[-1])


def dot(query: Queries, key: Keys) -> Scores:
    """q·k, unscaled  (Luong et al. 2015, eq. 8)."""
    return query @ key.mT


class Additive(nn.Module):
    """vᵀ tanh(q + k)  (Bahdanau et al. 2015, A.1.2; their W and U are :class:`Attention`'s own).

    Args:
        heads: Number of heads, each with a v of its own.
        features: Size of one head.

    """

    def __init__(self, heads: int, features: int) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.empty(heads, features).normal_(std=features**-0.5))

    def forward(self, query: Queries, key: Keys) -> Scores:
        hidden = torch.tanh(query[:, :, :, None, :] + key[:, :, None, :, :])
        return (hidden @ self.v[:, None, :, None]).squeeze(-1)


# ── select: from scores to attention weights ─────────────────────────────────────────────────────


def softmax(scores: Scores, visible: Visible) -> Scores:
    """Return the softmax over visible keys; all weights are 0 if no key is visible."""
    hidden = torch.finfo(scores.dtype).min
    return scores.masked_fill(~visible, hidden).softmax(dim=-1) * visible


def log_length(scores: Scores, visible: Visible) -> Scores:
    """Softmax of scores multiplied by log n, n visible keys (Chiang and Cholak 2022, §5).

    A key whose score exceeds all others by s has the weight exp(s) / (exp(s) + n - 1), which goes
    to 0 as n grows; with the factor it is n^s / (n^s + n - 1), which goes to 1 for every s > 1.
    """
    seen = visible.sum(dim=-1, keepdim=True).clamp(min=1)
    return softmax(scores * seen.to(scores.dtype).log(), visible)


def argmax(scores: Scores, visible: Visible) -> Scores:
    """Hard attention: all weight on the best key, the gradient of softmax (straight-through)."""
    soft = softmax(scores, visible)
    hard = nn.functional.one_hot(soft.argmax(dim=-1), soft.shape[-1]) * visible
    return soft - soft.detach() + hard


# ── the layer ────────────────────────────────────────────────────────────────────────────────────


class Equation(NamedTuple):
    """The functions of attention: score, and selection of the weights."""

    score: Score = scaled_dot
    select: Select = softmax


class PositionScheme(NamedTuple):
    """How attention encodes positions: rotated queries and keys, a bias on scores, or neither."""

    rotary: Rotary | None = None
    bias: nn.Module | None = None
    """Called with (queries, keys); see :mod:`regard.layers.distance`."""


class Projections(NamedTuple):
    """Options of the linear projections."""

    biases: bool = False
    normed: bool = False
    """Whether queries and keys are normalised per head (QK-norm, Henry et al. 2020)."""


_DEFAULT_EQUATION = Equation()
_DEFAULT_PROJECTIONS = Projections()


class Attention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head₁ … headₕ) Wᴼ  (Vaswani et al. 2017, §3.2.2).

    Args:
        width: Size of one state.
        heads: Number of heads; must divide ``width``.
        equation: Score and selection of the weights.
        rule: Mask in addition to the caller's: causal, a window, or both.
        place: Position encoding of queries, keys and scores; cross-attention supports rotary only.
        projections: Whether projections have biases, and whether queries and keys are normalised.
        dropout: Share of the weights dropped while training.

    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        equation: Equation = _DEFAULT_EQUATION,
        rule: Rule | None = None,
        place: PositionScheme | None = None,
        projections: Projections = _DEFAULT_PROJECTIONS,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(
                f"heads must divide width, so that every head has the same number of features. "
                f"Got width={width}, heads={heads}; the next width that fits is "
                f"{math.ceil(width / heads) * heads}."
            )
        self.heads, self.rule = heads, rule
        self.score, self.select = equation
        self.rotary, self.bias = place or PositionScheme()
        self.to_query = nn.Linear(width, width, bias=projections.biases)
        self.to_key = nn.Linear(width, width, bias=projections.biases)
        self.to_value = nn.Linear(width, width, bias=projections.biases)
        self.to_output = nn.Linear(width, width, bias=projections.biases)
        self.norm_query = RMSNorm(width // heads) if projections.normed else None
        self.norm_key = RMSNorm(width // heads) if projections.normed else None
        self.dropout = Dropout(dropout)
        self.weights = Tap()

    def forward(
        self,
        states: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch source width"] | None = None,
        *,
        visible: Visible,
        memory: Memory | None = None,
    ) -> Float[Tensor, "batch query width"]:
        """Attend from ``states`` to ``context``, or to ``states`` themselves (self-attention).

        With ``memory`` (a KV cache), ``states`` are the new positions only, and ``visible`` covers
        all keys, old and new. Keys of a context are cached on the first call; later calls may omit
        the context.
        """
        start = memory.positions if memory is not None else 0
        if memory is not None:
            memory.positions += states.shape[1]
        if context is None and not (memory and "context key" in memory):
            key, value = self._project_own(states, memory, start)
        else:
            key, value = self._project_context(context, memory)
        query = self._encode_heads(self.to_query(states), self.norm_query, start)
        return self.to_output(self._join(self._attend(query, key, value, visible)))

    def _attend(self, query: Queries, key: Keys, value: Values, visible: Visible) -> Queries:
        queries, keys = query.shape[2], key.shape[2]
        if self._fusible and self._only_causal(queries, keys, visible):
            return fused(query, key, value, visible=None)
        if self.rule is not None:
            visible = visible & self.rule(queries, keys, device=visible.device)
        bias = self.bias(queries, keys) if self.bias is not None else None
        if self._fusible:
            return fused(query, key, value, visible=visible, bias=bias)
        attended = attend(
            query, key, value, score=self.score, select=self._select, visible=visible, bias=bias
        )
        self.weights(attended.weights)
        return attended.mixed

    @property
    def _fusible(self) -> bool:
        """Whether torch's kernel computes the same, and no hook records the weights."""
        drops = self.training and self.dropout.share > 0
        plain = self.score is scaled_dot and self.select is softmax
        return plain and not drops and not self.weights.has_listener

    def _only_causal(self, queries: int, keys: int, visible: Visible) -> bool:
        """Whether attention is masked by the causal rule alone; only small masks are checked."""
        ruled = self.rule is causal and self.bias is None and queries == keys
        return ruled and visible.shape[2] == 1 and bool(visible.all())

    def _select(self, scores: Scores, visible: Visible) -> Scores:
        return self.dropout(self.select(scores, visible))

    def _project_own(
        self, states: Tensor, memory: Memory | None, start: int
    ) -> tuple[Tensor, Tensor]:
        """Return keys and values of the sequence itself, cached ones first."""
        key = self._encode_heads(self.to_key(states), self.norm_key, start)
        value = self._split(self.to_value(states))
        if memory is None:
            return key, value
        return memory.append("key", key, dim=2), memory.append("value", value, dim=2)

    def _project_context(
        self, context: Tensor | None, memory: Memory | None
    ) -> tuple[Tensor, Tensor]:
        """Return keys and values of the context, computed once."""
        if memory and "context key" in memory:
            return memory["context key"], memory["context value"]
        assert context is not None
        key = self._encode_heads(self.to_key(context), self.norm_key, 0)
        value = self._split(self.to_value(context))
        if memory is not None:
            memory["context key"], memory["context value"] = key, value
        return key, value

    def _encode_heads(self, states: Tensor, norm: nn.Module | None, start: int) -> Tensor:
        """Split into heads, normalise them and rotate them by their positions."""
        if norm is not None:
            states = norm(states.unflatten(-1, (self.heads, -1))).flatten(-2)
        heads = self._split(states)
        return heads if self.rotary is None else self.rotary(heads, start=start)

    def _split(
        self, states: Float[Tensor, "batch position width"]
    ) -> Float[Tensor, "batch head position feature"]:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _join(
        self, heads: Float[Tensor, "batch head position feature"]
    ) -> Float[Tensor, "batch position width"]:
        return heads.transpose(1, 2).flatten(-2)
