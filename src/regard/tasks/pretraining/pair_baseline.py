"""The baseline of sentence pairs: topical similarity of A and B, whatever their order.

    bag(span)    = tf-idf vector of its tokens, of length one
    topic(span)  = bag · T, T the first singular vectors of the bags      (latent semantic analysis)
    features     = bag(A)·bag(B), topic(A)·topic(B), topic(A) ⊙ topic(B),
                   the share of A's bag that is in B, and of B's that is in A
    p(B follows) = σ(w·features + b)                                          logistic regression

A next-sentence score that does not exceed this one needs topic alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.tasks.baselines.lbfgs import descend
from regard.tasks.pretraining.rows import Rows
from regard.text.special import SPECIAL

TOPICS = 32
ROUNDS, FLAT, RIDGE = 200, 1e-4, 1e-3


class Bags(NamedTuple):
    """Token counts of both spans, without special tokens."""

    first: Float[Tensor, "pair token"]
    second: Float[Tensor, "pair token"]


def bags_of(rows: Rows, *, tokens: int) -> Bags:
    """Count the tokens of both spans of every row."""
    written = rows.original
    kept = (written >= len(SPECIAL)).float()
    counts = [
        torch.zeros(len(written), tokens).scatter_add_(1, written, kept * (rows.segments == side))
        for side in (0, 1)
    ]
    return Bags(*counts)


class PairBaseline:
    """Logistic regression on the similarity of two spans.

    Args:
        rarity: The inverse document frequency of every token.
        topics: The weight of each token in every topic.
        weights: One per feature.
        bias: Of the regression.

    """

    def __init__(self, rarity: Tensor, topics: Tensor, weights: Tensor, bias: Tensor) -> None:
        self.rarity, self.topics, self.weights, self.bias = rarity, topics, weights, bias

    def parameters(self) -> dict[str, Tensor]:
        """Return the tensors to store."""
        return {f"pair_{name}": tensor for name, tensor in vars(self).items()}

    def count_correct(self, rows: Rows) -> int:
        """Count the rows that are classified correctly."""
        found = features(bags_of(rows, tokens=len(self.rarity)), self.rarity, self.topics)
        predicted = found @ self.weights + self.bias > 0
        return int((predicted == (rows.labels == 1)).sum())


def fit_pair_baseline(several: Sequence[Rows], *, tokens: int) -> PairBaseline:
    """Fit inverse document frequencies, topics and the regression on training pairs."""
    met, spans = torch.ones(tokens), 1.0
    for rows in several:
        for bag in bags_of(rows, tokens=tokens):
            met += (bag > 0).sum(dim=0)
            spans += len(bag)
    rarity = torch.log(1 + spans / met)
    topics = _topics(several, rarity)
    found = torch.cat([features(bags_of(r, tokens=tokens), rarity, topics) for r in several])
    labels = torch.cat([rows.labels for rows in several]).to(found.dtype)
    mean, spread = found.mean(dim=0), found.std(dim=0) + 1e-6
    weights = _regress((found - mean) / spread, labels)
    weights, bias = weights[:-1] / spread, weights[-1]
    return PairBaseline(rarity, topics, weights, bias - mean @ weights)


def features(bags: Bags, rarity: Tensor, topics: Tensor) -> Float[Tensor, "pair feature"]:
    """Compare the two spans of every pair."""
    a, b = (nn.functional.normalize(bag * rarity) for bag in bags)
    one, other = nn.functional.normalize(a @ topics), nn.functional.normalize(b @ topics)
    in_both = (bags.first > 0) & (bags.second > 0)
    shares = [
        (bag * rarity * in_both).sum(1) / (bag * rarity).sum(1).clamp(min=1e-6) for bag in bags
    ]
    alike = [(a * b).sum(dim=1), (one * other).sum(dim=1), *shares]
    return torch.cat([torch.stack(alike, dim=1), one * other], dim=1)


def _topics(several: Sequence[Rows], rarity: Tensor) -> Float[Tensor, "token topic"]:
    """Find the first singular vectors by subspace iteration, a batch at a time."""
    generator = torch.Generator().manual_seed(0)
    size = min(TOPICS, len(rarity))
    directions = torch.randn(len(rarity), size, generator=generator)
    for _ in range(4):
        directions = torch.linalg.qr(directions).Q
        grown = torch.zeros_like(directions)
        for rows in several:
            first, second = bags_of(rows, tokens=len(rarity))
            together = nn.functional.normalize((first + second) * rarity)
            grown += together.T @ (together @ directions)
        directions = grown
    return torch.linalg.qr(directions).Q


def _regress(found: Tensor, labels: Tensor) -> Float[Tensor, " more"]:
    """Minimize the mean of -log p(label) with L2 regularization; the last weight is the bias."""
    found = torch.cat([found, torch.ones(len(found), 1)], dim=1)

    def loss_and_gradient(weights: Tensor) -> tuple[float, Tensor]:
        logits = found @ weights
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        gradient = found.T @ (logits.sigmoid() - labels) / len(found)
        return float(loss + RIDGE * weights.square().sum() / 2), gradient + RIDGE * weights

    return descend(loss_and_gradient, torch.zeros(found.shape[1]), rounds=ROUNDS, flat=FLAT)
