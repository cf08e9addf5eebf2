"""Full and sampled softmax of a language model: time and loss.

    python bench/softmax.py ../shared/data/gutenberg --vocabulary 4000 12000 --steps 300 --threads 1

Two layers of width 128 train on novels in windows of 128; the last tenth is held out. For every
vocabulary size, both train for the same steps from the same initialisation, one after the other; the
reported loss is the full softmax in either case. Seconds count the steps only.
"""

import argparse
import tempfile
from pathlib import Path

from runs import train_or_load

from regard.recipe.load import make

MODEL = {
    "width": 128,
    "depth": 2,
    "feed_forward": 512,
    "mixer": {"kind": "attention", "heads": 4, "normed": True},
    "position": {"kind": "rotary"},
}


def recipe(options, vocabulary, softmax):
    return make(
        {
            "task": "language-modelling",
            "data": {
                "train": sorted(map(str, options.data.glob("*.gz"))),
                "format": "text",
                "on_bad_line": "skip",  # one novel has stray bytes
                "holdout": 0.1,
                "holdout_from": "end",
            },
            "text": {"vocabulary": vocabulary, "lowercase": True, "max_length": 128},
            "model": MODEL,
            "training": {
                "budget": f"{options.steps} steps",
                "batch_tokens": 4096,
                "softmax": softmax,
                "label_smoothing": 0.0,
                "evaluations": 1,
                "checkpoints": 1,
                "threads": options.threads,
                "optimizer": {"kind": "adamw", "rate": 4e-3},
            },
        }
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--vocabulary", type=int, nargs="+", default=[4000, 12000, 30000])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    print(f"{'tokens':>8} {'softmax':>10} {'seconds':>8} {'ratio':>6} {'loss':>7} {'bits/byte':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for vocabulary in options.vocabulary:
            whole = None
            for softmax in ("full", "sampled"):
                run = train_or_load(
                    recipe(options, vocabulary, softmax), Path(folder) / f"{softmax}-{vocabulary}"
                )
                seconds, metrics = run.summary["seconds"], run.summary["metrics"]
                whole = whole or seconds
                print(
                    f"{vocabulary:>8,} {softmax:>10} {seconds:>8.1f} {whole / seconds:>6.2f} "
                    f"{metrics['loss']:>7.3f} {metrics['bits_per_byte']:>9.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
