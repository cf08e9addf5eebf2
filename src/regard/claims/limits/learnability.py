"""What training finds of PARITY, FIRST and Dyck (D1 Q4)."""

from typing import Any

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import classification
from regard.claims.table import draw_curves, tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.data.worlds.languages import language
from regard.run import Run

Tables = dict[str, Any]
LENGTHS = (50, 100, 200, 400, 1000)
DISTANCES = {"kind": "relative", "buckets": 16, "positions": 32}
HALFWAY = 0.75  # between guessing and knowing


def _learned(
    name: str,
    lengths: range,
    steps: int,
    *,
    seed: int = 1,
    faster: Tables | None = None,
    **model: Any,  # noqa: ANN401
) -> Run:
    train = language(name, lengths=lengths, count=6000, seed=1)
    valid = language(name, lengths=lengths, count=200, seed=2)
    tables = classification(steps, longest=1100, seed=seed, **model)
    tables["training"] |= faster or {}
    return trial(f"{name}-learned", tables, labelled_files(train, valid))


def _at(run: Run, name: str, lengths: range, count: int = 300) -> float:
    return accuracy(run, language(name, lengths=lengths, count=count, seed=5))


def _small_batches(tokens: int, rate: float) -> Tables:
    optimizer = {"kind": "adamw", "rate": rate, "weight_decay": 0.0}
    return {"batch_tokens": tokens, "optimizer": optimizer}


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020; Bhattamishra et al. 2020",
    statement="A trained Transformer does not learn PARITY so that it generalises to longer "
    "strings.",
    layer="layers/attention.py",
    reading="50% is guessing. Strings as long as those of training are right, most of them never "
    "seen; a little longer it wavers, and much longer it guesses. That a solution exists "
    "(parity-by-hand) does not mean that training finds it.",
    then='Set model.mixer.kind = "recurrent": one GRU learns it.',
    slow=True,
)
def parity_trained() -> Measured:
    """Train two layers of attention on 6,000 strings of 2 to 12 bits, 2,000 steps.

    Asked are other strings of 8 to 12 bits, and strings of 13 to 16, 20 to 24 and 30 to 40.
    """
    run = _learned("parity", range(2, 13), 2000, faster=_small_batches(1024, 1e-3))
    asked = {"8 to 12": range(8, 13), "13 to 16": range(13, 17)}
    asked |= {"20 to 24": range(20, 25), "30 to 40": range(30, 41)}
    found = {name: _at(run, "parity", lengths) for name, lengths in asked.items()}
    near, next_, _, far = found.values()
    return Measured(
        f"{near:.0%} right at lengths of training (8 to 12), {next_:.0%} at 13 to 16, {far:.0%} at "
        "30 to 40 (chance 50%)",
        tabulate("accuracy, lengths {}", found, {"30 to 40": far < HALFWAY}),
        draw_curves(
            "PARITY, learned at lengths 2 to 12",
            "length",
            [lengths[0] for lengths in asked.values()],
            {"accuracy": list(found.values())},
        ),
    )


@claim(
    numbers=(68,),
    source="D1 Q4; Chiang and Cholak 2022, §5",
    statement="With scores multiplied by log n a model that learned FIRST at length 50 still "
    "knows it "
    "at 1,000.",
    layer="layers/attention.py",
    reading="Both know it at the lengths of training. Without log n the look at the first symbol "
    "is thinned out by the others.",
    then="Train at lengths 40 to 50 only: with log-length, looks that are sharp from the start "
    "then often learn nothing.",
    slow=True,
)
def first_trained() -> Measured:
    """Train one layer to say the first of 8 letters from texts of 2 to 50, and ask to 1,000.

    Distances in 16 buckets, read at [CLS], 1,200 steps and two seeds each; once by a softmax, once
    by log-length.
    """
    found = {}
    for select in ("softmax", "log-length"):
        runs = [
            _learned(
                "first",
                range(2, 51),
                1200,
                seed=seed,
                faster=_small_batches(512, 3e-3),
                depth=1,
                position=DISTANCES,
                head={"pooling": "first", "dropout": 0.0},
                mixer={"kind": "attention", "heads": 4, "select": select},
            )
            for seed in (1, 2)
        ]
        found[select] = {
            n: sum(_at(run, "first", range(n, n + 1), 100) for run in runs) / len(runs)
            for n in LENGTHS
        }
    plain, scaled = found["softmax"], found["log-length"]
    gain = scaled[1000] - plain[1000]
    return Measured(
        f"at length 50: {plain[50]:.0%} right by softmax, {scaled[50]:.0%} with log-length; at "
        f"1,000 {plain[1000]:.0%} and {scaled[1000]:.0%} (chance 12%)",
        (
            *tabulate("softmax, length {:,}", plain),
            *tabulate("log-length, length {:,}", scaled, {1000: scaled[1000] > 0.9}),
            Figure("log-length above softmax at 1,000", gain, scaled[1000] > plain[1000] + 0.1),
        ),
        draw_curves(
            "FIRST, learned at lengths up to 50",
            "length",
            LENGTHS,
            {name: list(each.values()) for name, each in found.items()},
        ),
    )


@claim(
    numbers=(69,),
    source="D1 Q4; Yao et al. 2021; Bhattamishra et al. 2020",
    statement="Dyck of bounded depth is learned by attention and carries over to longer strings; "
    "periodic languages such as (aa)* do not.",
    layer="layers/attention.py",
    reading="Half of the strings belong, and those that do not are one or two symbols away. Waves "
    "of places never seen mislead; distances beyond the last bucket are all alike.",
    condition="positions are distances, not waves",
    then="Raise the depth beyond the number of layers.",
    slow=True,
)
def dyck_trained() -> Measured:
    """Train two layers on Dyck of two kinds and depth 3, and on (aa)*, lengths up to 24.

    1,500 steps and 600, once with waves as positions, once with distances in 16 buckets. Asked are
    lengths of training and lengths half as long again.
    """
    near, far, period = {}, {}, {}
    for name, position in (("waves", {"kind": "sinusoidal"}), ("distances", DISTANCES)):
        more: Tables = {
            "faster": _small_batches(1024, 2e-3),
            "position": position,
            "head": {"pooling": "attention", "dropout": 0.0},
        }
        run = _learned("dyck", range(2, 25), 1500, **more)
        near[name], far[name] = (
            _at(run, "dyck", lengths) for lengths in (range(12, 25), range(26, 37))
        )
        period[name] = _at(_learned("aa", range(1, 25), 600, **more), "aa", range(26, 37), 100)
    return Measured(
        "Dyck at lengths of training and longer ones: "
        + ", ".join(f"{near[name]:.0%} and {far[name]:.0%} with {name}" for name in near)
        + f"; (aa)* at longer ones: {period['waves']:.0%} and {period['distances']:.0%}",
        (
            *tabulate("Dyck, 12 to 24, {}", near, lambda right: right > 0.85),
            *tabulate("Dyck, 26 to 36, {}", far, lambda right: right > HALFWAY),
            *tabulate("(aa)*, 26 to 36, {}", period, lambda right: right < HALFWAY),
        ),
    )
