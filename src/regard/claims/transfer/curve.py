"""The curve of pretrained against random start (D3 Q4)."""

from typing import Any

from regard.claims.claim import Curves, Figure, Measured, claim
from regard.claims.recipes import (
    agreeing,
    classification,
    joined,
    language_modelling,
    training,
)
from regard.claims.seeds import Seeds, draw_range
from regard.claims.table import tabulate
from regard.claims.trials import labelled_files, trial
from regard.run import Run

SEEDS, EPOCHS, LABELLED, OPINIONS = (1, 2, 3), 10, 200, 2
REACHED = 0.75


def _language_model() -> Run:
    """Train a causal language model on reviews without their ratings, or open it again."""
    tables = language_modelling(800, longest=64, tied=False, width=48, feed_forward=96)
    tables["training"]["batch_tokens"] = 1024
    lines = [f"{text}\n" for text, _ in joined(agreeing(3000, 4, seed=1))]
    return trial(
        "lab-pretrained",
        tables,
        {"train.txt": "".join(lines[200:]), "valid.txt": "".join(lines[:200])},
    )


def _curve(kind: str, seed: int) -> list[float]:
    """Give the accuracy on other reviews before any update and after every epoch."""
    tables: dict[str, Any] = classification(
        1, longest=64, seed=seed, causal=True, head={"pooling": "last", "dropout": 0.0}
    )
    tables["training"] = training(
        1, budget=f"{EPOCHS} epochs", evaluations=EPOCHS, evaluate_first=True, batch_tokens=512
    )
    tables["training"]["optimizer"]["rate"] = 1e-2 if kind == "frozen" else 1e-3
    if kind != "random":
        tables["model"]["start"] = {
            "run": str(_language_model().folder),
            "freeze": kind == "frozen",
        }
        del tables["text"]
    run = trial(f"curve-{kind}", tables, labelled_files(_rows(LABELLED, 2), _rows(400, 3)))
    return [line["metrics"]["accuracy"] for line in run.journal if line["event"] == "evaluation"]


def _rows(count: int, seed: int) -> list[tuple[str, str]]:
    return joined(agreeing(count, OPINIONS, seed=seed))


def _curves() -> dict[str, list[list[float]]]:
    kinds = ("random", "pretrained", "frozen")
    return {kind: [_curve(kind, seed) for seed in SEEDS] for kind in kinds}


def _mean(curves: list[list[float]], place: int) -> float:
    return sum(curve[place] for curve in curves) / len(curves)


@claim(
    numbers=(53,),
    source="D3 Q4; Radford et al. 2018",
    statement="At the start the pretrained model is at 65% where the random one is at 50%.",
    layer="models/transfer.py",
    reading="Before any update both guess: the head is random in both. The lead shows after "
    "the first "
    "epoch, and shrinks from there.",
    then="`regard compare runs/scratch-* runs/pretrained-*` for runs of your own.",
    right="Before any update both are at chance; the document's 65% is after an epoch. On "
    "its own data "
    "scratch goes 50.2, 64.5, 74.0, 76.8, 77.7 and pretrained reaches 80: two points remain.",
    slow=True,
)
def pretrained_starts_ahead() -> Measured:
    """Measure before the first update and after each of 10 epochs on 200 ratings, three seeds.

    Starts: at random, a causal language model pretrained on 2,800 reviews without ratings, whose
    opinions agree, and the same frozen, its head at ten times the rate.
    """
    curves = _curves()
    before = {kind: _mean(found, 0) for kind, found in curves.items()}
    first = {kind: _mean(found, 1) for kind, found in curves.items()}
    last = {kind: _mean(found, -1) for kind, found in curves.items()}
    chance = 1 / len({rating for _, rating in _rows(LABELLED, 2)})
    gap = before["pretrained"] - before["random"]
    return Measured(
        f"before any update {before['random']:.0%} and {before['pretrained']:.0%}; after one epoch "
        f"{first['random']:.0%} and {first['pretrained']:.0%}; at the end {last['random']:.0%} and "
        f"{last['pretrained']:.0%}",
        (
            Figure("chance", chance),
            *tabulate("before any update, {}", before),
            *tabulate("after one epoch, {}", first),
            *tabulate("at the end, {}", last),
            Figure("pretrained ahead before any update", gap, gap > 0.1),
        ),
        _drawn(curves),
    )


def _drawn(curves: dict[str, list[list[float]]]) -> Curves:
    lines = tuple(
        draw_range(kind, range(len(found[0])), [Seeds(each) for each in zip(*found, strict=True)])
        for kind, found in curves.items()
    )
    return Curves("Accuracy on reviews not seen, three seeds", "epoch", lines)


@claim(
    numbers=(54,),
    source="D3 Q4",
    statement="A pretrained model needs fewer steps to the same accuracy.",
    layer="models/transfer.py",
    reading="An epoch that was never reached counts as one after the last.",
    then="Give it fewer labels: the saving grows.",
    slow=True,
)
def pretraining_converges_faster() -> Measured:
    """Count the epochs until three quarters of the best accuracy of all is reached, three seeds."""
    curves = _curves()
    best = max(score for found in curves.values() for curve in found for score in curve)
    needed = {
        kind: [_epochs(curve, REACHED * best) for curve in found] for kind, found in curves.items()
    }
    means = {kind: sum(found) / len(found) for kind, found in needed.items()}
    saved = means["random"] - means["pretrained"]
    return Measured(
        f"{means['pretrained']:.1f} epochs to {REACHED * best:.0%} from pretraining, "
        f"{means['random']:.1f} from random",
        (
            *tabulate("epochs needed, {}", means),
            Figure("epochs saved", saved, saved > 0),
        ),
        _drawn(curves),
    )


def _epochs(curve: list[float], wanted: float) -> int:
    return next((place for place, score in enumerate(curve) if score >= wanted), len(curve))
