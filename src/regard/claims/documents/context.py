"""Trained HANs: reviews that need two sentences, and faithfulness (D1 Q3)."""

from typing import Any

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import make_reviews, training
from regard.claims.seeds import Seeds, average_seeds, compare
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.explain.documents import average_faithfulness
from regard.run import Run

STEPS, SEEDS = 1500, (1, 2)


def _train_han(seed: int = 1, **documents: str) -> Run:
    """Train the recipe documents-han (documents-context with ``context``), or load the run."""
    tables: dict[str, Any] = {
        "task": "classification",
        "seed": seed,
        "text": {"tokenizer": "words", "vocabulary": 2000, "max_length": 512},
        "model": {
            "width": 32,
            "states": 32,
            "depth": 1,
            "bare": True,
            "scaled_embedding": True,
            "dropout": 0.0,
            "mixer": {"kind": "recurrent", "cell": "gru"},
            "position": {"kind": "none"},
            "documents": {"read": "sentences", "words": 48, **documents},
            "head": {"pooling": "attention", "dropout": 0.0},
        },
        "training": training(STEPS, batch_tokens=1536, optimizer={"kind": "adamw", "rate": 5e-3}),
    }
    files = make_labelled_files(
        make_reviews(6000, context=0.5), make_reviews(200, "valid", context=0.5)
    )
    return run_trial("han-" + documents.get("context", "none"), tables, files)


@claim(
    numbers=(66, 67),
    source="D1 Q3; Remy et al. 2019",
    statement="Where the meaning of a sentence depends on another, context-aware attention is "
    "better than HAN.",
    layer="models/han.py",
    meaning="Ratings in which one sentence names the aspect that counts and another judges many "
    "aspects; where one sentence is enough both are equally good. HAN can still pick one of the "
    "judged aspects.",
    next_step="`regard train documents-context`, then see the attention to words with `regard "
    "explain`.",
    slow=True,
)
def reviews_need_context() -> Measurement:
    """Train HAN and the context-aware network on 6,000 reviews, half of which need two sentences.

    1,500 steps, two seeds each. Tested on reviews in which one sentence names the aspect that
    counts and another judges many, and on reviews in which one sentence is enough.
    """
    needs, plain = make_reviews(300, "test", context=1.0), make_reviews(300, "test")
    runs = {
        "HAN": [_train_han(seed) for seed in SEEDS],
        "context-aware": [_train_han(seed, context="earlier", gather="sum") for seed in SEEDS],
    }
    two = {name: Seeds(tuple(accuracy(run, needs) for run in one)) for name, one in runs.items()}
    one = {name: Seeds(tuple(accuracy(run, plain) for run in one)) for name, one in runs.items()}
    values = {
        (name, seed): value
        for name, found in two.items()
        for seed, value in zip(SEEDS, found.values, strict=True)
    }
    accuracies = ", ".join(
        f"{name} {' and '.join(f'{value:.0%}' for value in found.values)}"
        for name, found in two.items()
    )
    return Measurement(
        f"two sentences needed: {accuracies}; one sentence: {one['HAN'].mean:.0%} and "
        f"{one['context-aware'].mean:.0%}",
        (
            *tabulate("{}, seed {}", values),
            *tabulate("{}, one sentence needed", average_seeds(one)),
            compare("context-aware above HAN", two["context-aware"], two["HAN"]),
        ),
    )


@claim(
    numbers=(65,),
    source="D1 Q3; DeYoung et al. 2020",
    statement="The coefficients drawn over a document show what the answer depends on.",
    layer="explain/erasure.py",
    meaning="If the most attended words mattered no more than others, both drops would be equal.",
    next_step="`regard explain RUN TEXT` reports this figure next to every map.",
    slow=True,
)
def documents_faithful() -> Measurement:
    """Erase the most attended words of a trained HAN, and as many random ones, in 60 reviews.

    The attention of a word is its weight in the sentence times the sentence's; measured is how far
    the probability of the answer drops.
    """
    found = average_faithfulness(
        _train_han(), [text for text, _ in make_reviews(60, "test")], draws=10
    )
    return Measurement(
        f"without the most attended words the probability drops by {found.top:.2f}, without others "
        f"by {found.chance:.2f}",
        (
            Figure("drop without the most attended words", found.top),
            Figure("drop without as many random words", found.chance),
            Figure("advantage", found.advantage, found.low > 0),
            Figure("advantage, lower end of 95%", found.low),
        ),
    )
