"""Every fast claim, its verdict and its figures: what is expected is written here, not taken there."""

import pytest

from regard.claims.measuring import measure
from regard.claims.registry import load_claims

HOLDS = [
    "cross-attention",
    "variance-of-scores",
    "additive-cost",
    "cost-of-attention",
    "heads-at-equal-cost",
    "context-kept-once",
    "argmax-field",
    "argmax-field-residual",
    "mask-minus-infinity",
    "mask-zero-weights-renormalised",
    "shift-by-one",
    "cost-of-three-attentions",
    "window-is-linear",
    "cost-per-layer",
    "path-length",
    "sequential-operations",
    "faster-when-n-below-d",
    "order-blindness",
    "causal-sees-order",
    "order-needed",
    "sinusoid-notation",
    "shift-operator",
    "learned-table-has-no-shift",
    "sinusoid-product",
    "linear-shift-can-be-learned",
    "add-or-concatenate",
    "concatenation-more-general",
    "bias-is-concatenation",
    "relative-bias-parameters",
    "addition-keeps-the-token",
    "block-is-torchs",
    "encoder-decoder",
    "tied-embedding",
    "label-smoothing-floor",
    "schedule-peak",
    "adam-dropout-batches",
    "beam-search",
    "checkpoint-averaging",
    "bert-input",
    "bert-sizes",
    "wordpiece-longest-match",
    "masked-words",
    "gpt-next-word",
    "one-sided-cannot-see-right",
    "head-replaced",
    "structured-embedding",
    "structured-sizes",
    "penalty-range",
    "kl-is-unstable",
    "han-size",
    "han-attention",
    "han-isolation",
    "context-changes-attention",
    "one-symbol-in-n",
    "first-needs-log-length",
    "hard-attention-misses-bits",
    "dyck-world",
]
FAILS = [
    "scaling-numerical",
    "additive-less-differentiable",
    "many-heads-cheaper",
    "argmax-depends-on-one",
    "mask-zero-scores",
    "mask-zero-weights",
    "padding-is-not-causality",
    "dot-is-symmetric",
    "table-3-vocabulary",
    "sixty-five-million",
    "wider-beam-never-worse",
    "next-sentence-direction",
    "sentence-in-one-token",
    "masks-lose-their-position",
    "laboratory-counts",
    "laboratory-heads",
    "penalty-is-diversity",
    "parity-by-hand",
]
CONDITIONAL = [
    "scaling-keeps-gradients",
    "softmax-picks-one",
    "identical-weights-sum-to-one",
    "weights-strictly-inside",
    "one-third-of-kl",
]

