"""FIRST, attention to one of ever more symbols, and Dyck, a language defined by a rule (D1 Q4)."""

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import exact
from regard.claims.table import draw_curves, tabulate
from regard.data.worlds.languages import BRACKETS, draw_language, is_dyck
from regard.layers.attention import Select, attend, dot, log_length, softmax
from regard.models.body import all_visible


@claim(
    numbers=(68,),
    source="D1 Q4; Chiang and Cholak 2022, §5",
    statement="A softmax loses the first symbol of longer and longer texts; scores multiplied by "
    "log n keep it.",
    layer="layers/attention.py",
    meaning="A constant lead in the scores is worth less and less among more keys. With log n it "
    "is worth more.",
    next_step='Set model.mixer.select = "log-length"; first-trained trains at 50 and tests at '
    "1,000.",
)
@exact()
def first_needs_log_length() -> Measurement:
    """Give the first of n symbols a lead of 1.5 in the scores and attend; n from 10 to 10,000.

    Once with a softmax, once with scores multiplied by log n.
    """
    lengths = (10, 100, 1000, 10_000)
    plain = {n: _attend_to_first(n, softmax) for n in lengths}
    scaled = {n: _attend_to_first(n, log_length) for n in lengths}
    expected = {n: n < 100 or one < 0.05 for n, one in plain.items()}
    return Measurement(
        f"the first symbol gets {plain[10]:.0%} of the weight at 10 and {plain[10_000]:.2%} at "
        f"10,000; with log-length {scaled[10_000]:.1%}",
        (
            *tabulate("weight of the first, length {}", plain, expected),
            *tabulate("with log-length, length {}", scaled, lambda share: share > 0.5),
        ),
        draw_curves(
            "Attention weight of the first symbol",
            "log₁₀ of the length",
            [1, 2, 3, 4],
            {
                "softmax": list(plain.values()),
                "softmax of log n · scores": list(scaled.values()),
            },
        ),
    )


def _attend_to_first(n: int, select: Select) -> float:
    key = torch.zeros(1, 1, n, 1)
    key[0, 0, 0] = 1.5
    query, value = torch.ones(1, 1, 1, 1), torch.zeros(1, 1, n, 1)
    value[0, 0, 0] = 1.0
    seen = all_visible(n)
    return attend(query, key, value, score=dot, select=select, visible=seen).mixed.item()


@claim(
    numbers=(69,),
    source="D1 Q4; Yao et al. 2021; Bhattamishra et al. 2020",
    statement="Dyck of bounded depth is a language defined by a rule: balanced, never deeper than "
    "D.",
    layer="data/worlds/languages.py",
    meaning="The world's labels agree with the rule. dyck-trained trains on it and tests on "
    "longer strings.",
    next_step='`regard train` with data.train = ["world:dyck"].',
)
def dyck_world() -> Measurement:
    """Draw 400 strings of two kinds of brackets at depth 3 and check them with a stack.

    Every other one belongs to the language; the greatest depth is measured.
    """
    pairs = list(draw_language("dyck", lengths=range(2, 61), count=400, seed=3))
    right = sum(
        is_dyck(source.split(), kinds=2, depth=3) == (label == "yes") for source, label in pairs
    )
    yes = sum(label == "yes" for _, label in pairs)
    deepest = max(_measure_depth(source.split()) for source, label in pairs if label == "yes")
    return Measurement(
        f"{right} of 400 labels are right; {yes} strings are in the language, depth {deepest}",
        (
            Figure("labels that agree with the rule", right, right == 400),
            Figure("strings in the language", yes, yes == 200),
            Figure("greatest depth", deepest, deepest == 3),
        ),
    )


def _measure_depth(symbols: list[str]) -> int:
    opening = {pair[0] for pair in BRACKETS}
    depth = most = 0
    for symbol in symbols:
        depth += 1 if symbol in opening else -1
        most = max(most, depth)
    return most
