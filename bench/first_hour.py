"""What `regard init` and `regard train` give with nothing set by hand, next to scikit-learn.

    python bench/first_hour.py DATA OUTPUT.jsonl [--sets sst-2 yelp] [--labels 100 1000 all]
                               [--seeds 1 2 3] [--valid]
    python bench/first_hour.py DATA OUTPUT.jsonl --table

Each line of the output is one training: accuracy and log loss, on texts that nothing was chosen on, of
the network, the n-gram baseline, the answer, and scikit-learn's `LinearSVC` and `LogisticRegression`
(`baselines.py`) on the same labels, and the seconds of both commands. What the output already has is
not measured again. A seed draws the labels and begins the training. With `--valid`, a fifth of the
training part is scored instead of the test part: settings are chosen there.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from baselines import score, theirs
from labelled_sets import SETS, load_set, sample_labels

import regard

FIELDS = {2: ("text", "label"), 3: ("text_a", "text_b", "label")}
COLUMNS = ("network", "baseline", "answer", "scikit-learn")
MOST_VALID = 1500


def write_table(file, examples):
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([FIELDS[len(examples[0])], *examples])


def run_command(*arguments):
    """Run a command of regard; return its wall-clock seconds."""
    began = time.monotonic()
    command = [sys.executable, "-m", "regard", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return time.monotonic() - began


def measure_regard(train, test, seed, folder):
    write_table(folder / "train.csv", train)
    write_table(folder / "test.csv", test)
    task = "sentence-pair" if len(train[0]) == 3 else "classification"
    recipe, run = folder / "recipe.toml", folder / "run"
    init = run_command("init", task, "--data", folder / "train.csv", "--output", recipe)
    fit = run_command("train", recipe, "--run", run, "--set", f"seed={seed}")
    files = [str(folder / "test.csv")]
    found = regard.load(run).evaluate(files=files)
    network = regard.load(run, decoding={"baseline_weight": 0}).evaluate(files=files)
    return {
        "network": pick(network.metrics),
        "baseline": pick(found.baseline),
        "answer": pick(found.metrics),
        "share": found.details.get("fitted", {}).get("baseline_share"),
        "init": init,
        "train": fit,
    }


def pick(metrics):
    return {"accuracy": 100 * metrics["accuracy"], "loss": metrics["loss"]}


def measure_scikit_learn(train, test):
    found, seconds = {}, 0.0
    for kind in ("svm", "lr"):
        names, scores, times = theirs(kind, train, test)
        found[kind] = score(names, scores, test)
        seconds += times[0]
    best = max(one["accuracy"] for one in found.values())
    return {"scikit-learn": {"accuracy": best, "loss": found["lr"].get("loss")}, "fit": seconds}


def measure(options, name, count, seed):
    train, test = load_set(options.data, name)
    if options.valid:
        cut = len(train) // 5
        train, test = train[cut:], train[: min(cut, MOST_VALID)]
    sample = sample_labels(train, count, seed)
    with tempfile.TemporaryDirectory() as folder:
        found = measure_regard(sample, test, seed, Path(folder))
    return {**found, **measure_scikit_learn(sample, test)}


def read_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def print_table(rows):
    """Print the means over seeds, accuracy and log loss, as a table in Markdown."""
    print("| data | labels | seeds |", " | ".join(COLUMNS), "| seconds |")
    print("|---" * (len(COLUMNS) + 4) + "|")
    cells = {(row["set"], row["labels"]): [] for row in rows}
    for row in rows:
        cells[row["set"], row["labels"]].append(row)
    for (name, labels), some in cells.items():
        written = []
        for who in COLUMNS:
            accuracy = np.mean([row[who]["accuracy"] for row in some])
            losses = [row[who]["loss"] for row in some if row[who]["loss"] is not None]
            written.append(f"{accuracy:.1f}" + (f" ({np.mean(losses):.3f})" if losses else ""))
        seconds = np.mean([row["init"] + row["train"] for row in some])
        print(f"| {name} | {labels} | {len(some)} |", " | ".join(written), f"| {seconds:.0f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--labels", nargs="+", default=["100", "1000", "all"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--valid", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print_table(read_lines(options.output))
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    done = {(row["set"], row["labels"], row["seed"]) for row in read_lines(options.output)}
    for labels in options.labels:
        for name in options.sets:
            for seed in options.seeds:
                if (name, labels, seed) in done:
                    continue
                count = None if labels == "all" else int(labels)
                row = {"set": name, "labels": labels, "seed": seed}
                row |= measure(options, name, count, seed)
                with options.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
