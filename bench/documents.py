"""Document classifiers: HAN, context-aware HAN, structured embedding and transformer.

    python bench/documents.py world  [--seeds 1 2 3 4 5] [--budget "1500 steps"]
    python bench/documents.py real DATA [--sets yelp bbc imdb] [--seeds ...] [--budget "6 epochs"]
    python bench/documents.py real DATA --sets bbc --folds 5 --seeds 1 --models vectors transformer
    python bench/documents.py penalty [--seeds 1 2 3] [--budget "600 steps"]
    python bench/documents.py third

``world``: on the synthetic reviews, how often the most attended sentence belongs to the rationale, and
the accuracy, on reviews that need one sentence and on those that need two. ``real``: four models against
the bag of n-grams, on the same held-out texts; with ``--folds``, cross-validation. ``vectors`` starts
from embeddings pretrained without labels on the same texts and other news.
``penalty``: overlap of hops by kind and weight of the penalty. ``third``: cost of comparing all pairs of
hops by Frobenius norm and by KL, in three implementations each (D1's "one third of the computation").
"""

import argparse
import gzip
import json
import time
import zlib
from pathlib import Path

import numpy as np
import torch
from runs import format_interval, train_or_load
from torch.utils.flop_counter import FlopCounterMode

from regard.data.batch import pad
from regard.data.worlds.reviews import draw_reviews
from regard.layers.diversity import mean_overlap
from regard.layers.tap import listen
from regard.recipe.load import load, make
from regard.text import special

MODELS = ("documents-han", "documents-context", "self-attentive", "transformer")
TRANSFORMER = {
    "width": 96,
    "depth": 2,
    "feed_forward": 256,
    "dropout": 0.3,
    "bare": False,
    "states": None,
    "mixer": {"kind": "attention", "heads": 4},
    "position": {"kind": "sinusoidal"},
    "head": {"pooling": "mean", "dropout": 0.3},
    "documents": {"read": "whole"},
}
REAL_TEXT = {
    "tokenizer": "words",
    "vocabulary": 12000,
    "lowercase": True,
    "max_length": 256,
    "overlong": "head-tail",
}
REAL_MODEL = {"width": 128, "states": 128, "dropout": 0.4}
REAL_TRAINING = {"batch_tokens": 6144, "label_smoothing": 0.1}
REAL_RATE = 3e-3
BUDGETS = {"yelp": "5 epochs", "bbc": "6 epochs", "imdb": "2 epochs"}


def recipe_of(model, *, seed, budget, threads, data=None):
    """Take a shipped recipe with another budget; with ``data``, on real texts and wider."""
    name = "documents-han" if model == "transformer" else model
    tables = load(name).model_dump(mode="json")
    tables["seed"] = seed
    if data is not None:
        tables["data"], tables["text"] = data, {**tables["text"], **REAL_TEXT}
        tables["model"] |= REAL_MODEL
        tables["model"]["head"]["dropout"] = REAL_MODEL["dropout"]
        tables["training"] |= REAL_TRAINING
        tables["training"]["optimizer"]["rate"] = REAL_RATE
    if model == "transformer":
        tables["model"] |= TRANSFORMER
    tables["training"] |= {"budget": budget, "threads": threads, "checkpoints": 1, "evaluations": 4}
    return make(tables)


def batches(run, texts, size=64):
    """Make padded batches of texts, encoded as for prediction."""
    task = run.task
    rows = [task.rows(tokens)[0] for tokens in task._tokens([(text,) for text in texts])]
    for begin in range(0, len(rows), size):
        yield begin, pad(rows[begin : begin + size], filler=special.PAD)


@torch.inference_mode()
def predict(run, found):
    """Give the answer for each review and its most attended sentence."""
    answers, attended = [], []
    for _, (ids, lengths) in batches(run, [review.text for review in found]):
        with listen(run.model.eval(), "head.pool.weights") as recorded:
            logits = run.model(ids, lengths=lengths)
        answers += [run.task.labels.names[n] for n in logits.argmax(dim=1).tolist()]
        attended += recorded["head.pool.weights"][0][:, 0, 0].argmax(dim=1).tolist()
    return answers, attended


def shares(run):
    """Compute accuracy and rationale hits on the test reviews, by kind."""
    found = list(draw_reviews("test"))
    answers, attended = predict(run, found)
    right = np.array([answer == each.rating for answer, each in zip(answers, found, strict=True)])
    hit = np.array(
        [at in each.rationale_sentences for at, each in zip(attended, found, strict=True)]
    )
    needs = np.array([each.needs_context for each in found])
    parts = {"all": np.ones_like(needs), "plain": ~needs, "context": needs}
    return {
        **{f"accuracy {name}": 100 * right[part].mean() for name, part in parts.items()},
        **{f"rationale {name}": 100 * hit[part].mean() for name, part in parts.items()},
        "baseline": 100 * run.summary["metrics"]["baseline"]["accuracy"],
    }


