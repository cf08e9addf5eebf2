"""Search in Cranfield: words (BM25), vectors learned from the documents alone, and both.

    python bench/retrieval.py ../shared/data/cranfield --seeds 1 2 3 --json found.json

Vectors are learned by the shipped recipe ``search``: from spans of the 1,400 documents and from
their titles; no query and no judgment is seen. Hybrid is measured twice: with the recipe's own
share, and with the share chosen on one half of the queries and measured on the other, both ways
round, so that nothing is chosen by what it is measured on. The tests are paired over queries, each
query's score being its mean over seeds. Where PyStemmer is installed, rows with English stems
follow: a stronger BM25 than the baseline of our reports, which knows no language.

    regard import all-MiniLM-L6-v2 runs/minilm
    python bench/retrieval.py ../shared/data/cranfield --imported runs/minilm

adds rows of an encoder that others trained on a billion pairs, among which its card does not name
Cranfield; ``--seeds`` without a number leaves out the rows that need training.
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
from regard.tasks.retrieval.read_examples import judged
from regard.tasks.significance import interval, paired

SHARES = [round(0.1 * n, 1) for n in range(1, 10)]


class Bench:
    """Documents, queries and judgments, and how rankings of them score."""

    def __init__(self, folder):
        self.documents = [d for d in read_documents(folder) if isinstance(d, Document)]
        self.names = [document.name for document in self.documents]
        self.ties = name_order(self.names)
        found = [one.fields for one in judged(folder, "test") if isinstance(one, Record)]
        self.queries = [(text, Tag.read(tag).grades) for text, _, tag in found]

    def by_words(self, cut):
        """BM25's scores of every document for every query."""
        index = Bm25.of(cut(document.text) for document in self.documents)
        return np.stack([index.scores(cut(text)) for text, _ in self.queries])

    def by_vectors(self, run):
        """Cosines of every document with every query."""
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


def crossed(bench, vectors, found):
    """Choose the share on half of the queries and score the other half; both ways round."""
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


def trained(options, seed, *, steps=None):
    """Train the recipe, or take what an earlier call of this bench has finished."""
    folder = options.runs / (f"topics-{seed}" if steps else f"search-{seed}")
    if (folder / "regard.json").exists():
        return Run(folder)
    place = json.dumps([str(options.data.resolve())])
    sets = [f"data.train={place}", f"data.test={place}", f"seed={seed}"]
    sets += [f"training.threads={options.threads}", *options.set]
    sets += [f"training.budget={options.budget}"] if options.budget else []
    if steps:  # vectors as they begin, before anything is learned
        sets += [
            f"training.budget={steps}",
            "training.optimizer.rate=1e-12",
            "training.evaluations=1",
        ]
    return regard.train(load("search", sets), folder)


def measure(options):
    """Score every way of searching: by name, a table of scores by query for every seed."""
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
        runs = {"vectors as they begin": partial(trained, steps="1 steps"), "vectors": trained}
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
    """Add what a run's vectors score, alone and with every BM25."""
    vectors = bench.by_vectors(run)
    rows.setdefault(name, []).append(bench.scores(vectors))
    for words_name, scores in found.items():
        both = f"{name} + {words_name}"
        own = bench.scores(hybrid(vectors, scores, share))
        rows.setdefault(f"{both}, share {share:g}", []).append(own)
        fitted, shares = crossed(bench, vectors, scores)
        rows.setdefault(f"{both}, share chosen on the other half", []).append(fitted)
        chosen.setdefault(both, []).append(shares)


def tell(rows, chosen):
    """Print the table, and whether what is ahead of BM25 is so by chance."""
    wide = max(map(len, rows))
    names = ("ndcg@10", "map", "recall@100", "mrr@10")
    print(f"\n{'':{wide}}  " + "  ".join(f"{name:>16}" for name in names) + "   over BM25   p")
    plain = rows["BM25"][0]["ndcg@10"]
    told = {}
    for row, seeds in rows.items():
        cells, means = [], {}
        for name in names:
            each = interval([float(scores[name].mean()) for scores in seeds])
            means[name] = each._asdict()
            cells.append(f"{each.mean:.4f}" + (f" ± {each.half:.4f}" if each.half else ""))
        mean = np.mean([scores["ndcg@10"] for scores in seeds], axis=0)
        chance = paired(mean.tolist(), plain.tolist()).randomisation if row != "BM25" else None
        gain = mean.mean() / plain.mean() - 1
        told[row] = {"metrics": means, "gain": gain, "p": chance}
        more = f"   {gain:+8.1%}   {chance:.2g}" if chance is not None else ""
        print(f"{row:{wide}}  " + "  ".join(f"{cell:>16}" for cell in cells) + more)
    for row, shares in chosen.items():
        print(f"shares chosen, {row}: {shares}")
    return {"rows": told, "shares": chosen}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument(
        "--budget", default="", help="of each training; the recipe's own if left out"
    )
    parser.add_argument(
        "--share", type=float, default=0.5, help="the vectors' share in hybrid search"
    )
    parser.add_argument(
        "--imported", type=Path, nargs="*", default=[], help="runs that `regard import` wrote"
    )
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs/retrieval"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = tell(*measure(options))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
