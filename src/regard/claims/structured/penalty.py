"""The penalty ‖AAᵀ - I‖²: its range, what it penalises, and KL as the alternative (D1 Q1)."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
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
    statement="‖AAᵀ - I‖² is 0 where every hop attends to a word of its own, and greatest where "
    "all attend to the same one.",
    layer="layers/diversity.py",
    meaning="0 to r(r-1). With more hops than words the rank of AAᵀ is too small: at least r - n.",
    next_step="See penalty-is-diversity for hops that are not concentrated on one word.",
)
@exact()
def penalty_range() -> Measurement:
    """Evaluate the penalty for one-hot hops: all different, all equal, more hops than words.

    For 10 hops over 5 words also minimise it by Adam from 40 random starts.
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
    return Measurement(
        f"from {least:g} to {most:g} for 30 hops; 10 hops on 5 words cost {crowded:g} in "
        "pairs and "
        f"{found:.1f} at the minimum found",
        (
            Figure("30 hops on 30 different words", least, least == 0.0, given=0.0),
            Figure("30 hops on one word, r(r-1)", most, most == HOPS * (HOPS - 1), given=870),
            Figure("10 hops on 5 words, two each", crowded, crowded == 10, given=10),
            Figure("least of 40 minimisations, 10 hops on 5 words", found, found >= 5.0),
        ),
    )


@claim(
    numbers=(58,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="The penalty punishes hops for being alike.",
    layer="layers/diversity.py",
    meaning="For diffuse hops the diagonal is nearly all of the penalty: what is punished is that "
    "they are not sharp. Only sharp hops are punished mainly for being alike.",
    next_step='Set model.head.hops.penalty = "off-diagonal", which penalises overlap only.',
    correction="For diffuse hops it is mostly a penalty on spread: 28.81 of 29.16.",
)
@exact()
def penalty_is_diversity() -> Measurement:
    """Evaluate the penalty for 30 uniform, identical hops over 50 words; subtract the diagonal."""
    hops = torch.full((1, HOPS, WORDS), 1 / WORDS)
    whole, overlap = frobenius(hops).item(), off_diagonal(hops).item()
    diagonal = whole - overlap
    return Measurement(
        f"{whole:.2f}, of which {diagonal:.2f} says “not sharp” and {overlap:.2f} says “alike”",
        (
            Figure("penalty of uniform, identical hops", whole, given=29.16, within=1e-3),
            Figure("its diagonal: hops are not sharp", diagonal, given=28.81, within=1e-3),
            Figure("off the diagonal: hops are alike", overlap, overlap > diagonal),
        ),
        Bars("Parts of 29.16", [("not sharp", diagonal), ("alike", overlap)]),
    )


@claim(
    numbers=(59,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="For two hops with the same distribution the sum of the products is 1.",
    layer="layers/diversity.py",
    meaning="a·a is 1 only if all weight is on one word; uniform weights over n words give 1/n.",
    next_step="Compare with the paper: identical and concentrated on one word.",
    correction="It is Σ aₖ², which is 1 only if all weight is on one word.",
    condition="all weight is on a single word",
)
@exact()
def identical_weights_sum_to_one() -> Measurement:
    """Multiply weights with themselves: uniform over n words, half and half, all on one word."""
    hops = {
        "uniform over 50 words": torch.full((WORDS,), 1 / WORDS),
        "half on each of two": torch.tensor([0.5, 0.5]),
        "all on one word": torch.tensor([1.0, 0.0]),
    }
    found = {name: (hop @ hop).item() for name, hop in hops.items()}
    return Measurement(
        list_values("{}: {:g}", found),
        tabulate("a·a, {}", found, lambda product: product == 1.0),
    )


def elementwise_divergence(hops: Tensor) -> Tensor:
    """Compute the KL of all pairs element by element, as the document counts it."""
    logs = hops.log()
    return (hops[:, :, None] * (logs[:, :, None] - logs[:, None])).sum(dim=-1)


@claim(
    numbers=(61,),
    source="D1 Q1; Lin et al. 2017, §2.2",
    statement="The penalty needs one third of the computation of a KL divergence between hops.",
    layer="layers/diversity.py",
    meaning="A third of the element-wise KL. Written as one matrix product, KL costs the same "
    "product: the ratio tends to 1.",
    next_step="Time both on long texts; the logarithms are rn, the product r²n.",
    correction="A third only of a naive KL; equal to KL as a matrix product.",
    condition="KL is computed element by element",
)
@exact()
def one_third_of_kl() -> Measurement:
    """Count AAᵀ and the KL of all pairs for 30 hops over 200 words, in two forms.

    A multiply-accumulate counts as one. Element by element KL subtracts, multiplies and adds r²n
    times; as one product A·log(A)ᵀ it costs what AAᵀ costs, and rn logarithms.
    """
    words = 200
    hops = torch.randn(1, HOPS, words).softmax(dim=-1)
    product = count_multiplications(lambda: hops @ hops.mT)
    as_product = count_multiplications(lambda: divergence(hops))
    gap = difference(divergence(hops, floor=1e-300), elementwise_divergence(hops))
    measures = (frobenius, divergence, elementwise_divergence)
    times = [time_fastest(partial(one, hops), 20) for one in measures]
    by_elements = 3 * HOPS**2 * words
    thirds = product / by_elements, product / as_product
    return Measurement(
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
    meaning="KL is unbounded, so logits grow for as long as one trains; the penalty is bounded by "
    "0. A weight that underflows makes KL infinite, unless logarithms are floored.",
    next_step='Train with model.head.hops.penalty = "kl": its logarithms are floored.',
)
def kl_is_unstable() -> Measurement:
    """Separate five identical hops over ten words in 300 steps: by the penalty, and by their KL.

    Gradient descent on the logits, in float32. Recorded is the largest logit; also the KL of hops
    one of which has a weight of exactly 0.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        start = 0.1 * torch.randn(1, 5, 10)
        penalty = _separate(start, lambda hops: frobenius(hops).sum())
        kl = _separate(start, lambda hops: -elementwise_divergence(hops).mean())
    zero = torch.tensor([[[0.0, 800.0], [1.0, 0.0]]]).softmax(dim=-1)
    infinite = int((~elementwise_divergence(zero).isfinite()).sum())
    floored = int((~divergence(zero).isfinite()).sum())
    return Measurement(
        f"largest logit after 300 steps: {penalty[-1]:.1f} by the penalty, {kl[-1]:.1f} by KL; "
        f"{infinite} of 4 KLs are not finite at a weight of 0",
        (
            Figure("largest logit, penalty", penalty[-1]),
            Figure("largest logit, KL", kl[-1], kl[-1] > 2 * penalty[-1]),
            Figure("KLs not finite at a weight of 0, of 4", infinite, infinite > 0),
            Figure("the same with floored logarithms", floored),
        ),
        draw_curves("Largest logit", "step", range(300), {"penalty": penalty, "KL": kl}),
    )


def _separate(start: Tensor, loss: Callable[[Tensor], Tensor]) -> list[float]:
    logits = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([logits], lr=1.0)
    largest = []
    for _ in range(300):
        optimizer.zero_grad()
        loss(logits.softmax(dim=-1)).backward()
        optimizer.step()
        largest.append(logits.detach().abs().max().item())
    return largest