def world(options):
    """HAN and context-aware HAN on the synthetic reviews."""
    found = {}
    for seed in options.seeds:
        for model in ("documents-han", "documents-context"):
            recipe = recipe_of(model, seed=seed, budget=options.budget, threads=options.threads)
            run = train_or_load(recipe, options.runs / f"world-{model}-{seed}")
            scores = shares(run)
            print(f"  {model} seed {seed}: " + ", ".join(f"{k} {v:.1f}" for k, v in scores.items()))
            for name, value in scores.items():
                found.setdefault(f"{model}: {name}", []).append(float(value))
    han, context = (
        found[f"{model}: accuracy context"] for model in ("documents-han", "documents-context")
    )
    found["context-aware minus HAN, context part"] = [
        b - a for a, b in zip(han, context, strict=True)
    ]
    return found


def files_of(root, name):
    """Find the files for training and for evaluation."""
    folder = root / name
    parts = {part: sorted(folder.glob(f"{part}.*")) for part in ("train", "dev", "valid", "test")}
    held = parts["test"] or parts["dev"] or parts["valid"]
    files = {"train": [str(parts["train"][0])], "test": [str(held[0])]}
    return {**files, "fields": ["text", "label"], "holdout": 0.03}


def from_vectors(options, data, *, seed, folder):
    """Pretrain embeddings on the training texts and other news, then start from them."""
    tables = load("reviews-pretraining").model_dump(mode="json", exclude_unset=True)
    news = str(options.data / "agnews" / "train.jsonl.gz")
    tables["data"] |= {"train": [*data["train"], news], "valid": [], "holdout": 0.03}
    tables["training"] |= {"budget": "8 epochs", "threads": options.threads, "batch_tokens": 8192}
    tables["model"]["embedding"] |= {"ngram_rows": 65536}
    train_or_load(make(tables), folder)
    training = {"batch_tokens": 8192, "label_smoothing": 0.1, "evaluations": 1, "checkpoints": 1}
    training |= {"budget": options.budget or "10 epochs", "threads": options.threads}
    return make(
        {
            "task": "classification",
            "seed": seed,
            "data": data,
            "text": {"max_length": 1024, "overlong": "head-tail"},
            "model": {
                "start": {"run": str(folder)},
                "head": {"pooling": "mean", "norm": True, "dropout": 0.5},
            },
            "training": {**training, "optimizer": {"rate": 2e-3, "weight_decay": 0.0}},
        }
    )


def divisions(options, name):
    """Yield training and test files: the given split, or every fold of a cross-validation."""
    files = files_of(options.data, name)
    if not options.folds:
        yield "", files
        return
    lines = []
    for part in ("train", "test"):
        with gzip.open(files[part][0], "rb") as file:
            lines += file
    texts = [json.loads(line)["text"].split() for line in lines]
    home = [zlib.crc32(" ".join(words).encode()) % options.folds for words in texts]  # copies too
    for fold in range(options.folds):
        folder = options.runs / "folds" / f"{name}-{fold}"
        folder.mkdir(parents=True, exist_ok=True)
        for part in ("train", "test"):
            part_lines = [
                o for o, at in zip(lines, home, strict=True) if (at == fold) == (part == "test")
            ]
            (folder / f"{part}.jsonl").write_bytes(b"".join(part_lines))
        yield (
            f"-fold{fold}",
            {**files, **{part: [str(folder / f"{part}.jsonl")] for part in ("train", "test")}},
        )


def real(options):
    """Four models against the bag of n-grams, on real texts."""
    found = {}
    turns = (
        (name, fold, data, seed)
        for name in options.sets
        for fold, data in divisions(options, name)
        for seed in options.seeds
    )
    for name, fold, data, seed in turns:
        budget = options.budget or BUDGETS[name]
        for model in options.models:
            folder = options.runs / f"{name}-{model}-{seed}{fold}"
            if model == "vectors":
                recipe = from_vectors(options, data, seed=seed, folder=Path(f"{folder}-before"))
            else:
                threads = options.threads
                recipe = recipe_of(model, seed=seed, budget=budget, threads=threads, data=data)
            run = train_or_load(recipe, folder)
            scores = run.summary["metrics"]
            others = scores["baseline"], scores["together"]
            row = [100 * each["accuracy"] for each in (scores, *others)]
            seconds = run.summary["seconds"]
            print(
                f"  {name}{fold} {model} seed {seed}: {row[0]:.1f} (baseline {row[1]:.1f}, together "
                f"{row[2]:.1f}) in {seconds:.0f} s"
            )
            found.setdefault(f"{name}: {model}", []).append(row[0])
            found.setdefault(f"{name}: {model}, together with baseline", []).append(row[2])
        found.setdefault(f"{name}: baseline", []).append(row[1])  # its holdout is the seed's
    return found


@torch.inference_mode()
def overlap_of(run, texts):
    """Mean overlap of hops over texts."""
    weights = []
    for _, (ids, lengths) in batches(run, texts):
        with listen(run.model.eval(), "head.pool.looks.weights") as recorded:
            run.model(ids, lengths=lengths)
        weights += mean_overlap(recorded["head.pool.looks.weights"][0][:, 0]).tolist()
    return float(np.mean(weights))


