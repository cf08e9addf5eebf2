"""Learning curves: pretrained against random initialisation (D3 Q4)."""

from typing import Any

from regard.claims.claim import Curves, Figure, Measurement, claim
from regard.claims.recipes import (
    classification,
    join_sentences,
    language_modelling,
    make_opinions,
    training,
)
from regard.claims.seeds import Seeds, draw_range
from regard.claims.table import tabulate
from regard.claims.trials import make_labelled_files, run_trial
from regard.run import Run

SEEDS, EPOCHS, LABELLED, OPINIONS = (1, 2, 3), 10, 200, 2
REACHED = 0.75


def _pretrain() -> Run:
    """Train a causal language model on reviews without their ratings, or load the run."""
    tables = language_modelling(800, longest=64, tied=False, width=48, feed_forward=96)
    tables["training"]["batch_tokens"] = 1024
    lines = [f"{text}\n" for text, _ in join_sentences(make_opinions(3000, 4, seed=1))]
    return run_trial(
        "lab-pretrained",
        tables,
        {"train.txt": "".join(lines[200:]), "valid.txt": "".join(lines[:200])},
    )


def _train_curve(kind: str, seed: int) -> list[float]:
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
            "run": str(_pretrain().folder),
            "freeze": kind == "frozen",
        }
        del tables["text"]
    run = run_trial(
        f"curve-{kind}", tables, make_labelled_files(_make_rows(LABELLED, 2), _make_rows(400, 3))
    )
    return [line["metrics"]["accuracy"] for line in run.journal if line["event"] == "evaluation"]


def _make_rows(count: int, seed: int) -> list[tuple[str, str]]:
    return join_sentences(make_opinions(count, OPINIONS, seed=seed))


def _train_curves() -> dict[str, list[list[float]]]:
    kinds = ("random", "pretrained", "frozen")
    return {kind: [_train_curve(kind, seed) for seed in SEEDS] for kind in kinds}


def _average(curves: list[list[float]], place: int) -> float:
    return sum(curve[place] for curve in curves) / len(curves)


@claim(
    numbers=(53,),
    source="D3 Q4; Radford et al. 2018",
    statement="At the start the pretrained model is at 65% where the random one is at 50%.",
    layer="models/transfer.py",
    meaning="Before any update both are at chance: the head is random in both. The lead appears "
    "after the first epoch and shrinks from there.",
    next_step="`regard compare runs/scratch-* runs/pretrained-*` for runs of your own.",
    correction="Before any update both are at chance; the document's 65% is after an epoch. On "
    "its own data scratch goes 50.2, 64.5, 74.0, 76.8, 77.7 and pretrained reaches 80: two points "
    "remain.",
    slow=True,
)
def pretrained_starts_ahead() -> Measurement:
    """Evaluate before the first update and after each of 10 epochs on 200 ratings, three seeds.

    Initialised at random, from a causal language model pretrained on 2,800 reviews without ratings,
    whose opinions agree, and from the same frozen, its head at ten times the learning rate.
    """
    curves = _train_curves()
    before = {kind: _average(found, 0) for kind, found in curves.items()}
    first = {kind: _average(found, 1) for kind, found in curves.items()}
    last = {kind: _average(found, -1) for kind, found in curves.items()}
    chance = 1 / len({rating for _, rating in _make_rows(LABELLED, 2)})
    gap = before["pretrained"] - before["random"]
    return Measurement(
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
        _draw(curves),
    )


def _draw(curves: dict[str, list[list[float]]]) -> Curves:
    lines = tuple(
        draw_range(kind, range(len(found[0])), [Seeds(each) for each in zip(*found, strict=True)])
        for kind, found in curves.items()
    )
    return Curves("Accuracy on unseen reviews, three seeds", "epoch", lines)


@claim(
    numbers=(54,),
    source="D3 Q4",
    statement="A pretrained model needs fewer steps to the same accuracy.",
    layer="models/transfer.py",
    meaning="A curve that never reaches the accuracy counts as one epoch more than all.",
    next_step="Give it fewer labels: the saving grows.",
    slow=True,
)
def pretraining_converges_faster() -> Measurement:
    """Count the epochs until three quarters of the best accuracy of all is reached, three seeds."""
    curves = _train_curves()
    best = max(score for found in curves.values() for curve in found for score in curve)
    needed = {
        kind: [_count_epochs(curve, REACHED * best) for curve in found]
        for kind, found in curves.items()
    }
    means = {kind: sum(found) / len(found) for kind, found in needed.items()}
    saved = means["random"] - means["pretrained"]
    return Measurement(
        f"{means['pretrained']:.1f} epochs to {REACHED * best:.0%} pretrained, "
        f"{means['random']:.1f} from random",
        (
            *tabulate("epochs needed, {}", means),
            Figure("epochs saved", saved, saved > 0),
        ),
        _draw(curves),
    )


def _count_epochs(curve: list[float], wanted: float) -> int:
    return next((place for place, score in enumerate(curve) if score >= wanted), len(curve))
