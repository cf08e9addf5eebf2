"""Training with matrix products by MKL and by oneDNN: time and loss, interleaved.

    python bench/onednn_matmul.py ../shared/data/tinyshakespeare/input.txt.gz --steps 150 --threads 1

Language models of four sizes train for the same steps from the same initialisation, in turns.
Seconds count the steps only; the ratio is the median over rounds. On processors where oneDNN is not
faster (Intel's, or without AVX-512) training uses MKL, and this shows why.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from unittest import mock

from runs import train_or_load

from regard.recipe.load import make
from regard.training import onednn_matmul

SIZES = ((3, 96, 3), (4, 128, 4), (4, 256, 4), (2, 512, 8))  # depth, width, heads


def recipe(options, depth, width, heads):
    return make(
        {
            "task": "language-modelling",
            "data": {
                "train": [str(options.data)],
                "format": "whole",
                "holdout": 0.02,
                "holdout_from": "end",
            },
            "text": {"tokenizer": "characters", "vocabulary": 1000, "max_length": 128},
            "model": {
                "width": width,
                "depth": depth,
                "feed_forward": 4 * width,
                "dropout": 0.0,
                "mixer": {"kind": "attention", "heads": heads, "normed": True},
                "position": {"kind": "rotary", "base": 100.0},
            },
            "training": {
                "budget": f"{options.steps} steps",
                "batch_tokens": 2048,
                "label_smoothing": 0.0,
                "evaluations": 1,
                "checkpoints": 1,
                "threads": options.threads,
            },
        }
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    print(f"oneDNN is {'' if onednn_matmul.is_faster() else 'not '}used on this processor")
    print(f"{'size':>8} {'MKL':>8} {'oneDNN':>8} {'ratio':>6} {'loss':>8} {'loss':>8}")
    for depth, width, heads in SIZES:
        seconds, losses = {False: [], True: []}, {}
        for _ in range(options.rounds):
            for suited in (False, True):
                with (
                    tempfile.TemporaryDirectory() as folder,
                    mock.patch.object(onednn_matmul, "is_faster", lambda suited=suited: suited),
                ):
                    run = train_or_load(recipe(options, depth, width, heads), Path(folder) / "run")
                seconds[suited].append(run.summary["seconds"])
                losses[suited] = run.summary["metrics"]["loss"]
        ratio = statistics.median(a / b for a, b in zip(*seconds.values(), strict=True))
        mkl, onednn = (statistics.median(seconds[suited]) for suited in (False, True))
        print(
            f"{f'{depth}x{width}':>8} {mkl:>8.1f} {onednn:>8.1f} {ratio:>6.2f} "
            f"{losses[False]:>8.4f} {losses[True]:>8.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
