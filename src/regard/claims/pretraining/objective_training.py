"""Pretraining objectives compared in training (D2 g, D4 Q5)."""

import random
from typing import Any

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import (
    classification,
    join_sentences,
    make_opinions,
    make_unlabelled_text,
    pretraining,
    write_documents,
)
from regard.claims.seeds import Seeds, average_seeds, compare, largest_spread, repeat_with_seeds
from regard.claims.table import tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.run import Run

LABELLED, OPINIONS, SEEDS = 100, 3, (1, 2, 3)
TRANSFERS = {"fine-tuned": ("mean", False), "frozen": ("attention", True)}
"""How a body is transferred: the pooling, and whether the body is frozen."""


def pretrain_body(masked_as: tuple[float, float, float] = (0.8, 0.1, 0.1)) -> Run:
    """Pretrain a small body on 3,000 reviews without their ratings, or load the run."""
    tables = pretraining(1200, mask=0.3, masked_as=list(masked_as))
    tables["text"]["max_length"] = 40  # one review
    tables["training"]["batch_tokens"] = 1024
    rows = make_opinions(3000, 4, seed=1)
    return run_trial(
        "masked", tables, {"train.txt": write_documents(sentences for sentences, _ in rows)}
    )


def fine_tune(start: Run, pooling: str, *, freeze: bool) -> Seeds:
    """Train on 100 rated reviews, three seeds; give the accuracy on 500 others."""
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
        files = make_labelled_files(
            join_sentences(make_opinions(LABELLED, OPINIONS, seed=100 + seed)),
            join_sentences(make_opinions(100, OPINIONS, seed=7)),
        )
        run = run_trial(f"tuned-{pooling}", tables, files)
        return accuracy(run, join_sentences(make_opinions(500, OPINIONS, seed=8)))

    return repeat_with_seeds(one, SEEDS)


@claim(
    numbers=(43,),
    source="D4 Q5; Devlin et al. 2019, §C.2",
    statement="Masking 80/10/10 transfers better than always masking.",
    layer="data/corruption.py",
    meaning="Accuracy of the fine-tuned model. The paper's own ablation finds a small difference.",
    next_step="Freeze the body (model.start.freeze) and try other poolings.",
    condition="only one of the two ways of transfer is considered",
    slow=True,
)
def masked_as_trained() -> Measurement:
    """Pretrain with 100/0/0 and with 80/10/10 on 3,000 reviews, then train on 100 ratings.

    Once by fine-tuning with mean pooling; once frozen, with attention pooling. Three seeds each; a
    difference counts if it is larger than the spread of the seeds.
    """
    bodies = {"100/0/0": pretrain_body((1.0, 0.0, 0.0)), "80/10/10": pretrain_body()}
    found = {
        (way, name): fine_tune(start, pooling, freeze=freeze)
        for way, (pooling, freeze) in TRANSFERS.items()
        for name, start in bodies.items()
    }
    pairs = {way: (found[way, "80/10/10"], found[way, "100/0/0"]) for way in TRANSFERS}
    return Measurement(
        "; ".join(
            f"{way}: {always.mean:.1%} after 100/0/0, {mixed.mean:.1%} after 80/10/10"
            for way, (mixed, always) in pairs.items()
        )
        + f"; seeds differ by up to {largest_spread(*found.values()):.1%}",
        (
            *tabulate("{}, after {}", average_seeds(found)),
            *tabulate(
                "{}, seeds differ by", {way: largest_spread(*pair) for way, pair in pairs.items()}
            ),
            *(compare(f"{way}, 80/10/10 above 100/0/0", *pair) for way, pair in pairs.items()),
        ),
    )


@claim(
    numbers=(44,),
    source="D4 Q5; Lan et al. 2020; Liu et al. 2019",
    statement="Next-sentence prediction can be solved by topic alone; sentence order cannot.",
    layer="tasks/pretraining/pair_baseline.py",
    meaning="50% is chance. The accuracy of a bag of words was reached without any word order.",
    next_step='Set pretraining.pairs = "sentence-order".',
    slow=True,
)
def next_sentence_shortcut() -> Measurement:
    """Train next-sentence and sentence-order prediction on 3,000 reviews; compare a bag of words.

    The bag contains only the words of A and B, not their order.
    """
    found, bags = {}, {}
    for pairs in ("next-sentence", "sentence-order"):
        tables = pretraining(400, model={"embedding": {"segments": 2}}, pairs=pairs)
        run = run_trial(f"pairs-{pairs}", tables, {"train.txt": make_unlabelled_text(3000)})
        scores = run.metrics["valid"]["metrics"]
        found[pairs], bags[pairs] = scores["pair_accuracy"], scores["baseline"]["pair_accuracy"]
    following, order = bags["next-sentence"], bags["sentence-order"]
    return Measurement(
        f"a bag of words gets {following:.0%} of next-sentence and {order:.0%} of sentence-order",
        (
            *tabulate("model, {}", found),
            *tabulate("bag of words, {}", bags),
            Figure("lead of the bag on next-sentence", following - order, following > order + 0.03),
        ),
    )


def make_counting_lines(most: int = 100, size: int = 16) -> tuple[str, str]:
    """Generate lines of consecutive numbers, a fifth of them for testing."""
    lines = [
        " ".join(str(start + place) for place in range(size)) + "\n" for start in range(1, most + 1)
    ]
    random.Random(0).shuffle(lines)
    return "".join(lines[most // 5 :]), "".join(lines[: most // 5])


@claim(
    numbers=(48,),
    source="D2 g; He et al. 2022",
    statement="Without their positions, masks can only be predicted by frequency.",
    layer="models/masked_autoencoder.py",
    meaning="All masks of a row get one prediction. It can still use which numbers the row lacks, "
    "so it stays a little above frequency: that gets one of eight masks right.",
    next_step="Mask one word per row only: then a mask without position loses less.",
    slow=True,
)
def autoencoder_blind() -> Measurement:
    """Train a masked autoencoder on counting lines, with and without the masks' positions.

    Lines of 16 numbers, half of them masked; measured on lines with unseen first numbers.
    """
    train, valid = make_counting_lines()
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
        tables["text"]["max_length"] = 18  # a line with its special tokens
        tables["training"]["batch_tokens"] = 1024
        run = run_trial(f"autoencoder-{name}", tables, {"train.txt": train, "valid.txt": valid})
        scores[name] = run.metrics["valid"]["metrics"]
    base = scores["with"]["baseline"]["masked_accuracy"]
    seen, blind_ = scores["with"]["masked_accuracy"], scores["without"]["masked_accuracy"]
    return Measurement(
        f"{seen:.1%} of masks predicted with positions, {blind_:.1%} without, {base:.1%} by "
        "frequency",
        (
            Figure("predicted, with positions", seen),
            Figure("predicted, without positions", blind_, blind_ < base + (seen - base) / 5),
            Figure("by frequency", base),
        ),
    )
