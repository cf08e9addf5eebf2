"""The penalty ‖AAᵀ - I‖²: its range, what it really asks for, and the alternative (D1 Q1)."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measured, claim
from regard.claims.counters import count_multiplications, time_fastest
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, list_values, tabulate
from regard.draw.bars import Bars
from regard.layers.diversity import divergence, frobenius, off_diagonal

HOPS, WORDS = 30, 50


def _one_hots(places: list[int], words: int) -> Tensor:
    return torch.nn.functional.one_hot(torch.tensor(places), words)[None].to(
        torch.get_default_dtype()
    )


@claim(
    numbers=(58,),
    source="D1 Q1; Lin et al. 2017, eq. 8",
    statement="‖AAᵀ - I‖² is 0 where every look has a word of its own, and greatest where all look "
    "at the same one.",
    layer="layers/diversity.py",
    reading="0 to r(r-1). With more looks than words the rank of AAᵀ is too small: at least r - n.",
    then="See penalty-is-sharpness for looks that are not on one word.",
)
@exact()
def penalty_range() -> Measured:
    """Give the penalty looks of one word each: all different, all the same, too many for the words.

    For 10 looks at 5 words also 40 descents from random starts, by Adam.
    """
    least = frobenius(_one_hots(list(range(HOPS)), WORDS)).item()
    most = frobenius(_one_hots([0] * HOPS, WORDS)).item()
    crowded = frobenius(_one_hots([place % 5 for place in range(10)], 5)).item()
    logits = torch.randn(40, 10, 5, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.3)
    for _ in range(120):
        optimizer.zero_grad()
        frobenius(logits.softmax(dim=-1)).sum().backward()
        optimizer.step()
    found = frobenius(logits.softmax(dim=-1)).min().item()
    return Measured(
        f"from {least:g} to {most:g} for 30 looks; 10 looks at 5 words cost {crowded:g} by "
        "twos and "
        f"{found:.1f} at the least found",
        (
            Figure("30 looks at 30 different words", least, least == 0.0, given=0.0),
            Figure("30 looks at one word, r(r-1)", most, most == HOPS * (HOPS - 1), given=870),
            Figure("10 looks at 5 words, two each", crowded, crowded == 10, given=10),
            Figure("least of 40 searched, 10 looks at 5 words", found, found >= 5.0),
        ),
    )


@claim(
    numbers=(58,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="The penalty punishes looks for being alike.",
    layer="layers/diversity.py",
    reading="Of diffuse looks the diagonal costs nearly all: what is punished is that they are not "
    "sharp. Only sharp looks are punished mainly for being alike.",
    then='Set model.head.hops.penalty = "off-diagonal": apart, and as wide as they like.',
    right="With diffuse looks it is mostly a penalty on width: 28.81 of 29.16.",
)
@exact()
def penalty_is_diversity() -> Measured:
    """Give the penalty 30 even, identical looks at 50 words; take off what the diagonal costs."""
    looks = torch.full((1, HOPS, WORDS), 1 / WORDS)
    whole, apart = frobenius(looks).item(), off_diagonal(looks).item()
    diagonal = whole - apart
    return Measured(
        f"{whole:.2f}, of which {diagonal:.2f} says “not sharp” and {apart:.2f} says “alike”",
        (
            Figure("penalty of even, identical looks", whole, given=29.16, within=1e-3),
            Figure("its diagonal: looks are not sharp", diagonal, given=28.81, within=1e-3),
            Figure("off the diagonal: looks are alike", apart, apart > diagonal),
        ),
        Bars("What 29.16 is made of", [("not sharp", diagonal), ("alike", apart)]),
    )


@claim(
    numbers=(59,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="For two looks with the same distribution the sum of the products is 1.",
    layer="layers/diversity.py",
    reading="a·a is 1 only for a look on one word; an even look over n words has 1/n.",
    then="Read the paper again: identical and concentrated on one word.",
    right="It is Σ aₖ², which is 1 only if the look rests on one word.",
    condition="the look rests on a single word",
)
@exact()
def identical_looks_sum_to_one() -> Measured:
    """Multiply a look with itself: even over n words, half and half, and on one word."""
    looks = {
        "even over 50 words": torch.full((WORDS,), 1 / WORDS),
        "half on each of two": torch.tensor([0.5, 0.5]),
        "all on one word": torch.tensor([1.0, 0.0]),
    }
    found = {name: (look @ look).item() for name, look in looks.items()}
    return Measured(
        list_values("{}: {:g}", found),
        tabulate("a·a, {}", found, lambda product: product == 1.0),
    )


def naive_divergence(looks: Tensor) -> Tensor:
    """KL of all pairs, element by element, as the document counts it."""
    logs = looks.log()
    return (looks[:, :, None] * (logs[:, :, None] - logs[:, None])).sum(dim=-1)


@claim(
    numbers=(61,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="The penalty needs one third of the computation of a KL divergence between looks.",
    layer="layers/diversity.py",
    reading="A third of KL element by element. Written as one product, KL costs the same product: "
    "the ratio tends to 1.",
    then="Time both on long texts; the logarithms are rn, the product r²n.",
    right="A third only of a naive KL; equal to KL as a product.",
    condition="KL is computed element by element",
)
@exact()
def one_third_of_kl() -> Measured:
    """Count AAᵀ and the KL of all pairs for 30 looks at 200 words, in two forms.

    A multiply-and-add of a product counts as one. Element by element KL subtracts, multiplies and
    adds r²n times; as one product A·log(A)ᵀ it costs what AAᵀ costs, and rn logarithms.
    """
    words = 200
    looks = torch.randn(1, HOPS, words).softmax(dim=-1)
    product = count_multiplications(lambda: looks @ looks.mT)
    as_product = count_multiplications(lambda: divergence(looks))
    gap = difference(divergence(looks, floor=1e-300), naive_divergence(looks))
    measures = (frobenius, divergence, naive_divergence)
    times = [time_fastest(partial(one, looks), 20) for one in measures]
    by_elements = 3 * HOPS**2 * words
    thirds = product / by_elements, product / as_product
    return Measured(
        f"AAᵀ costs {thirds[0]:.2f} of KL element by element and {thirds[1]:.2f} of KL as a "
        "product",
        (
            Figure("AAᵀ over KL, element by element", thirds[0], product * 3 == by_elements),
            Figure("AAᵀ over KL, as a product", thirds[1], product * 3 == as_product),
            Figure("difference of the two forms of KL", gap),
            Figure("time over that of KL as a product (varies)", times[0] / times[1]),
            Figure("time of KL element by element over as a product (varies)", times[2] / times[1]),
        ),
    )


@claim(
    numbers=(62,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="Maximising KL is unstable: many weights go to 0, where its logarithm breaks.",
    layer="layers/diversity.py",
    reading="KL has no upper end, so logits grow for as long as one trains; the penalty ends at 0. "
    "A weight that underflows makes KL infinite, unless logarithms are floored.",
    then='Train with model.head.hops.penalty = "kl": its logarithms are floored.',
)
def kl_is_unstable() -> Measured:
    """Push the same five looks at ten words apart for 300 steps: by the penalty, and by their KL.

    Gradient steps on the logits, in float32. Recorded is the largest logit; and the KL of looks one
    of which has a weight of exactly 0.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        start = 0.1 * torch.randn(1, 5, 10)
        penalty = _pushed(start, lambda looks: frobenius(looks).sum())
        kl = _pushed(start, lambda looks: -naive_divergence(looks).mean())
    zero = torch.tensor([[[0.0, 800.0], [1.0, 0.0]]]).softmax(dim=-1)
    broken = int((~naive_divergence(zero).isfinite()).sum())
    floored = int((~divergence(zero).isfinite()).sum())
    return Measured(
        f"largest logit after 300 steps: {penalty[-1]:.1f} by the penalty, {kl[-1]:.1f} by KL; "
        f"{broken} of 4 KLs are not finite at a weight of 0",
        (
            Figure("largest logit, penalty", penalty[-1]),
            Figure("largest logit, KL", kl[-1], kl[-1] > 2 * penalty[-1]),
            Figure("KLs not finite at a weight of 0, of 4", broken, broken > 0),
            Figure("the same with floored logarithms", floored),
        ),
        draw_curves("Largest logit", "step", range(300), {"penalty": penalty, "KL": kl}),
    )


def _pushed(start: Tensor, lost: Callable[[Tensor], Tensor]) -> list[float]:
    logits = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([logits], lr=1.0)
    largest = []
    for _ in range(300):
        optimizer.zero_grad()
        lost(logits.softmax(dim=-1)).backward()
        optimizer.step()
        largest.append(logits.detach().abs().max().item())
    return largest
