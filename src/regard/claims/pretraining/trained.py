"""What pretraining objectives come to in training (D2 g, D2 h, D4 Q5)."""

from typing import Any

from regard.claims.claim import Claim, Curves, Figure, Measured
from regard.claims.recipes import classification, plain, pretraining, rated, sentences
from regard.claims.trials import accuracy, labelled, trial
from regard.explain.draw.chart import Line
from regard.run import Run

LABELLED, STEPS, TUNED = 250, 600, 120


def body(documents: int, masked_as: tuple[float, float, float] = (0.8, 0.1, 0.1)) -> Run:
    """Pretrain a small body on so many reviews without their ratings, or open it again."""
    tables = pretraining(STEPS, mask=0.15, masked_as=list(masked_as))
    return trial(f"masked-{documents}", tables, {"train.txt": plain(documents)})


def tuned(start: Run | None, *, seed: int = 1, **model: Any) -> float:  # noqa: ANN401
    """Fine-tune on 250 rated reviews, from a body or from nothing; give the accuracy on others."""
    tables = classification(TUNED, longest=128, seed=seed, **model)
    name = "tuned-scratch"
    if start is not None:
        tables["model"]["start"] = {"run": str(start.folder)}
        del tables["text"]
        name = f"tuned-{start.folder.parent.name}"
    files = {"train.jsonl": labelled(rated(LABELLED)), "valid.jsonl": labelled(rated(200, "valid"))}
    return accuracy(trial(name, tables, files), rated(500, "test"))


def _masked_as() -> Measured:
    """Pretrain with 100/0/0 and with 80/10/10 on 3,000 reviews, then fine-tune on 250 ratings."""
    found = {
        name: tuned(body(3000, shares))
        for name, shares in (("100/0/0", (1.0, 0.0, 0.0)), ("80/10/10", (0.8, 0.1, 0.1)))
    }
    gain = found["80/10/10"] - found["100/0/0"]
    return Measured(
        f"{found['100/0/0']:.1%} after 100/0/0, {found['80/10/10']:.1%} after 80/10/10",
        (
            *(Figure(f"accuracy after {name}", one) for name, one in found.items()),
            Figure("80/10/10 above 100/0/0", gain, gain > 0),
        ),
    )


def _amount() -> Measured:
    """Pretrain on 0, 100, 500 and 3,000 reviews without ratings; fine-tune each on 250 ratings."""
    amounts = (0, 100, 500, 3000)
    found = [tuned(body(amount) if amount else None) for amount in amounts]
    return Measured(
        f"{found[0]:.1%} from nothing, {found[-1]:.1%} after {amounts[-1]:,} unlabelled reviews",
        (
            *(
                Figure(f"accuracy after {amount} reviews", one)
                for amount, one in zip(amounts, found, strict=True)
            ),
            Figure("gain of the most text", found[-1] - found[0], found[-1] > found[0] + 0.02),
        ),
        Curves("Accuracy by unlabelled text", "reviews read", (Line("accuracy", amounts, found),)),
    )


def _shortcut() -> Measured:
    """Learn next-sentence and sentence-order from 3,000 reviews; beside it a bag of words.

    The bag sees only which words A and B have, never their order.
    """
    found, bags = {}, {}
    for pairs in ("next-sentence", "sentence-order"):
        tables = pretraining(400, model={"embedding": {"segments": 2}}, pairs=pairs)
        run = trial(f"pairs-{pairs}", tables, {"train.txt": plain(3000)})
        scores = run.metrics["valid"]["metrics"]
        found[pairs], bags[pairs] = scores["pair_accuracy"], scores["baseline"]["pair_accuracy"]
    return Measured(
        f"a bag of words gets {bags['next-sentence']:.0%} of next-sentence and "
        f"{bags['sentence-order']:.0%} of sentence-order",
        (
            *(Figure(f"model, {name}", one) for name, one in found.items()),
            *(Figure(f"bag of words, {name}", one) for name, one in bags.items()),
            Figure(
                "how much more the bag gets of next-sentence",
                bags["next-sentence"] - bags["sentence-order"],
                bags["next-sentence"] > bags["sentence-order"] + 0.03,
            ),
        ),
    )


def _blind() -> Measured:
    """Train a masked autoencoder on everyday sentences with and without the masks' positions."""
    scores = {}
    for name, blind in (("with", False), ("without", True)):
        tables = pretraining(
            600,
            model={"decoder_depth": 1},
            objective="autoencoder",
            mask=0.3,
            blind_masks=blind,
        )
        tables["data"] = {"format": "lines", "holdout": 0.1}
        run = trial(f"autoencoder-{name}", tables, {"train.txt": sentences(4000)})
        scores[name] = run.metrics["valid"]["metrics"]
    base = scores["with"]["baseline"]["masked_accuracy"]
    seen, blind_ = scores["with"]["masked_accuracy"], scores["without"]["masked_accuracy"]
    return Measured(
        f"{seen:.1%} of masks rebuilt with positions, {blind_:.1%} without, {base:.1%} by "
        "frequency",
        (
            Figure("rebuilt, with positions", seen),
            Figure("rebuilt, without positions", blind_, blind_ < base + (seen - base) / 2),
            Figure("by frequency alone", base),
        ),
    )


MASKED_AS = Claim(
    name="masked-as-trained",
    numbers=(43,),
    source="D4 Q5; Devlin et al. 2019, §C.2",
    statement="Masking 80/10/10 transfers better than masking always.",
    layer="data/corruption.py",
    reading="Accuracy of the fine-tuned model. The paper's own ablation finds the difference "
    "small.",
    then="Freeze the body (model.start.freeze): there the mismatch of [MASK] matters more.",
    measure=_masked_as,
    slow=True,
)
AMOUNT = Claim(
    name="unlabelled-text-is-useful",
    numbers=(49,),
    source="D2 h",
    statement="Unlabelled text, such as novels, is useful for a task with few labels.",
    layer="tasks/pretraining/masked_pretraining.py",
    reading="The same 250 labels each time; only what was read before differs.",
    then="Pretrain on real novels: recipe bert.",
    measure=_amount,
    slow=True,
)
SHORTCUT = Claim(
    name="next-sentence-shortcut",
    numbers=(44,),
    source="D4 Q5; Lan et al. 2020; Liu et al. 2019",
    statement="Next-sentence prediction can be answered by topic alone; sentence order cannot.",
    layer="tasks/pretraining/pair_baseline.py",
    reading="50% is guessing. What a bag of words gets was won without reading.",
    then='Set pretraining.pairs = "sentence-order".',
    measure=_shortcut,
    slow=True,
)
BLIND = Claim(
    name="autoencoder-blind",
    numbers=(48,),
    source="D2 g; He et al. 2022",
    statement="Without their positions, masks can only be rebuilt by frequency.",
    layer="models/masked_autoencoder.py",
    reading="All masks of a row get one answer. It may still know the row's topic, so it stays a "
    "little above frequency.",
    then="Mask one word per row only: then a blind mask loses less.",
    measure=_blind,
    slow=True,
)
