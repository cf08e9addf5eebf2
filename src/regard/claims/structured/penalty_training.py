"""What the penalty does in training (D1 Q1)."""

import torch

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import classification, rated
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.draw.bars import Bars
from regard.layers.diversity import mean_overlap
from regard.layers.tap import listen
from regard.run import Run

WEIGHTS, SEEDS = (0.0, 0.3, 1.0), (1, 2)


def _run(weight: float, seed: int) -> Run:
    hops = {"hops": 6, "features": 24, "penalty": "frobenius", "penalty_weight": weight}
    head = {"pooling": "hops", "dropout": 0.0, "hops": hops}
    tables = classification(250, longest=128, seed=seed, depth=1, head=head)
    files = labelled_files(rated(1500), rated(200, "valid"))
    return trial(f"penalty-{weight:g}", tables, files)


def _looks(run: Run) -> tuple[float, float]:
    """Give the mean overlap of two looks, and their mean entropy in nats, over 100 reviews."""
    overlaps, entropies = [], []
    with torch.no_grad():
        for text, _ in rated(100, "test"):
            batch = run.task.asked(text)
            with listen(run.model, "head.pool.looks.weights") as heard:
                run.task.states(run.model, batch)
            weights = next(iter(heard.values()))[0][:, 0]
            overlaps.append(mean_overlap(weights).item())
            entropies.append(torch.special.entr(weights).sum(dim=-1).mean().item())
    return sum(overlaps) / len(overlaps), sum(entropies) / len(entropies)


@claim(
    numbers=(63, 57),
    source="D1 Q1; Lin et al. 2017, §4.4",
    statement="The penalty makes looks differ.",
    layer="layers/diversity.py",
    reading="Less overlap with more weight; the entropies say how much of it is mere sharpness.",
    then='Set model.head.hops.penalty = "off-diagonal" and compare the entropies.',
    slow=True,
)
def penalty_trained() -> Measured:
    """Train 6 looks at 1,500 reviews with the penalty times 0, 0.3 and 1, two seeds each.

    Overlap is the share of two looks that rests on the same words, over 100 reviews not seen.
    """
    overlap, entropy, score = {}, {}, {}
    for weight in WEIGHTS:
        runs = [_run(weight, seed) for seed in SEEDS]
        looks = [_looks(run) for run in runs]
        overlap[weight] = sum(one for one, _ in looks) / len(looks)
        entropy[weight] = sum(one for _, one in looks) / len(looks)
        score[weight] = sum(accuracy(run, rated(300, "test")) for run in runs) / len(runs)
    saved = overlap[0.0] - overlap[1.0]
    return Measured(
        f"overlap {list_values('{1:.0%} at {0:g}', overlap)}; accuracy "
        f"{list_values('{1:.0%}', score)}",
        (
            *tabulate("overlap, weight {:g}", overlap),
            *tabulate("entropy, weight {:g}", entropy),
            *tabulate("accuracy, weight {:g}", score),
            Figure("overlap saved by weight 1", saved, saved > 0),
        ),
        Bars("Overlap of two looks", [(f"weight {one:g}", two) for one, two in overlap.items()]),
    )
