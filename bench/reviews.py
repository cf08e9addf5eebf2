"""Accuracy by number of labels on film reviews: pretrained embeddings against random ones.

    python bench/reviews.py ../shared/data/imdb --labels 100 1000 22500 --seeds 1 2 3 --json FILE

The recipe `reviews-pretraining` (or another, by `--pretraining`; it sees no labels) is trained once on
all reviews except those used for evaluation. Then, for every number of labels and every seed (which
also samples the labelled reviews), three classifiers are trained: with the pretrained embeddings
frozen, with the same fine-tuned, and from scratch. Each is compared with the bag of n-grams trained on
the same labels, and with both combined.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from runs import train_or_load

from regard.recipe.load import load, make
from regard.tasks.significance import interval

STARTS = ("pretrained, frozen", "pretrained", "random")
EPOCHS = {100: 40, 1000: 20}
"""Epochs by number of labels; three for any larger number."""


def sample_labels(data, count, seed, folder):
    """Sample ``count`` labelled reviews."""
    file = folder / f"labels-{count}-{seed}.jsonl"
    with gzip.open(data / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        reviews = list(lines)
    random.Random(seed).shuffle(reviews)
    file.write_text("".join(reviews[:count]), encoding="utf-8")
    return file


def classifier_recipe(options, file, count, *, seed, start, body):
    frozen = start == "pretrained, frozen"
    model = body.recipe.model.model_dump(mode="json", exclude={"start"}, exclude_defaults=True)
    pretrained = {"start": {"run": str(body.folder), "freeze": frozen}}
    epochs = EPOCHS.get(count, 3)
    return make(
        {
            "task": "classification",
            "seed": seed,
            "data": {"train": [str(file)], "valid": [str(options.data / "dev.jsonl.gz")]},
            "text": {
                "max_length": 1024,
                "overlong": "head-tail",
                **({"vocabulary": 12000, "lowercase": True} if start == "random" else {}),
            },
            "model": {
                **(model if start == "random" else pretrained),
                "head": {"pooling": "mean", "norm": True, "dropout": 0.5},
            },
            "training": {
                "budget": f"{epochs} epochs",
                "batch_tokens": min(16384, max(2048, 4 * count)),
                "evaluations": 1,
                "checkpoints": 1,
                "threads": options.threads,
                "optimizer": {"rate": 5e-3 if frozen else 2e-3, "weight_decay": 0.0},
            },
        }
    )


def pretrain(options):
    recipe = load(options.pretraining, options.set).model_dump(mode="json", exclude_unset=True)
    files = {
        "train": [str(options.data / f"{part}.jsonl.gz") for part in ("train", "unlabelled")],
        "valid": [str(options.data / "dev.jsonl.gz")],
    }
    recipe["data"] |= {**files, "labelled": []}
    recipe["training"]["threads"] = options.threads
    return train_or_load(make(recipe), options.runs / "pretrained")


def measure(options):
    """Return accuracies by number of labels and start: one for every seed."""
    body = pretrain(options)
    took = body.summary["seconds"] / 60
    metric = body.task.metric
    print(f"pretrained in {took:.1f} min: {metric} {body.summary['metrics'][metric]:.3f}")
    found = {}
    for count in options.labels:
        seeds = options.seeds if count < 20_000 else options.seeds[:1]
        for seed in seeds:
            file = sample_labels(options.data, count, seed, options.runs)
            for start in STARTS:
                recipe = classifier_recipe(options, file, count, seed=seed, start=start, body=body)
                name = f"{start.replace(', ', '-')}-{count}-{seed}"
                metrics = train_or_load(recipe, options.runs / name).summary["metrics"]
                kinds = {
                    start: metrics["accuracy"],
                    "bag of n-grams": metrics["baseline"]["accuracy"],
                    f"{start}, with the n-grams": metrics["together"]["accuracy"],
                }
                for kind, accuracy in kinds.items():
                    found.setdefault((count, kind), {})[seed] = 100 * accuracy
                print(f"  {name}: {100 * metrics['accuracy']:.1f}")
    return {key: list(by_seed.values()) for key, by_seed in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pretraining", default="reviews-pretraining", metavar="RECIPE")
    parser.add_argument("--set", action="append", default=[], metavar="SETTING")
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 1000, 22500])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs/reviews"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    found = measure(options)
    for (count, kind), values in found.items():
        mean, half = interval(values).mean, interval(values).half
        print(f"{count:7,} labels  {kind:36} {mean:.1f}" + (f" ± {half:.1f}" if half else ""))
    if options.json:
        rows = [{"labels": n, "kind": kind, "accuracy": v} for (n, kind), v in found.items()]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
