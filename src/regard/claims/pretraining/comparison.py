"""What pretraining objectives come to in training (D2 g, D4 Q5)."""

import random
from typing import Any

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import agreeing, classification, documents, joined, plain, pretraining
from regard.claims.seeds import Seeds, compare, means, spread, with_seeds
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.run import Run

LABELLED, OPINIONS, SEEDS = 100, 3, (1, 2, 3)
TRANSFERS = {"fine-tuned": ("mean", False), "frozen": ("attention", True)}
"""How a body is carried over: which states are read, and whether it is kept as it is."""


def body(masked_as: tuple[float, float, float] = (0.8, 0.1, 0.1)) -> Run:
    """Pretrain a small body on 3,000 reviews without their ratings, or open it again."""
    tables = pretraining(1200, mask=0.3, masked_as=list(masked_as))
    tables["text"]["max_length"] = 40  # one review
    tables["training"]["batch_tokens"] = 1024
    rows = agreeing(3000, 4, seed=1)
    return trial("masked", tables, {"train.txt": documents(sentences for sentences, _ in rows)})


def tuned(start: Run, pooling: str, *, freeze: bool) -> Seeds:
    """Learn from 100 rated reviews, three seeds; give the accuracy on 500 others."""
    head: dict[str, Any] = {"pooling": pooling, "dropout": 0.0}
    if pooling == "hops":
        head["hops"] = {"hops": 4, "features": 24}

    def one(seed: int) -> float:
        tables = classification(100, seed=seed, head=head)
        tables["model"]["start"] = {"run": str(start.folder), "freeze": freeze}
        del tables["text"]
        rate = 1e-2 if freeze else 1e-3
        tables["training"] |= {
            "batch_tokens": 1024,
            "optimizer": {"kind": "adamw", "rate": rate, "weight_decay": 0.0},
        }
        files = labelled_files(
            joined(agreeing(LABELLED, OPINIONS, seed=100 + seed)),
            joined(agreeing(100, OPINIONS, seed=7)),
        )
        run = trial(f"tuned-{pooling}", tables, files)
        return accuracy(run, joined(agreeing(500, OPINIONS, seed=8)))

    return with_seeds(one, SEEDS)


@claim(
    numbers=(43,),
    source="D4 Q5; Devlin et al. 2019, §C.2",
    statement="Masking 80/10/10 transfers better than masking always.",
    layer="data/corruption.py",
    reading="Accuracy of the fine-tuned model. The paper's own ablation finds the difference "
    "small.",
    then="Freeze the body (model.start.freeze) and read it with other poolings.",
    condition="only one of the two ways to carry a body over is asked",
    slow=True,
)
def masked_as_trained() -> Measured:
    """Pretrain with 100/0/0 and with 80/10/10 on 3,000 reviews, then learn 100 ratings.

    Once all of it learns and the mean of the states is read; once the body is kept as it is and a
    learned look reads it. Three seeds each; a difference counts beyond what seeds differ by.
    """
    bodies = {"100/0/0": body((1.0, 0.0, 0.0)), "80/10/10": body()}
    found = {
        (way, name): tuned(start, pooling, freeze=freeze)
        for way, (pooling, freeze) in TRANSFERS.items()
        for name, start in bodies.items()
    }
    pairs = {way: (found[way, "80/10/10"], found[way, "100/0/0"]) for way in TRANSFERS}
    return Measured(
        "; ".join(
            f"{way}: {always.mean:.1%} after 100/0/0, {mixed.mean:.1%} after 80/10/10"
            for way, (mixed, always) in pairs.items()
        )
        + f"; seeds differ by up to {spread(*found.values()):.1%}",
        (
            *tabulate("{}, after {}", means(found)),
            *tabulate("{}, seeds differ by", {way: spread(*pair) for way, pair in pairs.items()}),
            *(compare(f"{way}, 80/10/10 above 100/0/0", *pair) for way, pair in pairs.items()),
        ),
    )


@claim(
    numbers=(44,),
    source="D4 Q5; Lan et al. 2020; Liu et al. 2019",
    statement="Next-sentence prediction can be answered by topic alone; sentence order cannot.",
    layer="tasks/pretraining/pair_baseline.py",
    reading="50% is guessing. What a bag of words gets was won without reading.",
    then='Set pretraining.pairs = "sentence-order".',
    slow=True,
)
def next_sentence_shortcut() -> Measured:
    """Learn next-sentence and sentence-order from 3,000 reviews; beside it a bag of words.

    The bag sees only which words A and B have, never their order.
    """
    found, bags = {}, {}
    for pairs in ("next-sentence", "sentence-order"):
        tables = pretraining(400, model={"embedding": {"segments": 2}}, pairs=pairs)
        run = trial(f"pairs-{pairs}", tables, {"train.txt": plain(3000)})
        scores = run.metrics["valid"]["metrics"]
        found[pairs], bags[pairs] = scores["pair_accuracy"], scores["baseline"]["pair_accuracy"]
    following, order = bags["next-sentence"], bags["sentence-order"]
    return Measured(
        f"a bag of words gets {following:.0%} of next-sentence and {order:.0%} of sentence-order",
        (
            *tabulate("model, {}", found),
            *tabulate("bag of words, {}", bags),
            Figure(
                "how much more the bag gets of next-sentence",
                following - order,
                following > order + 0.03,
            ),
        ),
    )


def counting(most: int = 100, size: int = 16) -> tuple[str, str]:
    """Give lines that count on from some number, most of them to learn and a fifth to ask."""
    lines = [
        " ".join(str(start + place) for place in range(size)) + "\n" for start in range(1, most + 1)
    ]
    random.Random(0).shuffle(lines)
    return "".join(lines[most // 5 :]), "".join(lines[: most // 5])


@claim(
    numbers=(48,),
    source="D2 g; He et al. 2022",
    statement="Without their positions, masks can only be rebuilt by frequency.",
    layer="models/masked_autoencoder.py",
    reading="All masks of a row get one answer. It may still know which numbers a row lacks, so it "
    "stays a little above frequency: one of eight masks is right by that.",
    then="Mask one word per row only: then a blind mask loses less.",
    slow=True,
)
def autoencoder_blind() -> Measured:
    """Train a masked autoencoder on lines that count, with and without the masks' positions.

    Lines of 16 numbers, half of them masked; measured on lines that begin elsewhere.
    """
    train, valid = counting()
    scores = {}
    for name, blind in (("with", False), ("without", True)):
        tables = pretraining(
            1500,
            model={"decoder_depth": 2},
            objective="autoencoder",
            mask=0.5,
            blind_masks=blind,
        )
        tables["data"] = {"format": "lines"}
        tables["text"]["max_length"] = 18  # a line, and what opens and closes it
        tables["training"]["batch_tokens"] = 1024
        run = trial(f"autoencoder-{name}", tables, {"train.txt": train, "valid.txt": valid})
        scores[name] = run.metrics["valid"]["metrics"]
    base = scores["with"]["baseline"]["masked_accuracy"]
    seen, blind_ = scores["with"]["masked_accuracy"], scores["without"]["masked_accuracy"]
    return Measured(
        f"{seen:.1%} of masks rebuilt with positions, {blind_:.1%} without, {base:.1%} by "
        "frequency",
        (
            Figure("rebuilt, with positions", seen),
            Figure("rebuilt, without positions", blind_, blind_ < base + (seen - base) / 5),
            Figure("by frequency alone", base),
        ),
    )
