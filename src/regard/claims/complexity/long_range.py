"""Shorter paths and what is learned over them (D1 Q2)."""

from typing import Any

from regard.claims.claim import Measured, claim
from regard.claims.recipes import classification
from regard.claims.table import draw_curves, list_values, tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.data.worlds.languages import language

LENGTHS = (8, 16, 32, 64, 96)
MIXERS: dict[str, dict[str, Any]] = {
    "attention": {"mixer": {"kind": "attention", "heads": 4}, "feed_forward": 96},
    "recurrence": {"mixer": {"kind": "recurrent", "cell": "gru"}, "feed_forward": 48},
    "convolution": {"mixer": {"kind": "convolution", "kernel": 3}, "feed_forward": 64},
}


@claim(
    numbers=(19,),
    source="D1 Q2; Vaswani et al. 2017, §4",
    statement="The shorter the path between two positions, the easier a dependency is learned.",
    layer="layers/attention.py",
    reading="12.5% is guessing among 8 letters. The convolution cannot reach beyond four places "
    "with two layers of kernel 3; recurrence can, and must carry the letter step by step.",
    then="Give the convolution dilation, or more layers: see path-length.",
    condition="compared with one of the two others only",
    slow=True,
)
def recall_by_distance() -> Measured:
    """Train three mixers of about the same size to say the first of 8 letters at the last place.

    Two causal layers each, lengths 2 to 96 mixed, 700 steps; asked at five lengths. The
    convolution looks two places back per layer.
    """
    found, sizes = {}, {}
    files = labelled_files(
        language("first", lengths=range(2, 97), count=8000, seed=1),
        language("first", lengths=range(2, 97), count=200, seed=2),
    )
    for name, model in MIXERS.items():
        tables = classification(
            700, longest=128, causal=True, head={"pooling": "last", "dropout": 0.0}, **model
        )
        run = trial(f"recall-{name}", tables, files)
        sizes[name] = run.metrics["training"]["parameters"]
        found[name] = [
            accuracy(run, language("first", lengths=[n], count=200, seed=3)) for n in LENGTHS
        ]
    far = {name: scores[-1] for name, scores in found.items()}
    gains = {name: far["attention"] - far[name] for name in ("recurrence", "convolution")}
    return Measured(
        list_values("{} {:.0%}", far) + " right at distance 96",
        (
            *tabulate("{}, distance 96", far),
            *tabulate("attention above {}", gains, lambda gain: gain > 0),
            *tabulate("parameters, {}", sizes),
        ),
        draw_curves("Recall of the first letter", "distance", LENGTHS, found),
    )
