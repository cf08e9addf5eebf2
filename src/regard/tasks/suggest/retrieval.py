"""Suggested recipe for search in documents."""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.formats.beir import find_file, find_qrels, is_folder
from regard.errors import DataError, UsageError
from regard.recipe.data import DataSettings
from regard.tasks.retrieval.corpus import skip_faults
from regard.tasks.retrieval.read_examples import documents
from regard.tasks.suggest.survey import MOST_SURVEYED, Choices, DataSurvey

MUCH = 20_000  # documents from which on a deeper model pays
FIRST = 2000  # documents in which titles are counted


def suggest_retrieval(files: Sequence[str], seen: DataSurvey) -> Choices:
    """Choose for documents: pairs that the folder provides, vectors initialized from topics."""
    paths = [Path(file).expanduser() for file in files]
    titled = _share_with_titles(paths)
    learned = [path for path in paths if is_folder(path) and _own(path, "train")]
    judged = [
        str(path) for path in paths if is_folder(path) and _has_judgments(path, bool(learned))
    ]
    pairs = ["crops", *(["title"] if titled > 0.5 else [])]
    pairs += ["labelled"] if learned else []
    depth = 1 if seen.examples < MUCH else 2
    size = seen.describe("documents")
    tables: dict[str, Any] = {
        "task": "retrieval",
        "data": {"train": list(files), **({"test": judged} if judged else {})},
        "text": {"vocabulary": _vocabulary(seen), "lowercase": True, "max_length": 256},
        "model": {
            "width": 128,
            "depth": depth,
            "feed_forward": 256,
            "dropout": 0.1,
            "position": {"kind": "rotary"},
        },
        "retrieval": {
            "pairs": pairs,
            "start": "topics",
            "term_weights": "learned",
            "document_length": [32, 96],
        },
        "training": {
            "budget": "5min",
            "batch_tokens": 16384,
            "evaluations": 5,
            "optimizer": {"kind": "adamw", "rate": 1e-3},
        },
    }
    reasons = {
        "data.holdout": "titles, or first sentences, of this share are validation queries.",
        "text.vocabulary": f"grows with the square root of the text; there are {size}.",
        "model.depth": f"{size}: with few documents, word vectors are nearly enough.",
        "retrieval.pairs": f"{titled:.0%} of the documents have titles"
        + ("; there are judged queries to learn from." if learned else "; there are no labels."),
        "retrieval.start": "words of one document start close to each other; costs seconds.",
        "retrieval.term_weights": "rare words distinguish documents.",
        "training.batch_tokens": "the other pairs of a batch are negatives: more are better.",
        "training.budget": "small corpora are learned quickly; compare with BM25 in the report.",
    }
    return Choices(tables, reasons)


def survey_documents(data: DataSettings) -> DataSurvey:
    """Count documents and their words."""
    paths = [Path(file).expanduser() for file in data.train]
    _check_there(paths)
    found = chain.from_iterable(
        skip_faults(documents(path, fields=data.fields), skip=True) for path in paths
    )
    some = (len(document.text.split()) for document in found if document.text)
    counts = list(islice(some, MOST_SURVEYED + 1))
    if not counts:
        raise DataError(
            f"data must hold at least one document. Got none in {', '.join(data.train)}.",
            "Name a folder with corpus.jsonl, or a file of documents.",
        )
    more = len(counts) > MOST_SURVEYED
    return DataSurvey(len(counts) - more, more, float(np.mean(counts)), max(counts))


def _share_with_titles(paths: list[Path]) -> float:
    """Compute the share of the first documents that have a title and a body."""
    found = chain.from_iterable(skip_faults(documents(path), skip=True) for path in paths)
    have = [bool(document.title and document.body) for document in islice(found, FIRST)]
    return float(np.mean(have))


def _vocabulary(seen: DataSurvey) -> int:
    return int(np.clip(round((seen.examples * seen.words) ** 0.5 * 8, -3), 1000, 16000))


def _own(folder: Path, split: str) -> bool:
    """Whether a split has judgments of its own, not those of all splits."""
    return find_file(folder / "qrels", (split,), (".tsv", ".txt", ".qrels")) is not None


def _has_judgments(folder: Path, learned: bool) -> bool:
    return find_qrels(folder, "test") is not None and (not learned or _own(folder, "test"))


def _check_there(paths: list[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise UsageError(f"the file {path} does not exist.", "Check the spelling.")
        if path.is_dir() and not is_folder(path):
            raise UsageError(
                f"{path} has no documents: there is no corpus.jsonl in it.",
                "Name a folder with corpus.jsonl (docs.jsonl will do), or a file.",
            )
