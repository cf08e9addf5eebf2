"""Position encodings on the states, and on queries and keys.

    states           x(t) + p(t) or [x(t), p(t)]; p learned, or sinusoids (Vaswani 2017, §3.5):
                     p(t)[2m] = sin(λₘt), p(t)[2m+1] = cos(λₘt), λₘ = 10000^(-2m/width)
    shift            T(k) p(t) = p(t+k): every pair of sinusoids is rotated by λₘk
    query and key    pairs of features are rotated by λₘt, so that q(t)·k(s) depends on t - s only
                     (rotary: Su et al. 2021, eq. 34)

Encodings on the scores are in :mod:`regard.layers.distance`.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

_BASE = 10000.0


# ── on the states ────────────────────────────────────────────────────────────────────────────────


class Sinusoidal(nn.Module):
    """Fixed sinusoids; sine and cosine of one frequency are adjacent.

    Args:
        width: Size of a position's vector; even, as sinusoids come in pairs.

    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.waves = _Waves(width, _BASE)

    def forward(self, positions: int, *, start: int = 0) -> Float[Tensor, "position width"]:
        """Return the vectors of ``positions`` positions, the first of which is ``start``."""
        return self.waves(positions, start=start).flip(-1).flatten(-2)


class Learned(nn.Module):
    """One learned vector per position (Gehring et al. 2017).

    Args:
        positions: Number of positions.
        width: Size of a position's vector.

    """

    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.table = nn.Parameter(torch.empty(positions, width).normal_(std=width**-0.5))

    def forward(self, positions: int, *, start: int = 0) -> Float[Tensor, "position width"]:
        """Return the vectors of ``positions`` positions, the first of which is ``start``."""
        if start + positions > len(self.table):
            raise ValueError(
                f"A text may have at most as many positions as there are position embeddings. Got "
                f"{start + positions}, table of {len(self.table)}; shorten the text or train with "
                f"more positions."
            )
        return self.table[start : start + positions]


class Added(nn.Module):
    """x(t) + p(t).

    Args:
        table: The position vectors, as wide as the states.

    """

    def __init__(self, table: Sinusoidal | Learned) -> None:
        super().__init__()
        self.table = table

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        start: int = 0,
        at: Int[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Encode the positions from ``start`` on, or those in ``at``."""
        return states + _vectors(self.table, states, start, at)


class Concatenated(nn.Module):
    """[x(t), p(t)]: states grow by the width of the position vectors.

    Args:
        table: The position vectors, of any width.

    """

    def __init__(self, table: Sinusoidal | Learned) -> None:
        super().__init__()
        self.table = table

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        start: int = 0,
        at: Int[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "batch position wider"]:
        """Encode the positions from ``start`` on, or those in ``at``."""
        places = _vectors(self.table, states, start, at)
        return torch.cat([states, places.to(states.dtype).expand(len(states), -1, -1)], dim=-1)


def _vectors(table: Sinusoidal | Learned, states: Tensor, start: int, at: Tensor | None) -> Tensor:
    if at is None:
        return table(states.shape[1], start=start)
    return table(int(at.max()) + 1 if at.numel() else 0)[at]


def shift_operator(k: int, width: int) -> Float[Tensor, "width width"]:
    """T(k) = blockdiag [[cos λₘk, sin λₘk], [-sin λₘk, cos λₘk]], so that T(k) e(t) = e(t+k)."""
    angles = k * _frequencies(width, _BASE)
    cosine, sine = torch.cos(angles), torch.sin(angles)
    turns = torch.stack([torch.stack([cosine, sine], -1), torch.stack([-sine, cosine], -1)], -2)
    return torch.block_diag(*turns).to(torch.get_default_dtype())


# ── on query and key ─────────────────────────────────────────────────────────────────────────────


class Rotary(nn.Module):
    """Rotate features 2m and 2m+1 together by λₘt.

    Args:
        features: Size of a head; even, as features are rotated in pairs.
        base: The longest wavelength in positions, divided by 2π.

    """

    def __init__(self, features: int, base: float = _BASE) -> None:
        super().__init__()
        self.waves = _Waves(features, base)

    def forward(
        self, heads: Float[Tensor, "batch head position feature"], *, start: int = 0
    ) -> Float[Tensor, "batch head position feature"]:
        """Rotate ``heads``, the first of which is at position ``start``."""
        exact = heads if heads.dtype == torch.float64 else heads.float()
        waves = self.waves(heads.shape[2], start=start).to(exact.dtype)
        # As a complex product, rotation is five times faster than with sines and cosines.
        pairs = torch.view_as_complex(exact.unflatten(-1, (-1, 2)))
        rotated = pairs * torch.view_as_complex(waves)
        return torch.view_as_real(rotated).flatten(-2).to(heads.dtype)


# ── shared by both ───────────────────────────────────────────────────────────────────────────────


class _Waves(nn.Module):
    """cos(λₘt) and sin(λₘt) for every t, computed once in float64 and cached."""

    like: Tensor

    def __init__(self, width: int, base: float) -> None:
        super().__init__()
        if width % 2:
            raise ValueError(
                f"Sinusoids come in pairs of sine and cosine, so their width must be even. "
                f"Got {width}; {width + 1} fits."
            )
        # The empty buffer follows the model's dtype and device; the cache stays float64, so that a
        # model moved to float64 loses no digits.
        self.register_buffer("like", torch.empty(0), persistent=False)
        self._frequencies = _frequencies(width, base)
        self._kept = torch.empty(0, width // 2, 2, dtype=torch.float64)

    def forward(self, positions: int, *, start: int) -> Float[Tensor, "position pair 2"]:
        end = start + positions
        if end > len(self._kept):
            # A tensor made in inference mode could not be used in training later.
            with torch.inference_mode(False), torch.no_grad():
                angles = torch.arange(2 * end, dtype=torch.float64)[:, None] * self._frequencies
                self._kept = torch.stack([angles.cos(), angles.sin()], dim=-1)
        return self._kept[start:end].to(self.like)


def _frequencies(width: int, base: float) -> Float[Tensor, " pair"]:
    """λₘ = base^(-2m/width)."""
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
