"""What training finds of PARITY, FIRST and Dyck (D1 Q4)."""

from typing import Any

from regard.claims.claim import Claim, Curves, Figure, Measured
from regard.claims.recipes import classification
from regard.claims.trials import accuracy, labelled, trial
from regard.data.worlds.languages import language
from regard.explain.draw.chart import Line
from regard.run import Run


def _learned(name: str, lengths: range, steps: int, **model: Any) -> Run:  # noqa: ANN401
    train = language(name, lengths=lengths, count=6000, seed=1)
    valid = language(name, lengths=lengths, count=200, seed=2)
    tables = classification(steps, longest=1100, **model)
    return trial(
        f"{name}-learned", tables, {"train.jsonl": labelled(train), "valid.jsonl": labelled(valid)}
    )


def _at(run: Run, name: str, lengths: range, count: int = 300) -> float:
    return accuracy(run, language(name, lengths=lengths, count=count, seed=5))


def _parity() -> Measured:
    """Train two layers of attention on 2 to 20 bits and ask for 10 to 20 and for 30 to 40."""
    run = _learned("parity", range(2, 21), 1200, head={"pooling": "cls", "dropout": 0.0})
    near, far = (_at(run, "parity", lengths) for lengths in (range(10, 21), range(30, 41)))
    return Measured(
        f"{near:.0%} right at lengths of training, {far:.0%} at 30 to 40 (chance 50%)",
        (
            Figure("accuracy, lengths 10 to 20", near),
            Figure("accuracy, lengths 30 to 40", far, far < 0.65),
        ),
    )


def _first() -> Measured:
    """Train one layer to say the first of 8 letters from texts of 50, and ask for 50 to 1,000.

    Waves added, read at [CLS]; once by a softmax, once by log-length.
    """
    lengths, found = (50, 100, 200, 400, 1000), {}
    for select in ("softmax", "log-length"):
        run = _learned(
            "first",
            range(40, 51),
            400,
            depth=1,
            head={"pooling": "first", "dropout": 0.0},
            mixer={"kind": "attention", "heads": 4, "select": select},
        )
        found[select] = [_at(run, "first", range(n, n + 1), 100) for n in lengths]
    plain, scaled = found["softmax"], found["log-length"]
    return Measured(
        f"at length 1,000: {plain[-1]:.0%} right by softmax, {scaled[-1]:.0%} with log-length "
        "(chance "
        "12%)",
        (
            Figure("softmax, length 50", plain[0]),
            Figure("softmax, length 1,000", plain[-1]),
            Figure("log-length, length 50", scaled[0]),
            Figure("log-length, length 1,000", scaled[-1], scaled[-1] > plain[-1]),
        ),
        Curves(
            "FIRST, learned at length 50",
            "length",
            (Line("softmax", lengths, plain), Line("log-length", lengths, scaled)),
        ),
    )


def _dyck() -> Measured:
    """Train two layers on Dyck of two kinds and depth 3, and on (aa)*, lengths up to 24.

    Asked are lengths of training and lengths half as long again.
    """
    run = _learned("dyck", range(2, 25), 1200, head={"pooling": "attention", "dropout": 0.0})
    near, far = (_at(run, "dyck", lengths) for lengths in (range(12, 25), range(26, 37)))
    periodic = _learned("aa", range(1, 25), 600, head={"pooling": "attention", "dropout": 0.0})
    period = _at(periodic, "aa", range(26, 37), 100)
    return Measured(
        f"Dyck {near:.0%} right at lengths of training and {far:.0%} at longer ones; (aa)* "
        f"{period:.0%} "
        "at longer ones",
        (
            Figure("Dyck, lengths 12 to 24", near, near > 0.85),
            Figure("Dyck, lengths 26 to 36", far, far > 0.7),
            Figure("(aa)*, lengths 26 to 36", period),
            Figure("Dyck above (aa)* at longer ones", far - period, far > period),
        ),
    )


PARITY = Claim(
    name="parity-trained",
    numbers=(68,),
    source="D1 Q4; Hahn 2020; Bhattamishra et al. 2020",
    statement="A trained Transformer does not learn PARITY so that it generalises to longer "
    "strings.",
    layer="layers/attention.py",
    reading="50% is guessing. That a solution exists (parity-by-hand) does not mean that training "
    "finds it.",
    then='Set model.mixer.kind = "recurrent": one GRU learns it.',
    measure=_parity,
    slow=True,
)
FIRST = Claim(
    name="first-trained",
    numbers=(68,),
    source="D1 Q4; Chiang and Cholak 2022, §5",
    statement="With scores multiplied by log n a model that learned FIRST at length 50 still "
    "knows it "
    "at 1,000.",
    layer="layers/log_length.py",
    reading="Without it the look at the first symbol is thinned out by the others.",
    then="Train at mixed lengths: the gap narrows.",
    measure=_first,
    slow=True,
)
DYCK = Claim(
    name="dyck-trained",
    numbers=(69,),
    source="D1 Q4; Yao et al. 2021; Bhattamishra et al. 2020",
    statement="Dyck of bounded depth is learned by attention and carries over to longer strings; "
    "periodic languages such as (aa)* do not.",
    layer="layers/attention.py",
    reading="Half of the strings belong, and those that do not are one or two symbols away.",
    then="Raise the depth beyond the number of layers.",
    measure=_dyck,
    slow=True,
)
