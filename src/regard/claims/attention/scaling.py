"""Why scores are divided by the square root of the key size (D4 Q1)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import exact
from regard.claims.table import draw_curves, tabulate
from regard.layers.attention import Score, dot, scaled_dot, softmax
from regard.models.body import all_visible

SIZES = (16, 64, 256, 1024)
KEYS, ROWS = 64, 2048
GROUPS = 64  # sets of keys
VANISHED = 0.01

# Reference values of the inventory, by key size.
GIVEN_NORM = {16: 0.331, 64: 0.203, 256: 0.026}
GIVEN_SCALED = {16: 0.176, 64: 0.178, 256: 0.18, 1024: 0.18}
GIVEN_GONE = {16: 0.01, 64: 0.165, 256: 0.439, 1024: 0.663}


@claim(
    numbers=(2,),
    source="D4 Q1; Vaswani et al. 2017, §3.2.1, note 4",
    statement="For independent queries and keys of unit variance, q·k has variance equal to the "
    "key size.",
    layer="layers/attention.py",
    meaning="Divided by the key size the variance is 1 at every size: that is what dividing the "
    "score by the square root of the key size does.",
    next_step="Measure trained queries and keys, which are not independent: their scores vary "
    "more.",
)
@exact()
def variance_of_scores() -> Measurement:
    """Draw 1,024 queries and 1,024 keys from N(0, I) and take the variance of all their scores."""
    found = {size: dot(*torch.randn(2, 1, 1, 1024, size)).var().item() for size in SIZES}
    ratios = [one / size for size, one in found.items()]
    near = {size: abs(one / size - 1) < 0.05 for size, one in found.items()}
    given = {16: 15.9, 64: 64.1, 256: 256.2, 1024: 1023.8}
    shown = "/".join(f"{one:.1f}" for one in found.values())
    return Measurement(
        f"{shown} at key sizes {'/'.join(map(str, SIZES))}",
        tabulate("variance at key size {}", found, near, given=given, within=0.04),
        draw_curves(
            "Variance of a score, over the key size",
            "key size",
            SIZES,
            {"variance over key size": ratios},
        ),
    )


class _Saturation(NamedTuple):
    """Statistics of a softmax over 64 keys."""

    largest: float
    entropy: float
    jacobian: float
    vanished: float


@claim(
    numbers=(3,),
    source="D4 Q1; Vaswani et al. 2017, §3.2.1",
    statement="Without the scale, large scores saturate the softmax: its gradient vanishes, and "
    "the attention concentrates on a single position.",
    layer="layers/attention.py",
    meaning="Compare the two gradient norms at each size. At 16 and 64 the unscaled softmax has "
    "the larger gradient; at 256 and 1024 it has hardly any. The entropy says how spread the "
    "attention is: ln 64 = 4.159 is uniform.",
    next_step='Train with score = "dot" and score = "scaled-dot" at several widths (recipe '
    "model.mixer.score); with QK-norm (model.mixer.normed) the difference disappears.",
    condition="keys are large: 256 features or more",
    correction="It is saturation, and it begins at large sizes: at key sizes 16 and 64 the "
    "unscaled gradient is not smaller.",
)
@exact()
def scaling_keeps_gradients() -> Measurement:
    """Score 2,048 queries against 64 keys (64 sets of keys), all from N(0, I); take the softmax.

    Measurement are the largest weight, the entropy (means over rows) and the Frobenius norm of the
    softmax's own Jacobian diag(p) - p·pᵀ (median, and the share of rows below 0.01).
    """
    plain = {size: _measure_saturation(size, dot) for size in SIZES}
    scaled = {size: _measure_saturation(size, scaled_dot) for size in SIZES}
    norm = {size: one.jacobian for size, one in plain.items()}
    scaled_norm = {size: one.jacobian for size, one in scaled.items()}
    smaller = {size: one < scaled_norm[size] for size, one in norm.items()}
    gone = {size: one.vanished for size, one in plain.items()}
    at = {size: f"{norm[size]:.3f}/{scaled_norm[size]:.3f}" for size in SIZES}
    return Measurement(
        f"gradient norm unscaled/scaled: {at[16]} at 16, {at[1024]} at 1024",
        (
            Figure("largest weight, unscaled, size 64", plain[64].largest, None, 0.793, 0.03),
            Figure("largest weight, scaled, size 64", scaled[64].largest, None, 0.108, 0.03),
            Figure("entropy in nats, unscaled, size 64", plain[64].entropy, None, 0.577, 0.08),
            Figure("entropy in nats, scaled, size 64", scaled[64].entropy, None, 3.684, 0.03),
            *tabulate(
                "gradient norm, unscaled, size {}",
                norm,
                smaller,
                given=GIVEN_NORM,
                within=0.3,
            ),
            *tabulate(
                "gradient norm, scaled, size {}",
                scaled_norm,
                given=GIVEN_SCALED,
                within=0.04,
            ),
            *(
                Figure(
                    f"share of rows without gradient, size {size}",
                    share,
                    given=GIVEN_GONE[size],
                    within=0.35 if size == 16 else 0.1,
                )
                for size, share in gone.items()
            ),
        ),
        draw_curves(
            "Norm of the softmax's gradient (median)",
            "log₂ of the key size",
            [math.log2(size) for size in SIZES],
            {"unscaled": list(norm.values()), "scaled": list(scaled_norm.values())},
        ),
    )


def _measure_saturation(size: int, score: Score) -> _Saturation:
    query = torch.randn(GROUPS, 1, ROWS // GROUPS, size)
    key = torch.randn(GROUPS, 1, KEYS, size)
    weights = softmax(score(query, key), all_visible(KEYS)).flatten(0, 2)
    norms = _jacobian_norms(weights)
    entropy = torch.special.entr(weights).sum(dim=-1).mean().item()
    return _Saturation(
        weights.amax(dim=-1).mean().item(),
        entropy,
        norms.median().item(),
        (norms < VANISHED).double().mean().item(),
    )


def _jacobian_norms(weights: Tensor) -> Tensor:
    """‖diag(p) - p·pᵀ‖ for every row: Σp² - 2Σp³ + (Σp²)²."""
    squares, cubes = weights.square().sum(dim=-1), weights.pow(3).sum(dim=-1)
    return (squares - 2 * cubes + squares.square()).clamp(min=0).sqrt()


@claim(
    numbers=(3,),
    source="D4 Q1",
    statement="Scores are scaled because large ones make the softmax numerically unstable.",
    layer="layers/attention.py",
    meaning="An error of the size of float32's rounding (1e-7) means that nothing is unstable: "
    "the softmax subtracts the largest score first.",
    next_step="Compute exp(scores) / exp(scores).sum() directly and watch it overflow above 88.",
    correction="Saturation is the reason: see scaling-keeps-gradients.",
)
@exact()
def scaling_numerical() -> Measurement:
    """Take the softmax of unscaled scores at key size 1024, and of the same times 10³⁰, in float32.

    Each is compared with the softmax in float64.
    """
    query, key = torch.randn(1, 1, ROWS, 1024), torch.randn(1, 1, KEYS, 1024)
    scores = dot(query, key)
    found = {}
    for name, factor in (("as they are", 1.0), ("times 1e30", 1e30)):
        coarse = (scores * factor).float()
        weights = softmax(coarse, all_visible(KEYS))
        reference = softmax(coarse.double(), all_visible(KEYS))
        found[name] = weights.isfinite().all(), (weights - reference).abs().max().item()
    figures = [
        Figure(f"error in float32, scores {name}", error, not finite or error > 1e-3)
        for name, (finite, error) in found.items()
    ]
    return Measurement(
        f"float32 is off by {figures[0].value:.1g}, and by {figures[1].value:.1g} at scores "
        "of 1e31",
        tuple(figures),
    )
