"""Sinusoids and their shift operator; learned tables have none (D0 Q4, D3)."""

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.claims.table import draw_matrix
from regard.layers import position
from regard.layers.position import Learned, Sinusoidal

WIDTH, POSITIONS = 64, 1000
SHIFTS = (1, 7, 100, 999)


@claim(
    numbers=(22,),
    source="D0 Q4; Vaswani et al. 2017, §3.5",
    statement="A position's vector holds sin and cos of t at wavelengths from 2π to 10000·2π.",
    layer="layers/position.py",
    meaning="The layer's table equals the formula. A row is a position.",
    next_step="Compute a larger table: Sinusoidal(128)(500).",
    correction="D0's f is the inverse of the frequency, sin(t/f) = sin(λt), and positions are the "
    "rows of the table, not its columns.",
)
@exact()
def sinusoid_notation() -> Measurement:
    """Compare the layer's table with sin(t / f) and cos(t / f), f = 10000^(2m/d), for t < 1000."""
    sinusoids = Sinusoidal(WIDTH)(POSITIONS)
    gap = 0.0
    for column in range(0, WIDTH, 2):
        slow = 10000 ** (column / WIDTH)
        angles = torch.arange(POSITIONS) / slow
        pair = torch.stack([angles.sin(), angles.cos()], dim=-1)
        gap = max(gap, difference(sinusoids[:, column : column + 2], pair))
    rows, columns = sinusoids.shape
    return Measurement(
        f"equal to {gap:.0e}; {rows} rows are positions, {columns} columns are sinusoids",
        (
            Figure("difference from sin(t/f), cos(t/f)", gap, gap < 1e-9),
            Figure("rows of the table", rows, rows == POSITIONS),
            Figure("columns of the table", columns),
        ),
        draw_matrix(
            (sinusoids[:24, :16] + 1) / 2,
            "24 positions (rows), their 16 fastest sinusoids (columns)",
        ),
    )


@claim(
    numbers=(23,),
    source="D0 Q4; Vaswani et al. 2017, §3.5",
    statement="For every k one linear map T(k) takes the sinusoids of t to those of t + k, "
    "whatever t.",
    layer="layers/position.py",
    meaning=f"Rounding only, at every t < {POSITIONS} and k up to {max(SHIFTS)}. T rotates each "
    "pair of sine and cosine: it preserves lengths, and shifts add.",
    next_step="See learned-table-has-no-shift for the negative control.",
)
@exact()
def shift_operator() -> Measurement:
    """Multiply T(k) with the sinusoids of t for all t < 1000 and k up to 999, in float64."""
    sinusoids = Sinusoidal(WIDTH)(2 * POSITIONS)
    error = constancy = 0.0
    for k in SHIFTS:
        shifted = sinusoids[:POSITIONS] @ position.shift_operator(k, WIDTH).T
        error = max(error, difference(shifted, sinusoids[k : k + POSITIONS]))
        products = (sinusoids[:POSITIONS] * sinusoids[k : k + POSITIONS]).sum(dim=1)
        constancy = max(constancy, (products.max() - products.min()).item())
    first, second, both = (position.shift_operator(k, WIDTH) for k in (7, 100, 107))
    orthogonal = difference(first @ first.T, torch.eye(WIDTH))
    together = difference(first @ second, both)
    return Measurement(
        f"T(k)e(t) = e(t+k) to {error:.0e}; T(a)T(b) = T(a+b) to {together:.0e}; e(t)·e(t+k) "
        f"constant to {constancy:.0e}",
        (
            Figure("error of T(k)e(t) = e(t+k)", error, error < 1e-11, given=1.7e-13, within=2.0),
            Figure("error of T(a)T(b) = T(a+b)", together, together < 1e-12),
            Figure("error of T'T = I", orthogonal, orthogonal < 1e-12),
            Figure("spread of e(t)·e(t+k) over t", constancy, constancy < 1e-10, 8e-13, within=2.0),
        ),
    )


def fit_error(table: Tensor, k: int) -> float:
    """Fit one linear map from p(t) to p(t+k) on even t; give its relative error on odd t."""
    before, after = table[:-k], table[k:]
    fitted = torch.linalg.lstsq(before[0::2], after[0::2], rcond=1e-10, driver="gelsd").solution
    missed = before[1::2] @ fitted - after[1::2]
    return (missed.norm() / after[1::2].norm()).item()


