"""PARITY, FIRST and Dyck in training (D1 Q4)."""

from typing import Any

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import classification
from regard.claims.table import draw_curves, tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.data.worlds.languages import draw_language
from regard.run import Run

Tables = dict[str, Any]
LENGTHS = (50, 100, 200, 400, 1000)
RELATIVE = {"kind": "relative", "buckets": 16, "positions": 32}
HALFWAY = 0.75  # between chance and perfect


def _train(
    name: str,
    lengths: range,
    steps: int,
    *,
    seed: int = 1,
    faster: Tables | None = None,
    **model: object,
) -> Run:
    train = draw_language(name, lengths=lengths, count=6000, seed=1)
    valid = draw_language(name, lengths=lengths, count=200, seed=2)
    tables = classification(steps, longest=1100, seed=seed, **model)
    tables["training"] |= faster or {}
    return run_trial(f"{name}-learned", tables, make_labelled_files(train, valid))


def _test(run: Run, name: str, lengths: range, count: int = 300) -> float:
    return accuracy(run, draw_language(name, lengths=lengths, count=count, seed=5))


def _small_batches(tokens: int, rate: float) -> Tables:
    optimizer = {"kind": "adamw", "rate": rate, "weight_decay": 0.0}
    return {"batch_tokens": tokens, "optimizer": optimizer}


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020; Bhattamishra et al. 2020",
    statement="A trained Transformer does not learn PARITY so that it generalises to longer "
    "strings.",
    layer="layers/attention.py",
    meaning="50% is chance. Strings as long as those of training are classified correctly, most "
    "of them unseen; slightly longer ones partly, much longer ones at chance. That a solution "
    "exists (parity-by-hand) does not mean that training finds it.",
    next_step='Set model.mixer.kind = "recurrent": one GRU learns it.',
    slow=True,
)
def parity_trained() -> Measurement:
    """Train two layers of attention on 6,000 strings of 2 to 12 bits, 2,000 steps.

    Tested on other strings of 8 to 12 bits, and on strings of 13 to 16, 20 to 24 and 30 to 40.
    """
    run = _train("parity", range(2, 13), 2000, faster=_small_batches(1024, 1e-3))
    tested = {"8 to 12": range(8, 13), "13 to 16": range(13, 17)}
    tested |= {"20 to 24": range(20, 25), "30 to 40": range(30, 41)}
    found = {name: _test(run, "parity", lengths) for name, lengths in tested.items()}
    near, next_, _, far = found.values()
    return Measurement(
        f"{near:.0%} accuracy at training lengths (8 to 12), {next_:.0%} at 13 to 16, {far:.0%} "
        "30 to 40 (chance 50%)",
        tabulate("accuracy, lengths {}", found, {"30 to 40": far < HALFWAY}),
        draw_curves(
            "PARITY, trained on lengths 2 to 12",
            "length",
            [lengths[0] for lengths in tested.values()],
            {"accuracy": list(found.values())},
        ),
    )


@claim(
    numbers=(68,),
    source="D1 Q4; Chiang and Cholak 2022, §5",
    statement="With scores multiplied by log n a model that learned FIRST at length 50 still "
    "solves it at 1,000.",
    layer="layers/attention.py",
    meaning="Both solve it at the lengths of training. Without log n the attention to the first "
    "symbol is diluted by the others.",
    next_step="Train at lengths 40 to 50 only: with log-length, attention that is sharp from the "
    "start then often learns nothing.",
    slow=True,
)
def first_trained() -> Measurement:
    """Train one layer to predict the first of 8 letters from texts of 2 to 50; test up to 1,000.

    Relative positions in 16 buckets, pooled at [CLS], 1,200 steps and two seeds each; once with
    softmax, once with log-length.
    """
    found = {}
    for select in ("softmax", "log-length"):
        runs = [
            _train(
                "first",
                range(2, 51),
                1200,
                seed=seed,
                faster=_small_batches(512, 3e-3),
                depth=1,
                position=RELATIVE,
                head={"pooling": "first", "dropout": 0.0},
                mixer={"kind": "attention", "heads": 4, "select": select},
            )
            for seed in (1, 2)
        ]
        found[select] = {
            n: sum(_test(run, "first", range(n, n + 1), 100) for run in runs) / len(runs)
            for n in LENGTHS
        }
    plain, scaled = found["softmax"], found["log-length"]
    gain = scaled[1000] - plain[1000]
    return Measurement(
        f"at length 50: {plain[50]:.0%} with softmax, {scaled[50]:.0%} with log-length; at "
        f"1,000 {plain[1000]:.0%} and {scaled[1000]:.0%} (chance 12%)",
        (
            *tabulate("softmax, length {:,}", plain),
            *tabulate("log-length, length {:,}", scaled, {1000: scaled[1000] > 0.9}),
            Figure("log-length above softmax at 1,000", gain, scaled[1000] > plain[1000] + 0.1),
        ),
        draw_curves(
            "FIRST, trained on lengths up to 50",
            "length",
            LENGTHS,
            {name: list(each.values()) for name, each in found.items()},
        ),
    )


@claim(
    numbers=(69,),
    source="D1 Q4; Yao et al. 2021; Bhattamishra et al. 2020",
    statement="Dyck of bounded depth is learned by attention and generalises to longer strings; "
    "periodic languages such as (aa)* do not.",
    layer="layers/attention.py",
    meaning="Half of the strings belong to the language; the others differ from it by one or two "
    "symbols. Sinusoids of unseen positions mislead; relative positions beyond the last bucket "
    "are all alike.",
    condition="positions are relative, not sinusoidal",
    next_step="Raise the depth beyond the number of layers.",
    slow=True,
)
def dyck_trained() -> Measurement:
    """Train two layers on Dyck of two kinds and depth 3, and on (aa)*, lengths up to 24.

    1,500 steps and 600, once with sinusoidal positions, once with relative positions in 16 buckets.
    Tested on lengths of training and lengths half as long again.
    """
    near, far, periodic = {}, {}, {}
    for name, position in (("sinusoidal", {"kind": "sinusoidal"}), ("relative", RELATIVE)):
        more: Tables = {
            "faster": _small_batches(1024, 2e-3),
            "position": position,
            "head": {"pooling": "attention", "dropout": 0.0},
        }
        run = _train("dyck", range(2, 25), 1500, **more)
        near[name], far[name] = (
            _test(run, "dyck", lengths) for lengths in (range(12, 25), range(26, 37))
        )
        periodic[name] = _test(_train("aa", range(1, 25), 600, **more), "aa", range(26, 37), 100)
    return Measurement(
        "Dyck at training lengths and longer: "
        + ", ".join(f"{near[name]:.0%} and {far[name]:.0%} with {name} positions" for name in near)
        + f"; (aa)* at longer ones: {periodic['sinusoidal']:.0%} and {periodic['relative']:.0%}",
        (
            *tabulate("Dyck, 12 to 24, {}", near, lambda right: right > 0.85),
            *tabulate("Dyck, 26 to 36, {}", far, lambda right: right > HALFWAY),
            *tabulate("(aa)*, 26 to 36, {}", periodic, lambda right: right < HALFWAY),
        ),
    )
