"""Path length and long-range recall in training (D1 Q2)."""

from typing import Any

from regard.claims.claim import Measurement, claim
from regard.claims.recipes import classification
from regard.claims.table import draw_curves, list_values, tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.data.worlds.languages import draw_language

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
    meaning="12.5% is chance among 8 letters. The convolution cannot reach beyond four positions "
    "with two layers of kernel 3; recurrence can, but must carry the letter through every step.",
    next_step="Give the convolution dilation, or more layers: see path-length.",
    condition="compared with one of the two others only",
    slow=True,
)
def recall_by_distance() -> Measurement:
    """Train three mixers of similar size to recall the first of 8 letters at the last position.

    Two causal layers each, mixed lengths of 2 to 96, 700 steps; tested at five lengths. The
    convolution reaches two positions back per layer.
    """
    found, sizes = {}, {}
    files = make_labelled_files(
        draw_language("first", lengths=range(2, 97), count=8000, seed=1),
        draw_language("first", lengths=range(2, 97), count=200, seed=2),
    )
    for name, model in MIXERS.items():
        tables = classification(
            700, longest=128, causal=True, head={"pooling": "last", "dropout": 0.0}, **model
        )
        run = run_trial(f"recall-{name}", tables, files)
        sizes[name] = run.metrics["training"]["parameters"]
        found[name] = [
            accuracy(run, draw_language("first", lengths=[n], count=200, seed=3)) for n in LENGTHS
        ]
    far = {name: scores[-1] for name, scores in found.items()}
    gains = {name: far["attention"] - far[name] for name in ("recurrence", "convolution")}
    return Measurement(
        list_values("{} {:.0%}", far) + " accuracy at distance 96",
        (
            *tabulate("{}, distance 96", far),
            *tabulate("attention above {}", gains, lambda gain: gain > 0),
            *tabulate("parameters, {}", sizes),
        ),
        draw_curves("Recall of the first letter", "distance", LENGTHS, found),
    )
