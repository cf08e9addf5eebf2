"""The documents to search: names, ids and a BM25 index."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.data.formats.beir import Document
from regard.data.record import Fault
from regard.errors import DataError, UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.retrieval.bm25 import Bm25, words
from regard.tasks.retrieval.metrics import name_order
from regard.tasks.retrieval.read_examples import (
    as_record,
    documents,
    has_pairs,
    read_training_documents,
)

AT_ONCE = 1024  # documents tokenized together
SHOWN = 160  # characters of a document that are shown

Tokenize = Callable[[Sequence[str]], list[list[int]]]


class Corpus:
    """Documents to be searched, in memory.

    Args:
        found: The documents, read once.
        tokenize: Texts to ids.

    """

    def __init__(self, found: Iterable[Document], tokenize: Tokenize) -> None:
        self.names: list[str] = []
        self.shown: list[str] = []
        self.ids: list[NDArray[np.uint32]] = []
        self.words = Bm25.of(self._add(iter(found), tokenize))
        self.ties = name_order(self.names)
        self.places = {name: place for place, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def _add(self, found: Iterator[Document], tokenize: Tokenize) -> Iterator[list[str]]:
        """Add documents, a chunk at a time, and yield their words."""
        while some := list(islice(found, AT_ONCE)):
            texts = [document.text for document in some]
            for document, text, ids in zip(some, texts, tokenize(texts), strict=True):
                self.names.append(document.name)
                self.shown.append(caption(document))
                self.ids.append(np.asarray(ids, dtype=np.uint32))
                yield words(text)


def caption(document: Document) -> str:
    """Return the title of a document, or its first words."""
    text = document.title or document.body
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1].rstrip()}…"


def folder_documents(recipe: Recipe, folder: str) -> Iterator[Document]:
    """Read the documents of the folder that judged queries belong to."""
    yield from skip_faults(documents(Path(folder)), skip=_skips(recipe))


def training_documents(recipe: Recipe, paired: Mapping[str, str]) -> Iterator[Document]:
    """Read the training documents without the parts that are queries; then ``paired`` ones."""
    seen = set()
    for file in recipe.data.train:
        path = Path(file).expanduser()
        unlabelled = set(recipe.retrieval.pairs) - {"labelled"} and not has_pairs(recipe, path)
        for document in skip_faults(read_training_documents(recipe, path), skip=_skips(recipe)):
            if document.text and unlabelled:
                record = as_record(document)
                document = document._replace(title="", body=record.fields[1])
            seen.add(document.name)
            yield document
    for name, text in paired.items():
        if name not in seen:
            yield Document(name, "", text, "", 0)


def _skips(recipe: Recipe) -> bool:
    return recipe.data.on_bad_line == "skip"


def skip_faults(found: Iterable[Document | Fault], *, skip: bool) -> Iterator[Document]:
    """Yield the documents; a fault raises an error unless bad lines are skipped."""
    for one in found:
        if isinstance(one, Document):
            yield one
        elif one.severity == "fatal" or (one.severity == "bad" and not skip):
            kind = UsageError if one.kind == "missing-file" else DataError
            raise kind(f"{one.place}: {one.problem}", one.remedy)
