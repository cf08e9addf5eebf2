"""Looks that stay sharp in long texts: scores grow with the logarithm of what can be seen.

    weights = softmax(log n · scores),   n visible keys          (Chiang and Cholak 2022, §5)

Among n keys a lead of s in the scores is worth exp(s) / (exp(s) + n - 1) of the look, which goes to
0 as n grows. Multiplied by log n it is worth n^s / (n^s + n - 1), which goes to 1 for every s > 1.
"""

from regard.layers.attention import Scores, Visible, softmax


def log_length(scores: Scores, visible: Visible) -> Scores:
    """Look everywhere visible; the more there is to see, the more the higher scores count."""
    seen = visible.sum(dim=-1, keepdim=True).clamp(min=1)
    return softmax(scores * seen.to(scores.dtype).log(), visible)
