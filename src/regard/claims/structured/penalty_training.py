"""The penalty in training (D1 Q1)."""

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import classification, make_reviews
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.draw.bars import Bars
from regard.layers.diversity import mean_overlap
from regard.layers.tap import listen
from regard.run import Run

WEIGHTS, SEEDS = (0.0, 0.3, 1.0), (1, 2)


def _train(weight: float, seed: int) -> Run:
    hops = {"hops": 6, "features": 24, "penalty": "frobenius", "penalty_weight": weight}
    head = {"pooling": "hops", "dropout": 0.0, "hops": hops}
    tables = classification(250, longest=128, seed=seed, depth=1, head=head)
    files = make_labelled_files(make_reviews(1500), make_reviews(200, "valid"))
    return run_trial(f"penalty-{weight:g}", tables, files)


def _measure_hops(run: Run) -> tuple[float, float]:
    """Measure the mean overlap of two hops and their mean entropy in nats over 100 reviews."""
    overlaps, entropies = [], []
    with torch.no_grad():
        for text, _ in make_reviews(100, "test"):
            batch = run.task.encode_text(text)
            with listen(run.model, "head.pool.looks.weights") as recorded:
                run.task.states(run.model, batch)
            weights = next(iter(recorded.values()))[0][:, 0]
            overlaps.append(mean_overlap(weights).item())
            entropies.append(torch.special.entr(weights).sum(dim=-1).mean().item())
    return sum(overlaps) / len(overlaps), sum(entropies) / len(entropies)


@claim(
    numbers=(63, 57),
    source="D1 Q1; Lin et al. 2017, §4.4",
    statement="The penalty makes hops differ.",
    layer="layers/diversity.py",
    meaning="Less overlap with a larger weight; the entropies say how much of it is only "
    "sharpness.",
    next_step='Set model.head.hops.penalty = "off-diagonal" and compare the entropies.',
    slow=True,
)
def penalty_trained() -> Measurement:
    """Train 6 hops on 1,500 reviews with the penalty times 0, 0.3 and 1, two seeds each.

    Overlap is the share of the weight of two hops that falls on the same words, over 100 unseen
    reviews.
    """
    overlap, entropy, score = {}, {}, {}
    for weight in WEIGHTS:
        runs = [_train(weight, seed) for seed in SEEDS]
        measured = [_measure_hops(run) for run in runs]
        overlap[weight] = sum(one for one, _ in measured) / len(measured)
        entropy[weight] = sum(one for _, one in measured) / len(measured)
        score[weight] = sum(accuracy(run, make_reviews(300, "test")) for run in runs) / len(runs)
    saved = overlap[0.0] - overlap[1.0]
    return Measurement(
        f"overlap {list_values('{1:.0%} at {0:g}', overlap)}; accuracy "
        f"{list_values('{1:.0%}', score)}",
        (
            *tabulate("overlap, weight {:g}", overlap),
            *tabulate("entropy, weight {:g}", entropy),
            *tabulate("accuracy, weight {:g}", score),
            Figure("overlap saved by weight 1", saved, saved > 0),
        ),
        Bars("Overlap of two hops", [(f"weight {one:g}", two) for one, two in overlap.items()]),
    )