@claim(
    numbers=(23,),
    source="D0 Q4; Gehring et al. 2017",
    statement="Sinusoids have such a map; a table of learned vectors has none.",
    layer="layers/position.py",
    meaning="Tested on positions that the map was not fitted on. 1 is as bad as predicting zero.",
    next_step="Fit the map to a trained table: position-schemes-trained leaves runs behind.",
)
@exact()
def learned_table_has_no_shift() -> Measurement:
    """Fit one matrix from p(t) to p(t+5) by least squares on every other t; test on the rest.

    512 positions of width 64: sinusoids, and a learned table at initialisation.
    """
    sinusoids = fit_error(Sinusoidal(WIDTH)(512), 5)
    learned = fit_error(Learned(512, WIDTH)(512).detach(), 5)
    return Measurement(
        f"a linear map has error {sinusoids:.0e} on sinusoids and {learned:.2f} on a random table",
        (
            Figure("relative error, sinusoids", sinusoids, sinusoids < 1e-9),
            Figure("relative error, learned table", learned, learned > 0.5),
        ),
    )


@claim(
    numbers=(24,),
    source="D3; Vaswani et al. 2017, §3.5",
    statement="The linear property of sinusoids lets a model learn relative positions easily.",
    layer="layers/position.py",
    meaning="One matrix fitted to half of the positions is correct for the other half. That it "
    "could be learned easily does not mean that it is: position-schemes-trained measures that.",
    next_step="`regard claims position-schemes-trained --slow`.",
)
@exact()
def linear_shift_can_be_learned() -> Measurement:
    """Fit one linear map per shift (1 to 32) to half of 512 positions; test on the other half.

    The same for a learned table: a fixed shift that is linear can be represented by one matrix.
    """
    shifts = (1, 2, 4, 8, 16, 32)
    tables = {"sinusoids": Sinusoidal(WIDTH)(512), "learned": Learned(512, WIDTH)(512).detach()}
    worst = {name: max(fit_error(table, k) for k in shifts) for name, table in tables.items()}
    return Measurement(
        f"worst error over shifts 1 to 32: sinusoids {worst['sinusoids']:.0e}, random "
        f"{worst['learned']:.2f}",
        (
            Figure(
                "worst relative error, sinusoids", worst["sinusoids"], worst["sinusoids"] < 1e-6
            ),
            Figure("worst relative error, learned table", worst["learned"]),
        ),
    )


@claim(
    numbers=(23, 26),
    source="D0 Q4, D2 c",
    statement="The inner product of two positions' sinusoids depends on their distance only: Σ "
    "cos λ(i-j).",
    layer="layers/position.py",
    meaning="So the bias from fixed sinusoids is symmetric and positive semi-definite: it cannot "
    "tell left from right. A general bias needs different vectors for queries and keys.",
    next_step="See bias-is-concatenation.",
)
@exact()
def sinusoid_product() -> Measurement:
    """Take e(i)·e(j) for all pairs of 64 positions.

    Tested is whether it is a function of i - j, symmetric, without negative eigenvalues, and equal
    to the sum of cosines.
    """
    sinusoids = Sinusoidal(WIDTH)(64)
    bias = sinusoids @ sinusoids.T
    by_distance = max((bias.diagonal(k).max() - bias.diagonal(k).min()).item() for k in range(64))
    symmetric = difference(bias, bias.T)
    least = torch.linalg.eigvalsh(bias).min().item()
    frequencies = 10000 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
    cosines = torch.cos(frequencies * 9).sum()
    gap = abs((bias[20, 11] - cosines).item())
    return Measurement(
        f"a function of the distance to {by_distance:.0e}, symmetric, least eigenvalue {least:.0e}",
        (
            Figure("spread along a diagonal", by_distance, by_distance < 1e-10),
            Figure("difference from its transpose", symmetric, symmetric < 1e-12),
            Figure("least eigenvalue", least, least > -1e-10),
            Figure("difference from the sum of cosines", gap, gap < 1e-10),
        ),
        draw_matrix(
            (bias[:24, :24] - bias.min()).clamp(min=0),
            "e(i)·e(j): close positions are similar, on either side",
        ),
    )
