"""What the penalty does in training (D1 Q1)."""

import torch

from regard.claims.claim import Claim, Figure, Measured
from regard.claims.recipes import classification, rated
from regard.claims.trials import accuracy, labelled, trial
from regard.draw.bars import Bars
from regard.layers.diversity import mean_overlap
from regard.layers.tap import listen
from regard.run import Run

WEIGHTS, SEEDS = (0.0, 0.3, 1.0), (1, 2)


def _run(weight: float, seed: int) -> Run:
    hops = {"hops": 6, "features": 24, "penalty": "frobenius", "penalty_weight": weight}
    head = {"pooling": "hops", "dropout": 0.0, "hops": hops}
    tables = classification(250, longest=128, seed=seed, depth=1, head=head)
    files = {"train.jsonl": labelled(rated(1500)), "valid.jsonl": labelled(rated(200, "valid"))}
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


def _penalty() -> Measured:
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
    return Measured(
        "overlap "
        + ", ".join(f"{one:.0%} at {weight:g}" for weight, one in overlap.items())
        + "; accuracy "
        + ", ".join(f"{one:.0%}" for one in score.values()),
        (
            *(Figure(f"overlap, weight {weight:g}", one) for weight, one in overlap.items()),
            *(Figure(f"entropy, weight {weight:g}", one) for weight, one in entropy.items()),
            *(Figure(f"accuracy, weight {weight:g}", one) for weight, one in score.items()),
            Figure(
                "overlap saved by weight 1",
                overlap[0.0] - overlap[1.0],
                overlap[1.0] < overlap[0.0],
            ),
        ),
        Bars(
            "Overlap of two looks", [(f"weight {weight:g}", one) for weight, one in overlap.items()]
        ),
    )


PENALTY = Claim(
    name="penalty-trained",
    numbers=(63, 57),
    source="D1 Q1; Lin et al. 2017, §4.4",
    statement="The penalty makes looks differ.",
    layer="layers/diversity.py",
    reading="Less overlap with more weight; the entropies say how much of it is mere sharpness.",
    then='Set model.head.hops.penalty = "off-diagonal" and compare the entropies.',
    measure=_penalty,
    slow=True,
)
