"""What unlabelled text is worth where labels are few (D2 h)."""

import json
from typing import Any

from regard.claims.claim import Curves, Figure, Measured, claim
from regard.claims.recipes import agreeing, joined, training
from regard.claims.seeds import Seeds, compare, draw_range, means, spread, with_seeds
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.run import Run

LABELLED, SEEDS, AMOUNTS = 40, (1, 2, 3), (0, 10, 100, 1000)


def _tables(task: str, steps: int, rate: float, *, seed: int = 1) -> dict[str, Any]:
    """Give a small form of the recipes reviews-pretraining and reviews-pretrained."""
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


def _body(documents: int, *, agree: bool = True) -> Run:
    """Learn from so many reviews of four opinions, without their ratings, or open it again."""
    tables = _tables("document-pretraining", 600, 3e-3)
    tables["data"] = {"fields": ["text"], "holdout": 0.1}
    tables["training"]["batch_tokens"] = 4096
    rows = joined(agreeing(documents, 4, seed=1, agree=agree))
    lines = "".join(json.dumps({"text": text}) + "\n" for text, _ in rows)
    return trial(f"documents-{documents}", tables, {"train.jsonl": lines})


def _tuned(start: Run | None, seed: int) -> float:
    """Learn from 40 ratings of single opinions; give the accuracy on 500 others."""
    tables = _tables("classification", 100, 5e-3, seed=seed)
    tables["training"]["batch_tokens"] = 512
    if start is not None:
        tables["model"]["start"] = {"run": str(start.folder)}
        del tables["text"]
    files = labelled_files(
        joined(agreeing(LABELLED, 1, seed=100 + seed)), joined(agreeing(100, 1, seed=7))
    )
    return accuracy(trial("few-labels", tables, files), joined(agreeing(500, 1, seed=8)))


def _after(documents: int, *, agree: bool = True) -> Seeds:
    start = _body(documents, agree=agree) if documents else None
    return with_seeds(lambda seed: _tuned(start, seed), SEEDS)


@claim(
    numbers=(49,),
    source="D2 h",
    statement="Unlabelled text, such as novels, is useful for a task with few labels.",
    layer="tasks/pretraining/document_pretraining.py",
    reading="The same labels each time; only what was read before differs. Forty of them name two "
    "thirds of the words that judge; of the rest only unlabelled text can tell which go with them.",
    then="`regard train reviews-pretraining && regard train reviews-pretrained` on real reviews; "
    "there what was read is kept as it is (model.start.freeze).",
    condition="what the task asks shows in which words go together in the text",
    slow=True,
)
def unlabelled_text_is_useful() -> Measured:
    """Learn from 0, 10, 100 and 1,000 reviews without ratings, then from 40 rated sentences.

    Read first by the task document-pretraining, then all of it learns; three seeds with other
    ratings each. Once in reviews whose opinions agree, once in reviews whose do not.
    """
    found = {amount: _after(amount) for amount in AMOUNTS}
    mixed = _after(AMOUNTS[-1], agree=False)
    nothing, most = found[0], found[AMOUNTS[-1]]
    return Measured(
        f"{nothing.mean:.1%} from nothing, {most.mean:.1%} after {AMOUNTS[-1]:,} unlabelled "
        f"reviews; {mixed.mean:.1%} if their opinions do not go together",
        (
            *tabulate("accuracy after {:,} reviews", means(found)),
            Figure("seeds differ by", spread(*found.values())),
            compare("gain of the most text", most, nothing),
            compare("gain if opinions do not go together", mixed, nothing),
        ),
        Curves(
            "Accuracy by unlabelled text, mean and range of three seeds",
            "reviews read",
            (draw_range("accuracy", AMOUNTS, list(found.values())),),
        ),
    )
