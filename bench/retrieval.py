"""Search in Cranfield: BM25, vectors trained on the documents alone, and hybrid search.

    python bench/retrieval.py ../shared/data/cranfield --seeds 1 2 3 --json found.json

The shipped recipe ``search`` trains the vectors on spans of the 1,400 documents and on their titles,
without queries or judgments. Hybrid search is evaluated twice: with the recipe's own weight, and with
the weight tuned on one half of the queries and evaluated on the other (two-fold cross-validation). The
significance tests are paired over queries, each query's score being its mean over seeds. If PyStemmer
is installed, rows with English stems follow: a stronger BM25 than the baseline of our reports, which is
language-independent.

    regard import all-MiniLM-L6-v2 runs/minilm
    python bench/retrieval.py ../shared/data/cranfield --imported runs/minilm

adds rows of an encoder that others trained on a billion pairs; its card does not list Cranfield among
them. ``--seeds`` without a number omits the rows that need training.
"""

import argparse
import json
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import regard
from regard.data.formats.beir import Document, read_documents
from regard.data.record import Record
from regard.inference.predictor import Predictor
from regard.recipe.load import load
from regard.run import Run
from regard.tasks.retrieval.bm25 import Bm25, words
from regard.tasks.retrieval.example import Tag
from regard.tasks.retrieval.metrics import NAMES, name_order, rank, ranking_scores
from regard.tasks.retrieval.ranking import blend, words_found
from regard.tasks.retrieval.read_examples import read_judged
from regard.tasks.significance import interval

SHARES = [round(0.1 * n, 1) for n in range(1, 10)]


class Bench:
    """Documents, queries and judgments, and the scores of rankings."""

    def __init__(self, folder):
        self.documents = [d for d in read_documents(folder) if isinstance(d, Document)]
        self.names = [document.name for document in self.documents]
        self.ties = name_order(self.names)
        found = [one.fields for one in read_judged(folder, "test") if isinstance(one, Record)]
        self.queries = [(text, Tag.read(tag).grades) for text, _, tag in found]

    def by_words(self, cut):
        """Compute BM25 scores of every document for every query."""
        index = Bm25.of(cut(document.text) for document in self.documents)
        return np.stack([index.scores(cut(text)) for text, _ in self.queries])

    def by_vectors(self, run):
        """Compute cosines of every document with every query."""
        model = Predictor(run)
        documents = model.encode([document.text for document in self.documents])
        cosines = model.encode([text for text, _ in self.queries]) @ documents.T
        cosines[:, ~documents.any(axis=1)] = -np.inf
        return cosines

    def scores(self, every):
        """Score the ranking of every query."""
        found = []
        for scores, (_, grades) in zip(every, self.queries, strict=True):
            order = rank(scores.astype(np.float32), self.ties)
            found.append(ranking_scores([self.names[n] for n in order], grades))
        return {name: np.array([each[name] for each in found]) for name in NAMES}


def hybrid(vectors, found, share):
    return [blend(v, w, share=share) for v, w in zip(vectors, found, strict=True)]


def cross_validate(bench, vectors, found):
    """Tune the weight on half of the queries and score the other half; both ways."""
    halves = np.random.default_rng(0).permutation(len(bench.queries)) % 2 == 0
    every = {share: bench.scores(hybrid(vectors, found, share)) for share in SHARES}
    scored = {name: np.empty(len(halves)) for name in NAMES}
    chosen = []
    for half in (halves, ~halves):
        best = max(SHARES, key=lambda share: every[share]["ndcg@10"][~half].mean())
        chosen.append(best)
        for name in NAMES:
            scored[name][half] = every[best][name][half]
    return scored, chosen


