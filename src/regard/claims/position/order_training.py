"""What positions change in training (D2 a, D2 b, D3)."""

import itertools
import random
from typing import Any

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import classification, language_modelling, sentences
from regard.claims.seeds import Seeds, compare, means, spread, with_seeds
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.draw.bars import Bars

SEEDS = (1, 2, 3)
WHO = ("man", "woman", "child", "doctor", "cook", "pilot", "singer", "farmer")
WHAT = ("dog", "cat", "horse", "bird", "goat", "duck", "bear", "wolf")
DOES = ("sees", "follows", "hears", "finds", "meets", "greets")


def who_did_what(seed: int, count: int) -> list[tuple[str, str]]:
    """Give the same words in either order; the label says whether person or animal acts."""
    chance = random.Random(seed)
    every = list(itertools.product(WHO, DOES, WHAT))
    chance.shuffle(every)
    rows = []
    for person, verb, animal in every[:count]:
        rows.append((f"the {person} {verb} the {animal}", "person"))
        rows.append((f"the {animal} {verb} the {person}", "animal"))
    return rows


@claim(
    numbers=(21,),
    source="D2 a",
    statement="Where order decides, a model without positions stays at 50% and one with positions "
    "reaches 100%.",
    layer="layers/position.py",
    reading="Exactly half: both sentences of a pair get the same answer, and one of them is right.",
    then="Add model.embedding.ngrams = 2: pairs of words know order as well.",
    slow=True,
)
def order_needed_trained() -> Measured:
    """Train one model without positions and one with waves on who-did-what pairs, 200 steps.

    288 pairs of the same words in both orders; two thirds to learn, the rest to ask.
    """
    rows = who_did_what(0, 288)
    files = labelled_files(rows[:400], rows[400:])
    found = {}
    for kind in ("none", "sinusoidal"):
        run = trial(f"order-{kind}", classification(200, position={"kind": kind}), files)
        found[kind] = accuracy(run, rows[400:])
    return Measured(
        f"{found['none']:.0%} right without positions, {found['sinusoidal']:.0%} with waves",
        (
            Figure("accuracy without positions", found["none"], found["none"] == 0.5),
            Figure("accuracy with waves", found["sinusoidal"], found["sinusoidal"] > 0.95),
        ),
    )


def _losses(name: str, **model: Any) -> Seeds:  # noqa: ANN401
    files = {"train.txt": sentences(4000), "valid.txt": sentences(300, "valid")}

    def loss(seed: int) -> float:
        tables = language_modelling(350, seed=seed, tied=False, **model)
        tables["training"]["batch_tokens"] = 1024
        return float(trial(f"position-{name}", tables, files).metrics["valid"]["metrics"]["loss"])

    return with_seeds(loss, SEEDS)


@claim(
    numbers=(24,),
    source="D3; Vaswani et al. 2017, table 3 (E)",
    statement="Because of their linear property waves are learned more easily than other "
    "positions.",
    layer="layers/position.py",
    reading="Losses per token after the same number of steps: lower is better. The paper itself "
    "found waves and learned positions nearly identical.",
    then="Ask for texts longer than those of training: there the schemes differ.",
    condition="compared with learned vectors, learned distances or none, not with rotary or ALiBi",
    slow=True,
)
def position_schemes_trained() -> Measured:
    """Train a small causal language model with each scheme on 4,000 sentences, 350 steps.

    Compared is the loss on sentences it has not seen, the mean of three seeds; a difference counts
    if it is larger than what the seeds of either scheme differ by.
    """
    kinds = ("sinusoidal", "learned", "relative", "rotary", "alibi", "none")
    losses = {kind: _losses(kind, position={"kind": kind}) for kind in kinds}
    mean = means(losses)
    return Measured(
        f"{list_values('{} {:.3f}', mean)}; seeds differ by up to {spread(*losses.values()):.3f}",
        (
            *tabulate("loss, {}", mean),
            *tabulate("spread of seeds, {}", {kind: one.spread for kind, one in losses.items()}),
            *(
                compare(f"waves below {kind}", loss, losses["sinusoidal"])
                for kind, loss in losses.items()
                if kind != "sinusoidal"
            ),
        ),
        Bars("Loss per token", list(mean.items())),
    )


@claim(
    numbers=(25,),
    source="D2 b",
    statement="At the same width, adding positions is better than giving them part of the state.",
    layer="layers/position.py",
    reading="Concatenation is more general at more width (concatenation-more-general); at the same "
    "width it leaves the tokens half of it.",
    then="Double the width of the concatenated model.",
    slow=True,
)
def add_or_concatenate_trained() -> Measured:
    """Train the same model with waves added and with waves in half of the state, 350 steps.

    Three seeds each; a difference counts if it is larger than what the seeds of either differ by.
    """
    added = _losses("sinusoidal", position={"kind": "sinusoidal"})
    beside = _losses("beside", position={"kind": "sinusoidal", "joined": "concatenated"})
    both = spread(added, beside)
    return Measured(
        f"loss {added.mean:.3f} added, {beside.mean:.3f} put beside at the same width; seeds "
        f"differ by up to {both:.3f}",
        (
            Figure("loss, added", added.mean),
            Figure("loss, beside", beside.mean),
            Figure("seeds differ by", both),
            compare("beside over added", beside, added),
        ),
    )
