"""Reviews whose rating needs two sentences, and words erased (D1 Q3)."""

from typing import Any

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import rated, training
from regard.claims.seeds import Seeds, compare, means
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.explain.documents import average_faithfulness
from regard.run import Run

STEPS, SEEDS = 1500, (1, 2)


def _han(seed: int = 1, **documents: Any) -> Run:  # noqa: ANN401
    """Train the recipe documents-han (documents-context with ``context``), or open it again."""
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
    files = labelled_files(rated(6000, context=0.5), rated(200, "valid", context=0.5))
    return trial("han-" + documents.get("context", "none"), tables, files)


@claim(
    numbers=(66, 67),
    source="D1 Q3; Remy et al. 2019",
    statement="Where the meaning of a sentence stands in another, context-aware attention is "
    "better "
    "than HAN.",
    layer="models/han.py",
    reading="Ratings in which one sentence names what counts and another judges many things; where "
    "one sentence is enough both are as good. HAN can still guess among what is judged.",
    then="`regard train documents-context`, and see which words it looks at with `regard explain`.",
    slow=True,
)
def reviews_need_context() -> Measured:
    """Train HAN and the context-aware network on 6,000 reviews, half of which need two sentences.

    1,500 steps, two seeds each. Asked are reviews in which one sentence names what counts and
    another judges many things, and reviews in which one sentence says it all.
    """
    needs, plain = rated(300, "test", context=1.0), rated(300, "test")
    runs = {
        "HAN": [_han(seed) for seed in SEEDS],
        "context-aware": [_han(seed, context="earlier", gather="sum") for seed in SEEDS],
    }
    two = {name: Seeds(tuple(accuracy(run, needs) for run in one)) for name, one in runs.items()}
    one = {name: Seeds(tuple(accuracy(run, plain) for run in one)) for name, one in runs.items()}
    values = {
        (name, seed): value
        for name, found in two.items()
        for seed, value in zip(SEEDS, found.values, strict=True)
    }
    told = ", ".join(
        f"{name} {' and '.join(f'{value:.0%}' for value in found.values)}"
        for name, found in two.items()
    )
    return Measured(
        f"where two sentences are needed: {told}; where one is: {one['HAN'].mean:.0%} and "
        f"{one['context-aware'].mean:.0%}",
        (
            *tabulate("{}, seed {}", values),
            *tabulate("{}, one sentence needed", means(one)),
            compare("context-aware above HAN", two["context-aware"], two["HAN"]),
        ),
    )


@claim(
    numbers=(65,),
    source="D1 Q3; DeYoung et al. 2020",
    statement="The coefficients drawn over a document show what the answer rests on.",
    layer="explain/erasure.py",
    reading="If the words looked at mattered no more than others, both falls would be alike.",
    then="`regard explain RUN TEXT` says this figure beside every map.",
    slow=True,
)
def documents_faithful() -> Measured:
    """Erase the words a trained HAN looks at most, and as many at random, in 60 reviews.

    A word's look is its weight in the sentence times the sentence's; measured is how far the
    probability of the answer falls.
    """
    found = average_faithfulness(_han(), [text for text, _ in rated(60, "test")], draws=10)
    return Measured(
        f"without the words looked at the answer falls by {found.top:.2f}, without others by "
        f"{found.chance:.2f}",
        (
            Figure("fall without the words looked at", found.top),
            Figure("fall without as many random words", found.chance),
            Figure("advantage", found.advantage, found.low > 0),
            Figure("advantage, lower end of 95%", found.low),
        ),
    )