def train_or_load(options, seed, *, steps=None):
    """Train the recipe, or load the run that an earlier call has finished."""
    folder = options.runs / (f"topics-{seed}" if steps else f"search-{seed}")
    if (folder / "regard.json").exists():
        return Run(folder)
    place = json.dumps([str(options.data.resolve())])
    sets = [f"data.train={place}", f"data.test={place}", f"seed={seed}"]
    sets += [f"training.threads={options.threads}", *options.set]
    sets += [f"training.budget={options.budget}"] if options.budget else []
    if steps:  # vectors at initialisation
        sets += [
            f"training.budget={steps}",
            "training.optimizer.rate=1e-12",
            "training.evaluations=1",
        ]
    return regard.train(load("search", sets), folder)


def measure(options):
    """Score every method: by name, scores per query for every seed."""
    bench, rows, chosen = Bench(options.data), {}, {}
    cuts = {"BM25": words}
    if find_spec("Stemmer"):
        import Stemmer

        stem = Stemmer.Stemmer("english").stemWords
        cuts["BM25, English stems"] = lambda text: stem(words(text))
    found = {name: bench.by_words(cut) for name, cut in cuts.items()}
    for name, scores in found.items():
        rows[name] = [bench.scores(map(words_found, scores))]
    for seed in options.seeds:
        runs = {
            "vectors at initialisation": partial(train_or_load, steps="1 steps"),
            "vectors": train_or_load,
        }
        for name, train in runs.items():
            run = train(options, seed)
            measure_vectors(bench, name, run, found, rows, chosen, share=options.share)
            minutes = run.summary["seconds"] / 60
            print(
                f"  seed {seed}, {name}: {minutes:.1f} min, {run.summary['steps']} steps",
                flush=True,
            )
    for folder in options.imported:
        name = f"vectors of {folder.name}"
        measure_vectors(bench, name, Run(folder), found, rows, chosen, share=options.share)
    return rows, chosen


def measure_vectors(bench, name, run, found, rows, chosen, *, share):
    """Add the scores of a run's vectors, alone and with every BM25."""
    vectors = bench.by_vectors(run)
    rows.setdefault(name, []).append(bench.scores(vectors))
    for words_name, scores in found.items():
        both = f"{name} + {words_name}"
        own = bench.scores(hybrid(vectors, scores, share))
        rows.setdefault(f"{both}, weight {share:g}", []).append(own)
        fitted, shares = cross_validate(bench, vectors, scores)
        rows.setdefault(f"{both}, weight tuned on the other half", []).append(fitted)
        chosen.setdefault(both, []).append(shares)


def report(rows, chosen):
    """Print the table, with a significance test against BM25."""
    wide = max(map(len, rows))
    names = ("ndcg@10", "map", "recall@100", "mrr@10")
    print(f"\n{'':{wide}}  " + "  ".join(f"{name:>16}" for name in names) + "   over BM25   p")
    plain = rows["BM25"][0]["ndcg@10"]
    summary = {}
    for row, seeds in rows.items():
        cells, means = [], {}
        for name in names:
            each = interval([float(scores[name].mean()) for scores in seeds])
            means[name] = each._asdict()
            cells.append(f"{each.mean:.4f}" + (f" ± {each.half:.4f}" if each.half else ""))
        mean = np.mean([scores["ndcg@10"] for scores in seeds], axis=0)
        chance = (
            compare_paired(mean.tolist(), plain.tolist()).randomisation if row != "BM25" else None
        )
        gain = mean.mean() / plain.mean() - 1
        summary[row] = {"metrics": means, "gain": gain, "p": chance}
        more = f"   {gain:+8.1%}   {chance:.2g}" if chance is not None else ""
        print(f"{row:{wide}}  " + "  ".join(f"{cell:>16}" for cell in cells) + more)
    for row, shares in chosen.items():
        print(f"tuned weights, {row}: {shares}")
    return {"rows": summary, "shares": chosen}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--budget", default="", help="of each training; default: the recipe's own")
    parser.add_argument(
        "--share", type=float, default=0.5, help="weight of the vectors in hybrid search"
    )
    parser.add_argument(
        "--imported", type=Path, nargs="*", default=[], help="runs that `regard import` wrote"
    )
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs/retrieval"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = report(*measure(options))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
