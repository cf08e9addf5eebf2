"""Losses, as sums over real tokens with their count.

So gradient accumulation over shards changes nothing but the rounding.

    target = (1 - ε)·one_hot(y) + ε/V          label smoothing (Szegedy et al. 2016)
    loss   = log Σ exp(logits) - target·logits
    R-Drop = ½ Σ (p - q)·(log p - log q)      of two passes (Liang et al. 2021)
    sampled logits = logits(c) - log π(c), over the tokens c that are targets of the step
    π(c) = 1 - (1 - frequency of c)^targets  the probability that c is among them (Jean et al. 2015)

With label smoothing the minimum is not zero but the entropy of the smoothed target: 1.154 nats at
ε = 0.1 and 4,000 tokens.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.heads import TokenHead


class Loss(NamedTuple):
    """What a batch lost."""

    smoothed: Float[Tensor, ""]
    """The sum that is learned from."""
    plain: float
    """The sum of -log p(target), without smoothing: what perplexity is made of."""
    tokens: int
    """How many targets were summed."""


def cross_entropy(
    logits: Float[Tensor, "token vocabulary"],
    targets: Int[Tensor, " token"],
    *,
    smoothing: float = 0.0,
) -> Loss:
    """Sum -target·log p over all tokens: the equation above."""
    log_p = logits.log_softmax(dim=-1)
    plain = -log_p.gather(-1, targets[:, None]).sum()
    smoothed = (1 - smoothing) * plain - smoothing * log_p.mean(dim=-1).sum()
    return Loss(smoothed, float(plain.detach()), len(targets))


def linear_cross_entropy(
    states: Float[Tensor, "token width"],
    matrix: Float[Tensor, "vocabulary width"],
    targets: Int[Tensor, " token"],
    *,
    smoothing: float = 0.0,
) -> Loss:
    """Do the same for logits = states·matrixᵀ, some rows at a time: they are never all there.

    The logits are the largest thing a small model makes. A few hundred rows fit the processor's
    cache, and their gradient is taken while they are still there.
    """
    smoothed, plain = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states, matrix, targets, smoothing
    )
    return Loss(smoothed, float(plain), len(targets))


ROWS = 384  # of logits at a time: 6 MB at 4,000 tokens


def consistency(
    first: Float[Tensor, "row label"], second: Float[Tensor, "row label"]
) -> Float[Tensor, ""]:
    """Sum ½ (KL(p, q) + KL(q, p)) over rows of logits: how far two passes are apart."""
    log_p, log_q = first.log_softmax(dim=-1), second.log_softmax(dim=-1)
    return 0.5 * ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum()


def head_loss(
    head: TokenHead,
    states: Tensor,
    targets: Tensor,
    *,
    smoothing: float = 0.0,
    shares: Float[Tensor, " writable"] | None = None,
) -> Loss:
    """Return the cross-entropy of a head at ``targets``, fused where logits are not capped.

    With ``shares``, the token frequencies, the softmax is sampled: over the targets of the step
    only, with logits corrected for how probably a token is among them.
    """
    states, matrix, biases = head.transform_states(states), head.matrix, head.biases
    rarity: Tensor | None = None
    if shares is not None:
        sampled, targets = targets.unique(return_inverse=True)
        rarity = -_log_included(shares[sampled.cpu()], len(targets)).to(states)
        matrix = matrix.index_select(0, sampled)
        biases = None if biases is None else biases.index_select(0, sampled)
    if head.soft_cap:
        logits = head.cap_logits(torch.nn.functional.linear(states, matrix, biases))
        logits = logits if rarity is None else logits + rarity
        return cross_entropy(logits, targets, smoothing=smoothing)
    if rarity is not None:
        biases = rarity if biases is None else biases + rarity
    if biases is not None:  # a bias is one more feature, which every state has
        states = torch.cat([states, states.new_ones(len(states), 1)], dim=1)
        matrix = torch.cat([matrix, biases[:, None]], dim=1)
    return linear_cross_entropy(states, matrix, targets, smoothing=smoothing)


def _log_included(shares: Float[Tensor, " row"], targets: int) -> Float[Tensor, " row"]:
    """Return log [1 - (1 - share)^targets]; in float64, since most shares are tiny."""
    missed = targets * torch.log1p(-shares.double().clamp(max=1 - 1e-12))
    return torch.log(-torch.expm1(missed))


class _LinearCrossEntropy(torch.autograd.Function):
    """Takes the gradient on the way forward, when it will be wanted at all."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives no type for it
        states: Tensor,
        matrix: Tensor,
        targets: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        wanted = any(ctx.needs_input_grad)
        plain, even = states.new_zeros(()), states.new_zeros(())
        to_states = torch.empty_like(states) if wanted else states
        to_matrix = torch.zeros_like(matrix) if wanted else matrix
        logits = states.new_empty(min(ROWS, len(states)), len(matrix))
        for begin in range(0, len(states), ROWS):
            rows = slice(begin, begin + ROWS)
            chosen = targets[rows, None]
            scores = torch.mm(states[rows], matrix.T, out=logits[: len(chosen)])
            log_p = scores.log_softmax(dim=-1)
            plain -= log_p.gather(-1, chosen).sum()
            even -= log_p.mean(dim=-1).sum()
            if wanted:
                gradient = log_p.exp_()
                if smoothing:
                    gradient -= smoothing / len(matrix)
                gradient.scatter_add_(1, chosen, gradient.new_full(chosen.shape, smoothing - 1))
                torch.mm(gradient, matrix, out=to_states[rows])
                to_matrix.addmm_(gradient.T, states[rows])
        ctx.save_for_backward(to_states, to_matrix)
        ctx.mark_non_differentiable(plain)
        return (1 - smoothing) * plain + smoothing * even, plain

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        grown: Tensor,
        _plain: Tensor,
    ) -> tuple[Tensor, Tensor, None, None]:
        to_states, to_matrix = ctx.saved_tensors
        return to_states * grown, to_matrix * grown, None, None