def penalty(options):
    """Overlap of hops and accuracy, by kind and weight of the penalty."""
    found = {}
    texts = [review.text for review in draw_reviews("test", count=300)]
    choices = [("none", 0.0)]
    choices += [(kind, w) for kind in ("frobenius", "off-diagonal", "kl") for w in (0.3, 1.0)]
    for seed in options.seeds:
        for kind, weight in choices:
            recipe = recipe_of(
                "self-attentive", seed=seed, budget=options.budget, threads=options.threads
            )
            tables = recipe.model_dump(mode="json")
            tables["model"]["head"]["hops"] |= {"penalty": kind, "penalty_weight": weight}
            run = train_or_load(make(tables), options.runs / f"penalty-{kind}-{weight}-{seed}")
            accuracy = 100 * run.summary["metrics"]["accuracy"]
            overlap = overlap_of(run, texts)
            print(f"  {kind} {weight} seed {seed}: accuracy {accuracy:.1f}, overlap {overlap:.3f}")
            found.setdefault(f"{kind} {weight}: accuracy", []).append(accuracy)
            found.setdefault(f"{kind} {weight}: overlap", []).append(overlap)
    return found


def frobenius_pairs(weights):
    return (weights[:, None] * weights[None]).sum(-1)


def kl_pairs(weights, logs):
    return (weights[:, None] * (logs[:, None] - logs[None])).sum(-1)


def kl_matmul(weights, logs):
    return (weights * logs).sum(-1, keepdim=True) - weights @ logs.T


def kl_naive(weights):
    return (weights[:, None] * (weights[:, None] / weights[None]).log()).sum(-1)


def third(options):
    """Time the comparison of all pairs of hops; print the ratio to KL in the same implementation."""
    torch.set_num_threads(1)
    found = {}
    for hops, words in ((30, 100), (30, 1000), (100, 1000)):
        weights = torch.randn(hops, words).softmax(-1)
        logs = weights.log()
        ways = {
            "pair by pair": (lambda x: frobenius_pairs(x), lambda x: kl_naive(x)),
            "pairs, logarithms once": (
                lambda x: frobenius_pairs(x),
                lambda x: kl_pairs(x, x.log()),
            ),
            "matmul": (lambda x: x @ x.T, lambda x: kl_matmul(x, x.log())),
        }
        # Operations by hand: sums and products of r²n pairs; a logarithm or division counts as one.
        n2 = hops * hops * words
        operations = {
            "pair by pair": (2 * n2, 4 * n2),
            "pairs, logarithms once": (2 * n2, 3 * n2 + hops * words),
            "matmul": (2 * n2, 2 * n2 + 3 * hops * words),
        }
        for name, (norm, kl) in ways.items():
            times = []
            for _ in range(options.rounds):
                pair = []
                for function in (norm, kl):
                    start = time.perf_counter()
                    for _ in range(max(1, 3_000_000 // n2)):
                        function(weights)
                    pair.append(time.perf_counter() - start)
                times.append(pair[0] / pair[1])
            key = f"r={hops} n={words}, {name}"
            cheap, dear = operations[name]
            print(
                f"  {key}: Frobenius / KL = {np.median(times):.2f} of the time, "
                f"{cheap / dear:.2f} of the operations"
            )
            found[f"{key}: time"] = times
            found[f"{key}: operations"] = [cheap / dear]
        with FlopCounterMode(display=False) as counter:
            kl_matmul(weights, logs)
        print(f"    matmul FLOPs of KL by torch's counter: {counter.get_total_flops():,}")
    return found


def report(found):
    """Print mean and 95% interval over seeds."""
    wide = max(map(len, found))
    print()
    for name, values in found.items():
        print(f"{name:<{wide}}  {format_interval(values)}   (n = {len(values)})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind, seeds, budget in (
        (world, [1, 2, 3, 4, 5], "1500 steps"),
        (real, [1, 2, 3, 4, 5], ""),
        (penalty, [1, 2, 3], "600 steps"),
        (third, [1], "0"),
    ):
        one = kinds.add_parser(kind.__name__, help=kind.__doc__)
        one.set_defaults(run=kind)
        if kind is real:
            one.add_argument("data", type=Path)
            one.add_argument("--sets", nargs="+", default=list(BUDGETS), choices=list(BUDGETS))
            one.add_argument("--folds", type=int, default=0, help="of cross-validation")
            one.add_argument(
                "--models", nargs="+", default=list(MODELS), choices=[*MODELS, "vectors"]
            )
        one.add_argument("--seeds", type=int, nargs="+", default=seeds)
        one.add_argument("--budget", default=budget)
        one.add_argument("--threads", type=int, default=1)
        one.add_argument("--rounds", type=int, default=15, help="of timing")
        one.add_argument("--runs", type=Path, default=Path("runs/documents"))
        one.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    found = options.run(options)
    report(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
