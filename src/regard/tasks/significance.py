"""Can a difference be chance? Intervals over seeds, and paired tests over test examples.

    interval     mean ± t(95%, n - 1) · s/√n                          (Student 1908)
    seeds        t = (a̅ - b̅) / √(s²a/na + s²b/nb)                      (Welch 1947)
    bootstrap    share of resamples with |d* - d| ≥ |d|               (Efron 1979; Koehn 2004)
    randomise    share of random swaps of the pair with |d*| ≥ |d|    (Noreen 1989; Riezler 2005)

All tests are two-sided and draw from a fixed seed. The first two ask whether another seed would
turn the difference round, the last two whether another sample of test examples would.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

RESAMPLES = 5000
CORPUS_RESAMPLES = 1000  # of scores that must be computed anew on every resample
AT_ONCE = 1 << 22  # numbers drawn at a time
SEED = 12345


class Interval(NamedTuple):
    """A mean over seeds and how far the true one may be from it."""

    mean: float
    half: float | None
    """None where there is one value only."""
    seeds: int


class Chance(NamedTuple):
    """How easily chance alone makes a difference this large."""

    difference: float
    bootstrap: float
    randomisation: float
    interval: tuple[float, float] | None = None
    """Of the difference: 95% of the resamples are inside; None for scores of a whole corpus."""


def interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Mean and half width of the interval that holds the true mean this often."""
    mean, count = math.fsum(values) / len(values), len(values)
    if count < 2:
        return Interval(mean, None, count)
    half = t_quantile(confidence, count - 1) * math.sqrt(_variance(values) / count)
    return Interval(mean, half, count)


def seeds_differ(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Give p of Welch's test between two groups of seeds; None where a group has one only."""
    if min(len(first), len(second)) < 2:
        return None
    parts = [_variance(values) / len(values) for values in (first, second)]
    apart = abs(math.fsum(first) / len(first) - math.fsum(second) / len(second))
    if not sum(parts):
        return 1.0 if not apart else 0.0
    weights = [p**2 / (len(v) - 1) for p, v in zip(parts, (first, second), strict=True)]
    freedom = max(1, math.floor(sum(parts) ** 2 / sum(weights)))
    return 1 - t_within(apart / math.sqrt(sum(parts)), freedom)


def t_within(t: float, freedom: int) -> float:
    """P(|T| ≤ t) of Student's distribution: the finite sums for whole degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def t_quantile(confidence: float, freedom: int) -> float:
    """Give t with P(|T| ≤ t) = ``confidence``."""
    low, high = 0.0, 1.0
    while t_within(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_within(middle, freedom) < confidence else (low, middle)
    return high


def compare_paired(first: Sequence[float], second: Sequence[float]) -> Chance:
    """Compare two systems by their scores on the same examples, one by one."""
    apart = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    mean = float(apart.mean())
    rng = np.random.default_rng(SEED)
    means: list[NDArray[np.float64]] = []
    resampled, swapped = 0, 0
    rows = max(1, AT_ONCE // len(apart))
    for begin in range(0, RESAMPLES, rows):
        shape = (min(rows, RESAMPLES - begin), len(apart))
        drawn = apart[rng.integers(0, len(apart), shape)].mean(axis=1)
        means.append(drawn)
        resampled += _as_far(drawn - mean, mean)
        signs = rng.integers(0, 2, shape, dtype=np.int8) * 2 - 1
        swapped += _as_far((signs @ apart) / len(apart), mean)
    shares = [(found + 1) / (RESAMPLES + 1) for found in (resampled, swapped)]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975]).tolist()
    return Chance(mean, shares[0], shares[1], (low, high))


def paired_corpus(
    first: Sequence[str], second: Sequence[str], references: Sequence[str]
) -> dict[str, Chance]:
    """Compare two translators by BLEU and chrF, with sacreBLEU's own tests."""
    if list(first) == list(second):  # sacreBLEU counts only what is farther, which nothing is
        return dict.fromkeys(("bleu", "chrf"), Chance(0.0, 1.0, 1.0))
    systems: list[tuple[str, Sequence[str]]] = [("first", first), ("second", second)]
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for kind in ("bs", "ar"):
        metrics = {"bleu": BLEU(), "chrf": CHRF()}
        test = PairedTest(systems, metrics, [list(references)], kind, n_samples=CORPUS_RESAMPLES)
        _, results = test()
        for name, (one, other) in results.items():
            if name == "System":
                continue
            assert isinstance(one, Result) and isinstance(other, Result)
            assert other.p_value is not None
            key = "bleu" if name == "BLEU" else "chrf"
            found.setdefault(key, {})[kind] = (one.score - other.score, float(other.p_value))
    return {
        name: Chance(by["bs"][0], by["bs"][1], by["ar"][1]) for name, by in sorted(found.items())
    }


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _as_far(drawn: NDArray[np.float64], mean: float) -> int:
    """Count draws at least as far from zero; equal ones count in spite of rounding."""
    return int((np.abs(drawn) >= abs(mean) * (1 - 1e-9)).sum())
