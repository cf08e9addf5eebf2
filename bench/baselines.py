"""The baseline of labelled tasks against scikit-learn, on the same labels, in turn.

    python bench/baselines.py DATA [--sets sst-2 yelp] [--labels 100 1000 all] [--seeds 1 2 3]

scikit-learn: `TfidfVectorizer` with n-grams of one and two words, then `LinearSVC` or
`LogisticRegression`, C chosen by cross-validation. Seconds are of one thread. The two texts of a pair are joined by a tab. With
`--valid`, a fifth of the training part is scored instead of the test part: settings are chosen there.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from labelled_sets import SETS, load_set, sample_labels
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from regard.recipe.load import make
from regard.tasks.kinds import make_task, make_tokenizer

FOLDS = 3
STRENGTHS = {"svm": [0.1, 0.3, 1, 3], "lr": [1, 10, 100]}


def ours(train, test):
    task = "sentence-pair" if len(train[0]) == 3 else "classification"
    names = sorted({example[-1] for example in train})
    recipe = make(
        {"task": task, "data": {"train": ["none"], "labels": names}, "text": {"vocabulary": 500}}
    )
    made = make_task(recipe, make_tokenizer(recipe, lambda: iter(train[:100])))
    began = time.process_time()
    made.load_baseline(made.fit_baseline(lambda: iter(train)))
    fitted = time.process_time()
    logits = made.ensemble.baseline_logits([example[:-1] for example in test])
    seconds = (fitted - began, time.process_time() - fitted)
    return names, logits.log_softmax(dim=1).numpy(), seconds


def theirs(kind, train, test):
    texts, labels = (["\t".join(one[:-1]) for one in train], [one[-1] for one in train])
    model = LinearSVC() if kind == "svm" else LogisticRegression(max_iter=200, tol=1e-3)
    began = time.process_time()
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    features = vectorizer.fit_transform(texts)
    rarest = min(labels.count(label) for label in set(labels))
    grid = {"C": STRENGTHS[kind]}
    found = GridSearchCV(model, grid, cv=FOLDS if rarest >= FOLDS else 2).fit(features, labels)
    fitted = time.process_time()
    asked = vectorizer.transform(["\t".join(one[:-1]) for one in test])
    if kind == "lr":
        scores = found.predict_log_proba(asked)
    else:
        scores = found.decision_function(asked)
        scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    return list(found.classes_), scores, (fitted - began, time.process_time() - fitted)


COMPETITORS = {
    "ours": ours,
    "svm": lambda train, test: theirs("svm", train, test),
    "lr": lambda train, test: theirs("lr", train, test),
}


def score(names, scores, test):
    """Return accuracy and, of log-probabilities, the log loss; a label never seen counts as wrong."""
    true = [example[-1] for example in test]
    said = [names[at] for at in scores.argmax(axis=1)]
    found = {"accuracy": 100 * float(np.mean([a == b for a, b in zip(said, true, strict=True)]))}
    if np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-3):
        known = [(row, names.index(a)) for row, a in zip(scores, true, strict=True) if a in names]
        found["loss"] = -float(np.mean([row[at] for row, at in known]))
    return found


def measure(options, name, count):
    train, test = load_set(options.data, name)
    if options.valid:
        cut = len(train) // 5
        train, test = train[cut:], train[: min(cut, 2500)]
    rows = {who: [] for who in options.who}
    for seed in options.seeds if count is not None else options.seeds[:1]:
        sample = sample_labels(train, count, seed)
        for who in rows:
            names, scores, (fit, answer) = COMPETITORS[who](sample, test)
            found = {**score(names, scores, test), "fit": fit, "answer": answer}
            rows[who].append(found)
    return {
        who: {
            key: float(np.mean([one.get(key, math.nan) for one in found])) for key in (*found[0],)
        }
        for who, found in rows.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--labels", nargs="+", default=["100", "1000", "all"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--who", nargs="+", choices=COMPETITORS, default=list(COMPETITORS))
    parser.add_argument("--valid", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    every = []
    for count in options.labels:
        for name in options.sets:
            found = measure(options, name, None if count == "all" else int(count))
            every.append({"set": name, "labels": count, **found})
            written = (
                f"{who} {row['accuracy']:5.1f} ({row.get('loss', math.nan):.3f}, {row['fit']:.1f} s)"
                for who, row in found.items()
            )
            print(f"{count:>5} {name:10}", " | ".join(written), flush=True)
    if options.json:
        options.json.write_text(json.dumps(every, indent=1))


if __name__ == "__main__":
    main()
