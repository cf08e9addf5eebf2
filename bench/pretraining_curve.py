"""Accuracy by epoch on French book reviews: pretrained or from scratch, frozen or fine-tuned.

    python bench/pretraining_curve.py ../shared/data --budget 20min --epochs 6 --seeds 1 2 3 4 5

A small causal language model is pretrained once, on the reviews' own text (train and valid, never
test) and the French side of tatoeba. Then, for every seed, four classifiers are trained on the 1,600
labelled reviews: from the pretrained body and from a random one, fine-tuned or frozen. Each is
evaluated on all 2,000 test reviews before its first step and after every epoch; nothing is selected by
that. Prints mean and 95% interval by epoch, and plots them with bands.

    python bench/pretraining_curve.py ../shared/data --lab --budget 20min --epochs 5

does the same with the course laboratory's model (recipes lab-language-model, lab-sentiment): words,
width 200, 4 layers of 2 heads, post-norm.
"""

import argparse
import gzip
import json
from pathlib import Path

from runs import train_or_load

from regard.draw.chart import Curve, line_chart
from regard.recipe.load import load, make
from regard.tasks.significance import interval

TOGETHER = 30  # sentences of tatoeba in one document
STARTS = ("random", "pretrained")
LAB_BATCH = 1024  # tokens: about eight reviews
RATES = {False: 5e-4, True: 5e-3}
"""Learning rate by whether the body is frozen: a head alone tolerates a higher one."""


