"""The value of unlabelled text where labels are few (D2 h)."""

import json
from typing import Any

from regard.claims.claim import Curves, Figure, Measurement, claim
from regard.claims.recipes import join_sentences, make_opinions, training
from regard.claims.seeds import (
    Seeds,
    average_seeds,
    compare,
    draw_range,
    largest_spread,
    repeat_with_seeds,
)
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.run import Run

LABELLED, SEEDS, AMOUNTS = 40, (1, 2, 3), (0, 10, 100, 1000)


def _tables(task: str, steps: int, rate: float, *, seed: int = 1) -> dict[str, Any]:
    """Give a small version of the recipes reviews-pretraining and reviews-pretrained."""
    return {
        "task": task,
        "seed": seed,
        "text": {"tokenizer": "words", "vocabulary": 1500, "max_length": 64},
        "model": {
            "width": 48,
            "depth": 0,
            "dropout": 0.0,
            "last_norm": False,
            "position": {"kind": "none"},
            "head": {"pooling": "mean", "norm": True, "dropout": 0.0},
        },
        "training": training(steps, optimizer={"kind": "adamw", "rate": rate, "weight_decay": 0.0}),
    }


def _pretrain(documents: int, *, agree: bool = True) -> Run:
    """Pretrain on reviews of four opinions, without their ratings, or load the run."""
    tables = _tables("document-pretraining", 600, 3e-3)
    tables["data"] = {"fields": ["text"], "holdout": 0.1}
    tables["training"]["batch_tokens"] = 4096
    rows = join_sentences(make_opinions(documents, 4, seed=1, agree=agree))
    lines = "".join(json.dumps({"text": text}) + "\n" for text, _ in rows)
    return run_trial(f"documents-{documents}", tables, {"train.jsonl": lines})


def _fine_tune(start: Run | None, seed: int) -> float:
    """Train on 40 ratings of single opinions; give the accuracy on 500 others."""
    tables = _tables("classification", 100, 5e-3, seed=seed)
    tables["training"]["batch_tokens"] = 512
    if start is not None:
        tables["model"]["start"] = {"run": str(start.folder)}
        del tables["text"]
    files = make_labelled_files(
        join_sentences(make_opinions(LABELLED, 1, seed=100 + seed)),
        join_sentences(make_opinions(100, 1, seed=7)),
    )
    return accuracy(
        run_trial("few-labels", tables, files), join_sentences(make_opinions(500, 1, seed=8))
    )


def _repeat(documents: int, *, agree: bool = True) -> Seeds:
    start = _pretrain(documents, agree=agree) if documents else None
    return repeat_with_seeds(lambda seed: _fine_tune(start, seed), SEEDS)


@claim(
    numbers=(49,),
    source="D2 h",
    statement="Unlabelled text, such as novels, is useful for a task with few labels.",
    layer="tasks/pretraining/document_pretraining.py",
    meaning="The same labels each time; only the unlabelled text differs. The forty contain two "
    "thirds of the opinion words; which of the others go together only unlabelled text can tell.",
    next_step="`regard train reviews-pretraining && regard train reviews-pretrained` on real "
    "reviews; there the pretrained table is frozen (model.start.freeze).",
    condition="the label is reflected in which words occur together in the text",
    slow=True,
)
def unlabelled_text_is_useful() -> Measurement:
    """Pretrain on 0, 10, 100 and 1,000 reviews without ratings, then train on 40 rated sentences.

    The task document-pretraining, then fine-tuning of all parameters; three seeds with different
    ratings each. Once with reviews whose opinions agree, once with reviews whose opinions do not.
    """
    found = {amount: _repeat(amount) for amount in AMOUNTS}
    mixed = _repeat(AMOUNTS[-1], agree=False)
    nothing, most = found[0], found[AMOUNTS[-1]]
    return Measurement(
        f"{nothing.mean:.1%} without pretraining, {most.mean:.1%} after {AMOUNTS[-1]:,} unlabelled "
        f"reviews; {mixed.mean:.1%} if their opinions do not agree",
        (
            *tabulate("accuracy after {:,} reviews", average_seeds(found)),
            Figure("seeds differ by", largest_spread(*found.values())),
            compare("gain of the most text", most, nothing),
            compare("gain if opinions do not agree", mixed, nothing),
        ),
        Curves(
            "Accuracy by unlabelled text, mean and range of three seeds",
            "unlabelled reviews",
            (draw_range("accuracy", AMOUNTS, list(found.values())),),
        ),
    )
