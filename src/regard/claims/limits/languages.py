"""FIRST and Dyck: a lead among ever more symbols, and a language that is a rule (D1 Q4)."""

import torch

from regard.claims.claim import Claim, Curves, Figure, Measured
from regard.claims.precision import exact
from regard.data.worlds.languages import BRACKETS, is_dyck, language
from regard.draw.chart import Line
from regard.layers.attention import Select, attend, dot, softmax
from regard.layers.log_length import log_length
from regard.models.body import all_visible


def _first() -> Measured:
    """Give the first of n symbols a lead of 1.5 in the scores and look; n from 10 to 10,000.

    Once by a softmax, once by one whose scores are multiplied by log n.
    """
    lengths = (10, 100, 1000, 10_000)
    with exact():
        plain = [_share_of_first(n, softmax) for n in lengths]
        scaled = [_share_of_first(n, log_length) for n in lengths]
    return Measured(
        f"the first symbol gets {plain[0]:.0%} of the look at 10 and {plain[-1]:.2%} at "
        "10,000; with "
        f"log-length {scaled[-1]:.1%}",
        (
            *(
                Figure(f"share of the first, length {n}", one, n < 100 or one < 0.05)
                for n, one in zip(lengths, plain, strict=True)
            ),
            *(
                Figure(f"with log-length, length {n}", one, one > 0.5)
                for n, one in zip(lengths, scaled, strict=True)
            ),
        ),
        Curves(
            "Share of the look at the first symbol",
            "log₁₀ of the length",
            (
                Line("softmax", [1, 2, 3, 4], plain),
                Line("softmax of log n · scores", [1, 2, 3, 4], scaled),
            ),
        ),
    )


def _share_of_first(n: int, select: Select) -> float:
    key = torch.zeros(1, 1, n, 1)
    key[0, 0, 0] = 1.5
    query, value = torch.ones(1, 1, 1, 1), torch.zeros(1, 1, n, 1)
    value[0, 0, 0] = 1.0
    seen = all_visible(n)
    return attend(query, key, value, score=dot, select=select, visible=seen).mixed.item()


def _dyck() -> Measured:
    """Draw 400 strings of two kinds of brackets at depth 3 and judge them by a stack by hand.

    Every other one belongs; the deepest place is counted.
    """
    pairs = list(language("dyck", lengths=range(2, 61), count=400, seed=3))
    right = sum(
        is_dyck(source.split(), kinds=2, depth=3) == (label == "yes") for source, label in pairs
    )
    yes = sum(label == "yes" for _, label in pairs)
    deepest = max(_depth(source.split()) for source, label in pairs if label == "yes")
    return Measured(
        f"{right} of 400 labels are right, {yes} belong, none deeper than {deepest}",
        (
            Figure("labels that the rule confirms", right, right == 400),
            Figure("strings that belong", yes, yes == 200),
            Figure("deepest of these", deepest, deepest == 3),
        ),
    )


def _depth(symbols: list[str]) -> int:
    opening = {pair[0] for pair in BRACKETS}
    depth = most = 0
    for symbol in symbols:
        depth += 1 if symbol in opening else -1
        most = max(most, depth)
    return most


FIRST = Claim(
    name="first-needs-log-length",
    numbers=(68,),
    source="D1 Q4; Chiang and Cholak 2022, §5",
    statement="To look at the first symbol of longer and longer texts a softmax loses it; scores "
    "multiplied by log n do not.",
    layer="layers/log_length.py",
    reading="A fixed lead is worth less and less among more keys. With log n it is worth more.",
    then='Set model.mixer.select = "log-length"; first-trained trains at 50 and tests at 1,000.',
    measure=_first,
)
DYCK = Claim(
    name="dyck-world",
    numbers=(69,),
    source="D1 Q4; Yao et al. 2021; Bhattamishra et al. 2020",
    statement="Dyck of bounded depth is a language whose truth is a rule: balanced, never deeper "
    "than D.",
    layer="data/worlds/languages.py",
    reading="The world's labels are the rule's. dyck-trained trains on it and tests on "
    "longer ones.",
    then='`regard train` with data.train = ["world:dyck"].',
    measure=_dyck,
)
