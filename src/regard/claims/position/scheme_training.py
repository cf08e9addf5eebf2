"""Positions in training: needed, compared, combined (D2 a, D2 b, D3)."""

import itertools
import random

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import classification, language_modelling, make_sentences
from regard.claims.seeds import Seeds, average_seeds, compare, largest_spread, repeat_with_seeds
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.draw.bars import Bars

SEEDS = (1, 2, 3)
WHO = ("man", "woman", "child", "doctor", "cook", "pilot", "singer", "farmer")
WHAT = ("dog", "cat", "horse", "bird", "goat", "duck", "bear", "wolf")
DOES = ("sees", "follows", "hears", "finds", "meets", "greets")


def make_sentence_pairs(seed: int, count: int) -> list[tuple[str, str]]:
    """Generate the same words in either order; the label is the agent, person or animal."""
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
    statement="Where order determines the label, a model without positions stays at 50% and one "
    "with positions reaches 100%.",
    layer="layers/position.py",
    meaning="Exactly half: both sentences of a pair get the same answer, and one of them is right.",
    next_step="Add model.embedding.ngrams = 2: bigrams encode order as well.",
    slow=True,
)
def order_needed_trained() -> Measurement:
    """Train one model without positions and one with sinusoids on who-did-what pairs, 200 steps.

    288 pairs of the same words in both orders; two thirds for training, the rest for testing.
    """
    rows = make_sentence_pairs(0, 288)
    files = make_labelled_files(rows[:400], rows[400:])
    found = {}
    for kind in ("none", "sinusoidal"):
        run = run_trial(f"order-{kind}", classification(200, position={"kind": kind}), files)
        found[kind] = accuracy(run, rows[400:])
    return Measurement(
        f"{found['none']:.0%} accuracy without positions, {found['sinusoidal']:.0%} with sinusoids",
        (
            Figure("accuracy without positions", found["none"], found["none"] == 0.5),
            Figure("accuracy with sinusoids", found["sinusoidal"], found["sinusoidal"] > 0.95),
        ),
    )


def _measure_losses(name: str, **position: str) -> Seeds:
    files = {"train.txt": make_sentences(4000), "valid.txt": make_sentences(300, "valid")}

    def loss(seed: int) -> float:
        tables = language_modelling(350, seed=seed, tied=False, position=position)
        tables["training"]["batch_tokens"] = 1024
        return float(
            run_trial(f"position-{name}", tables, files).metrics["valid"]["metrics"]["loss"]
        )

    return repeat_with_seeds(loss, SEEDS)


@claim(
    numbers=(24,),
    source="D3; Vaswani et al. 2017, table 3 (E)",
    statement="Because of their linear property sinusoids are learned more easily than other "
    "positions.",
    layer="layers/position.py",
    meaning="Losses per token after the same number of steps; lower is better. The paper itself "
    "found sinusoids and learned positions nearly identical.",
    next_step="Test on texts longer than those of training: there the schemes differ.",
    condition="compared with learned, relative or no positions, not with rotary or ALiBi",
    slow=True,
)
def position_schemes_trained() -> Measurement:
    """Train a small causal language model with each scheme on 4,000 sentences, 350 steps.

    Compared is the loss on unseen sentences, the mean of three seeds; a difference counts if it is
    larger than the spread of the seeds of either scheme.
    """
    kinds = ("sinusoidal", "learned", "relative", "rotary", "alibi", "none")
    losses = {kind: _measure_losses(kind, kind=kind) for kind in kinds}
    mean, most = average_seeds(losses), largest_spread(*losses.values())
    return Measurement(
        f"{list_values('{} {:.3f}', mean)}; seeds differ by up to {most:.3f}",
        (
            *tabulate("loss, {}", mean),
            *tabulate("spread of seeds, {}", {kind: one.spread for kind, one in losses.items()}),
            *(
                compare(f"sinusoids below {kind}", loss, losses["sinusoidal"])
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
    meaning="Concatenation is more general at a larger width (concatenation-more-general); at the "
    "same width it leaves the tokens half of it.",
    next_step="Double the width of the concatenated model.",
    slow=True,
)
def add_or_concatenate_trained() -> Measurement:
    """Train the same model with sinusoids added and with sinusoids in half of the state, 350 steps.

    Three seeds each; a difference counts if it is larger than the spread of the seeds of either.
    """
    added = _measure_losses("sinusoidal", kind="sinusoidal")
    joined = _measure_losses("concatenated", kind="sinusoidal", joined="concatenated")
    both = largest_spread(added, joined)
    return Measurement(
        f"loss {added.mean:.3f} added, {joined.mean:.3f} concatenated at the same width; seeds "
        f"differ by up to {both:.3f}",
        (
            Figure("loss, added", added.mean),
            Figure("loss, concatenated", joined.mean),
            Figure("seeds differ by", both),
            compare("concatenated over added", joined, added),
        ),
    )
