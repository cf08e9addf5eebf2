"""Sinusoids, their shift operator, and tables that have none (D0 Q4, D3)."""

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measured, claim
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
    reading="The layer's table is the formula's. A row is a position.",
    then="Draw more: Sinusoidal(128)(500).",
    right="D0's f is the inverse of the frequency, sin(t/f) = sin(λt), and positions are the rows "
    "of the table, not its columns.",
)
@exact()
def waves_notation() -> Measured:
    """Compare the layer's waves with sin(t / f) and cos(t / f), f = 10000^(2m/d), for t < 1000."""
    waves = Sinusoidal(WIDTH)(POSITIONS)
    gap = 0.0
    for place in range(0, WIDTH, 2):
        slow = 10000 ** (place / WIDTH)
        angles = torch.arange(POSITIONS) / slow
        pair = torch.stack([angles.sin(), angles.cos()], dim=-1)
        gap = max(gap, difference(waves[:, place : place + 2], pair))
    rows, columns = waves.shape
    return Measured(
        f"equal to {gap:.0e}; {rows} rows are positions, {columns} columns are waves",
        (
            Figure("difference from sin(t/f), cos(t/f)", gap, gap < 1e-9),
            Figure("rows of the table", rows, rows == POSITIONS),
            Figure("columns of the table", columns),
        ),
        draw_matrix(
            (waves[:24, :16] + 1) / 2, "24 positions (rows), their 16 fastest waves (columns)"
        ),
    )


@claim(
    numbers=(23,),
    source="D0 Q4; Vaswani et al. 2017, §3.5",
    statement="For every k one linear map T(k) takes the waves of t to those of t + k, whatever t.",
    layer="layers/position.py",
    reading=f"Rounding only, at every t < {POSITIONS} and k up to {max(SHIFTS)}. T turns each pair "
    "of waves: it keeps lengths, and shifts add.",
    then="See learned-table-has-no-shift for the negative control.",
)
@exact()
def shift_operator() -> Measured:
    """Multiply T(k) with the waves of t for all t < 1000 and k up to 999, in float64."""
    waves = Sinusoidal(WIDTH)(2 * POSITIONS)
    error = constancy = 0.0
    for k in SHIFTS:
        turned = waves[:POSITIONS] @ position.shift_operator(k, WIDTH).T
        error = max(error, difference(turned, waves[k : k + POSITIONS]))
        products = (waves[:POSITIONS] * waves[k : k + POSITIONS]).sum(dim=1)
        constancy = max(constancy, (products.max() - products.min()).item())
    turn, further, both = (position.shift_operator(k, WIDTH) for k in (7, 100, 107))
    orthogonal = difference(turn @ turn.T, torch.eye(WIDTH))
    together = difference(turn @ further, both)
    return Measured(
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
    statement="Waves have such a map and a table of learned vectors has none.",
    layer="layers/position.py",
    reading="Tested on positions the map was not fitted on. 1 is as bad as answering nothing.",
    then="Fit the map to a table that was trained: position-schemes-trained leaves runs behind.",
)
@exact()
def learned_table_has_no_shift() -> Measured:
    """Fit one matrix from p(t) to p(t+5) by least squares on every other t; test on the rest.

    512 positions of width 64: waves, and a learned table as it begins.
    """
    waves = fit_error(Sinusoidal(WIDTH)(512), 5)
    learned = fit_error(Learned(512, WIDTH)(512).detach(), 5)
    return Measured(
        f"a linear map misses waves by {waves:.0e} and a random table by {learned:.2f}",
        (
            Figure("relative error, waves", waves, waves < 1e-9),
            Figure("relative error, learned table at its start", learned, learned > 0.5),
        ),
    )


@claim(
    numbers=(24,),
    source="D3; Vaswani et al. 2017, §3.5",
    statement="The linear property of waves lets a model learn relative positions easily.",
    layer="layers/position.py",
    reading="One matrix found from half of the positions serves the other half. That it could be "
    "learned easily does not say that it is: position-schemes-trained measures that.",
    then="`regard claims position-schemes-trained --slow`.",
)
@exact()
def linear_shift_can_be_learned() -> Measured:
    """Fit one linear map for each of the shifts 1 to 32 from half of 512 positions; test on half.

    The same for a learned table: a fixed shift that is linear can be found by one matrix.
    """
    shifts = (1, 2, 4, 8, 16, 32)
    tables = {"waves": Sinusoidal(WIDTH)(512), "learned": Learned(512, WIDTH)(512).detach()}
    worst = {name: max(fit_error(table, k) for k in shifts) for name, table in tables.items()}
    return Measured(
        f"worst error over shifts 1 to 32: waves {worst['waves']:.0e}, random "
        f"{worst['learned']:.2f}",
        (
            Figure("worst relative error, waves", worst["waves"], worst["waves"] < 1e-6),
            Figure("worst relative error, learned at its start", worst["learned"]),
        ),
    )


@claim(
    numbers=(23, 26),
    source="D0 Q4, D2 c",
    statement="The product of two positions' waves depends on their distance only: Σ cos λ(i-j).",
    layer="layers/position.py",
    reading="So the bias that fixed waves give is symmetric and has no negative eigenvalue: it "
    "cannot tell left from right. A general bias needs different vectors for queries and keys.",
    then="See bias-is-concatenation.",
)
@exact()
def waves_meet_by_distance() -> Measured:
    """Take e(i)·e(j) for all pairs of 64 positions.

    Asked is whether it is a function of i - j, symmetric, without negative eigenvalues, and equal
    to the sum of cosines.
    """
    waves = Sinusoidal(WIDTH)(64)
    bias = waves @ waves.T
    by_distance = max((bias.diagonal(k).max() - bias.diagonal(k).min()).item() for k in range(64))
    symmetric = difference(bias, bias.T)
    least = torch.linalg.eigvalsh(bias).min().item()
    frequencies = 10000 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
    cosines = torch.cos(frequencies * 9).sum()
    gap = abs((bias[20, 11] - cosines).item())
    return Measured(
        f"a function of the distance to {by_distance:.0e}, symmetric, least eigenvalue {least:.0e}",
        (
            Figure("spread along a diagonal", by_distance, by_distance < 1e-10),
            Figure("difference from its transpose", symmetric, symmetric < 1e-12),
            Figure("least eigenvalue", least, least > -1e-10),
            Figure("difference from the sum of cosines", gap, gap < 1e-10),
        ),
        draw_matrix(
            (bias[:24, :24] - bias.min()).clamp(min=0),
            "e(i)·e(j): near places are alike, on either side",
        ),
    )