EXACT = {
    "cross-attention": {"output states for y": 7, "largest difference at y = x": 0},
    "cost-of-attention": {
        "of scores and values": 2 * 96**2 * 64,
        "of the four projections": 4 * 96 * 64**2,
    },
    "heads-at-equal-cost": {"different parameter counts": 1},
    "many-heads-cheaper": {"multiplications, 8 heads over 1": 1, "exponentials, 8 heads over 1": 8},
    "context-kept-once": {"key projections with a cache": 1, "key projections without": 7},
    "argmax-field": {"1 head, level 4": 1, "2 heads, level 4": 16, "4 heads, level 3": 64},
    "argmax-field-residual": {
        "1 head, level 4": 16,
        "2 heads, level 4": 81,
        "4 heads, level 4": 625,
    },
    "argmax-depends-on-one": {"inputs that can change it": 61},
    "mask-minus-infinity": {
        "largest gradient into the future": 0,
        "change caused by the future": 0,
    },
    "padding-is-not-causality": {"pairs that see the future, both rules": 0},
    "cost-per-layer": {
        "LSTM, 8nd²": 8 * 96 * 32**2,
        "GRU, 6nd²": 6 * 96 * 32**2,
        "convolution, (n-k+1)kd²": 94 * 3 * 32**2,
    },
    "faster-when-n-below-d": {
        "multiplications over the LSTM's, d 128, n 256": 1.0,
        "multiplications over the LSTM's, d 64, n 64": 0.75,
    },
    "path-length": {
        "layers needed, self-attention": 1,
        "layers needed, convolution, dilated": 3,
        "layers needed, convolution, contiguous": 13,
        "layers needed, window": 13,
    },
    "sequential-operations": {"chain growth per position, self-attention": 0},
    "order-needed": {"best accuracy without positions": 0.5},
    "add-or-concatenate": {"width, added": 24, "width, concatenated": 48},
    "relative-bias-parameters": {"m(2T - 1)": 8184, "used by causal attention, mT": 4096},
    "encoder-decoder": {
        "source words with a gradient, of 7": 7,
        "later words with a gradient, of 2": 0,
    },
    "sixty-five-million": {
        "base, shared vocabulary of 37,000": 63_045_632,
        "with attention biases": 63_082_496,
        "pre-norm, with final norms": 63_084_544,
        "without the table": 44_101_632,
        "with three tables": 100_933_632,
        "big": 214_171_648,
    },
    "table-3-vocabulary": {
        "least vocabulary all rows allow": 41_004,
        "greatest vocabulary all rows allow": 41_208,
    },
    "beam-search": {"beam 1 equals greedy, of 16": 16, "widest beam equals exhaustive, of 16": 16},
    "bert-sizes": {
        "base: L 12, H 768, A 12": 109_482_240,
        "large: L 24, H 1024, A 16": 335_141_888,
    },
    "wordpiece-longest-match": {
        "share segmented by longest match first": 1,
        "share of texts decoded exactly": 1,
    },
    "next-sentence-direction": {"of these, B follows A": 1, "of these, A follows B": 0},
    "gpt-next-word": {
        "parameters of GPT-1": 116_534_784,
        "parameters of GPT-2, small": 124_439_808,
    },
    "one-sided-cannot-see-right": {"words to the right used, causal": 0},
    "masks-lose-their-position": {"masks differ, without positions": 0},
    "laboratory-counts": {
        "text prediction, counted": 21_018_401,
        "sentiment, counted": 10_968_602,
        "text prediction, one table for both ends": 11_018_201,
    },
    "laboratory-heads": {"the document's formula, 8 heads": 15_440_602},
    "structured-sizes": {
        "BiLSTM": 1_444_800,
        "attention": 220_500,
        "dense layer, 18,000 to 2,000": 36_002_000,
    },
    "penalty-range": {"30 hops on one word, r(r-1)": 870, "10 hops on 5 words, two each": 10},
    "han-size": {"parameters without the table": 142_105},
    "han-isolation": {"HAN: largest derivative into another sentence": 0},
    "parity-by-hand": {"accuracy at length 10": 1, "accuracy at length 4000": 1},
    "dyck-world": {"labels that agree with the rule": 400, "greatest depth": 3},
}
ABOUT = {  # drawn at random or rounded: the value and how far it may be off, as a share
    "variance-of-scores": {
        "variance at key size 64": (64, 0.05),
        "variance at key size 1024": (1024, 0.05),
    },
    "scaling-keeps-gradients": {
        "gradient norm, unscaled, size 16": (0.331, 0.05),
        "gradient norm, scaled, size 1024": (0.18, 0.03),
        "entropy in nats, scaled, size 64": (3.684, 0.01),
    },
    "mask-zero-scores": {"attention on the future": (0.415, 0.02)},
    "mask-zero-weights": {"mean sum of a row": (0.509, 0.02)},
    "argmax-field-residual": {"4 heads, level 4, random pointers": (398, 0.05)},
    "label-smoothing-floor": {
        "least loss, 4,000 tokens": (1.154, 1e-3),
        "least loss, 37,000 tokens": (1.377, 1e-3),
    },
    "schedule-peak": {"peak at width 512, warm-up 4,000": ((512 * 4000) ** -0.5, 1e-9)},
    "adam-dropout-batches": {"share dropped at rate 0.1": (26 / 256, 0.01)},
    "penalty-is-diversity": {"penalty of uniform, identical hops": (29.16, 1e-3)},
    "identical-weights-sum-to-one": {"a·a, uniform over 50 words": (0.02, 1e-9)},
    "one-third-of-kl": {"AAᵀ over KL, element by element": (1 / 3, 1e-9)},
    "one-symbol-in-n": {"exponent in n": (-1.0, 0.2)},
    "parity-by-hand": {
        "cross-entropy in bits at length 10": (0.9908, 3e-4),
        "exponent of the output in n": (-2.0, 0.03),
    },
    "first-needs-log-length": {"with log-length, length 100": (1000 / 1099, 1e-6)},
}
TINY = {  # identities: rounding and nothing more
    "order-blindness": "equivariance error",
    "shift-operator": "error of T(k)e(t) = e(t+k)",
    "learned-table-has-no-shift": "relative error, sinusoids",
    "add-or-concatenate": "error of the four terms, added",
    "bias-is-concatenation": "largest difference of the weights",
    "block-is-torchs": "largest difference, post-norm",
    "tied-embedding": "tied gradient against the sum of two",
    "mask-zero-weights-renormalised": "largest difference",
    "window-is-linear": "difference from the band mask",
    "structured-embedding": "difference from the formula",
    "bert-input": "difference from norm(token + segment + position)",
    "beam-search": "re-scored against reported",
}
EXPECTED = {
    **dict.fromkeys(HOLDS, "holds"),
    **dict.fromkeys(FAILS, "fails"),
    **dict.fromkeys(CONDITIONAL, "holds if"),
}


def wrong(outcome):
    """Yield every difference between a claim's outcome and the table above."""
    name = outcome.claim.name
    if (outcome.kind, outcome.problem) != (EXPECTED[name], ""):
        yield f"{name} {outcome.verdict}"
        return
    figures = {one.name: one.value for one in outcome.measurement.figures}
    for one in outcome.measurement.figures:
        if not one.agrees and not one.note:
            yield f"{name}: {one.name} was given as {one.given} and is {one.value}"
    for figure, expected in expected_figures(name).items():
        if figures[figure] != expected:
            yield f"{name}: {figure} is {figures[figure]}"


def expected_figures(name):
    near = {f: pytest.approx(value, rel=share) for f, (value, share) in ABOUT.get(name, {}).items()}
    tiny = {TINY[name]: pytest.approx(0.0, abs=1e-10)} if name in TINY else {}
    return {**EXACT.get(name, {}), **near, **tiny}


def test_the_expected_verdicts_are_those_of_all_fast_claims():
    assert set(EXPECTED) == {name for name, claim in load_claims().items() if not claim.slow}
    assert set(EXACT) | set(ABOUT) | set(TINY) <= set(EXPECTED)


def test_every_fast_claim_comes_out_as_expected():
    """One test, so that workers that share out the tests do not each measure everything."""
    found = (measure(claim) for claim in load_claims().values() if not claim.slow)
    assert [line for outcome in found for line in wrong(outcome)] == []
