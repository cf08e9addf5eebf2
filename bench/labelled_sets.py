"""Labelled sets for benchmarks: fields of an example with its label last, in training and test."""

import csv
import gzip
import json
import random
from pathlib import Path

MRPC_TEST = 500
JSON_LINES = {
    "imdb": ("imdb/train", "imdb/dev"),
    "sst-2": ("sst/binary.train", "sst/binary.dev"),
    "sst-5": ("sst/fine.train", "sst/fine.dev"),
    "cls-books": ("cls-books/train", "cls-books/test"),
    "yelp": ("yelp/train", "yelp/dev"),
    "bbc": ("bbc/train", "bbc/dev"),
    "agnews": ("agnews/train", "agnews/dev"),
}
SETS = (*JSON_LINES, "sick", "mrpc")


def load_set(data: Path, name: str):
    """Return the training and the test examples of a set, the former shuffled."""
    if name in JSON_LINES:
        train, test = (_json_lines(data / f"{part}.jsonl.gz") for part in JSON_LINES[name])
    elif name == "sick":
        parts = ("SICK_train.txt.gz", "SICK_trial.txt.gz")
        train, test = (_table(data / "sick" / part, (1, 2, 4)) for part in parts)
    else:
        every = _table(data / "mrpc" / "msr_paraphrase_train.txt.gz", (3, 4, 0))
        train, test = every[:-MRPC_TEST], every[-MRPC_TEST:]
    random.Random(0).shuffle(train)
    return train, test


def sample_labels(train, count, seed):
    """Sample ``count`` examples; all of them for None."""
    return train if count is None else random.Random(seed).sample(train, min(count, len(train)))


def _json_lines(file: Path):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [(one["text"], str(one["label"])) for one in map(json.loads, lines)]


def _table(file: Path, columns):
    with gzip.open(file, "rt", encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [tuple(row[column] for column in columns) for row in rows]