def jsonl(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write_text(data, file):
    """Write the text to pretrain on: a blank line ends a document."""
    reviews = [
        " ".join(each["text"].split())
        for part in ("train", "valid")
        for each in jsonl(data / "cls-books" / f"{part}.jsonl.gz")
    ]
    with gzip.open(data / "tatoeba" / "eng-fra.tsv.gz", "rt", encoding="utf-8") as lines:
        sentences = list(dict.fromkeys(line.rstrip("\n").split("\t")[1] for line in lines))
    spoken_texts = [
        " ".join(sentences[n : n + TOGETHER]) for n in range(0, len(sentences), TOGETHER)
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n\n".join([*reviews, *spoken_texts]) + "\n", encoding="utf-8")


def language_model(text, options, *, seed, budget, rate):
    return make(
        {
            "task": "language-modelling",
            "seed": seed,
            "data": {"train": [str(text)], "holdout": 0.02},
            "text": {"vocabulary": options.vocabulary, "max_length": 128},
            "model": {
                "width": options.width,
                "depth": options.depth,
                "feed_forward": 4 * options.width,
                "mixer": {"kind": "attention", "heads": 4, "normed": True},
                "position": {"kind": "rotary"},
                "dropout": 0.1,
                # With zero_init a random frozen body would be the identity.
                "zero_init": budget != "1 steps",
            },
            "training": {
                "budget": budget,
                "batch_tokens": 4096,
                "label_smoothing": 0.0,
                "evaluations": 5,
                "checkpoints": 2,
                "threads": options.threads,
                "optimizer": {"kind": "adamw", "rate": rate},
            },
            "decoding": {"method": "greedy", "max_length": 20},
        }
    )


def lab_language_model(text, options, *, seed, budget, rate):
    changes = [
        f'data.train=["{text}"]',
        'data.format="text"',
        "data.holdout=0.02",
        f"seed={seed}",
        f'training.budget="{budget}"',
        'training.softmax="sampled"',  # words outside the sample cost nothing
        f"training.threads={options.threads}",
        f"training.optimizer.rate={rate}",
        "training.evaluations=5",
        "training.checkpoints=2",
    ]
    return load("lab-language-model", changes)


def lab_classifier(data, options, start, *, seed, frozen):
    train, test = (str(data / "cls-books" / f"{part}.jsonl.gz") for part in ("train", "test"))
    changes = [
        f'data.train=["{train}"]',
        *(f'data.{part}=["{test}"]' for part in ("valid", "test")),
        'data.fields=["text", "label"]',
        f"seed={seed}",
        f'model.start.run="{start.absolute()}"',
        f"model.start.freeze={str(frozen).lower()}",
        f'training.budget="{options.epochs} epochs"',
        f"training.batch_tokens={LAB_BATCH}",
        f"training.evaluations={options.epochs}",
        "training.checkpoints=1",
        f"training.threads={options.threads}",
        f"training.optimizer.rate={RATES[frozen]}",
    ]
    return load("lab-sentiment", changes)


def classifier(data, options, start, *, seed, frozen):
    files = {part: [str(data / "cls-books" / f"{part}.jsonl.gz")] for part in ("train", "test")}
    return make(
        {
            "task": "classification",
            "seed": seed,
            "data": {**files, "valid": files["test"], "fields": ["text", "label"]},
            "text": {"max_length": options.longest, "overlong": "head-tail"},
            "model": {"start": {"run": str(start), "freeze": frozen}},
            "training": {
                "budget": f"{options.epochs} epochs",
                "batch_tokens": 4096,
                "label_smoothing": 0.0,
                "evaluations": options.epochs,
                "evaluate_first": True,
                "checkpoints": 1,
                "threads": options.threads,
                "optimizer": {"kind": "adamw", "rate": RATES[frozen]},
            },
        }
    )


def accuracies(run):
    """Read the test accuracy before the first step and after every epoch."""
    evaluations = [line for line in run.journal if line["event"] == "evaluation"]
    return [100 * line["metrics"]["accuracy"] for line in evaluations]


def measure(options, text):
    """Train everything; return accuracies by kind: one list of epochs for every seed."""
    found = {}
    before, after = (
        (lab_language_model, lab_classifier) if options.lab else (language_model, classifier)
    )
    whole = train_or_load(
        before(text, options, seed=1, budget=options.budget, rate=1.5e-3),
        options.runs / "pretrained",
    )
    loss = whole.summary["metrics"]["loss"]
    print(f"pretrained in {whole.summary['seconds'] / 60:.1f} min: {loss:.3f} nats per token")
    for seed in options.seeds:
        untrained = options.runs / f"untrained-{seed}"
        train_or_load(before(text, options, seed=seed, budget="1 steps", rate=1e-12), untrained)
        for name in STARTS:
            start = whole.folder if name == "pretrained" else untrained
            for frozen in (False, True):
                kind = f"{name}, frozen" if frozen else name
                recipe = after(options.data, options, start, seed=seed, frozen=frozen)
                folder = options.runs / f"{kind.replace(', ', '-')}-{seed}"
                run = train_or_load(recipe, folder)
                found.setdefault(kind, []).append(accuracies(run))
                last = run.summary["metrics"]
                print(
                    f"  {folder.name}: {' '.join(f'{a:.1f}' for a in found[kind][-1])}   "
                    f"(baseline {100 * last['baseline']['accuracy']:.1f})"
                )
    return found


def report(found, svg):
    """Print the table and plot it."""
    lines = []
    for kind, seeds in found.items():
        by_epoch = [interval(values) for values in zip(*seeds, strict=True)]
        lines.append(
            Curve(
                kind,
                range(len(by_epoch)),
                [each.mean for each in by_epoch],
                [each.mean - (each.half or 0) for each in by_epoch],
                [each.mean + (each.half or 0) for each in by_epoch],
            )
        )
    print("\nepoch  " + "".join(f"{line.name:>22}" for line in lines))
    for epoch in range(len(lines[0].ys)):
        cells = (
            f"{line.ys[epoch]:.1f} ± {line.highs[epoch] - line.ys[epoch]:.1f}" for line in lines
        )
        print(f"{epoch:5}  " + "".join(f"{cell:>22}" for cell in cells))
    title = "Accuracy on test, %: mean and 95% over seeds"
    svg.parent.mkdir(parents=True, exist_ok=True)
    svg.write_text(line_chart(lines, title=title, x_label="epochs") + "\n", encoding="utf-8")
    print(f"\nplotted in {svg}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", default="20min", help="of pretraining")
    parser.add_argument("--lab", action="store_true", help="the course laboratory's model")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--longest", type=int, default=256, help="tokens of a review")
    parser.add_argument("--runs", type=Path, default=Path("runs/pretraining-curve"))
    parser.add_argument("--svg", type=Path, default=Path("docs/pictures/pretraining-curve.svg"))
    options = parser.parse_args()
    text = options.runs / "text.txt"
    write_text(options.data, text)
    report(measure(options, text), options.svg)


if __name__ == "__main__":
    main()
