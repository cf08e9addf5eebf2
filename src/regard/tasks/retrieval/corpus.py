"""Documents that can be searched: their names, their tokens, their words."""

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
from regard.tasks.retrieval.read_examples import as_record, documents, has_pairs, learned_from

AT_ONCE = 1024  # documents cut into tokens together
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
        self.words = Bm25.of(self._taken(iter(found), tokenize))
        self.ties = name_order(self.names)
        self.places = {name: place for place, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def _taken(self, found: Iterator[Document], tokenize: Tokenize) -> Iterator[list[str]]:
        """Take documents in, some at a time, and hand on their words."""
        while some := list(islice(found, AT_ONCE)):
            texts = [document.text for document in some]
            for document, text, ids in zip(some, texts, tokenize(texts), strict=True):
                self.names.append(document.name)
                self.shown.append(shown(document))
                self.ids.append(np.asarray(ids, dtype=np.uint32))
                yield words(text)


def shown(document: Document) -> str:
    """Return what a person recognises a document by: its title, or how it begins."""
    told = document.title or document.body
    return told if len(told) <= SHOWN else f"{told[: SHOWN - 1].rstrip()}…"


def folder_documents(recipe: Recipe, folder: str) -> Iterator[Document]:
    """Read the documents of the folder that judged queries belong to."""
    yield from sound(documents(Path(folder)), skip=_skips(recipe))


def learned_documents(recipe: Recipe, beside: Mapping[str, str]) -> Iterator[Document]:
    """Read the documents that are learned from, without what asks for them; then others."""
    seen = set()
    for file in recipe.data.train:
        path = Path(file).expanduser()
        asks = set(recipe.retrieval.pairs) - {"labelled"} and not has_pairs(recipe, path)
        for document in sound(learned_from(recipe, path), skip=_skips(recipe)):
            if document.text and asks:
                record = as_record(document)
                document = document._replace(title="", body=record.fields[1])
            seen.add(document.name)
            yield document
    for name, text in beside.items():
        if name not in seen:
            yield Document(name, "", text, "", 0)


def _skips(recipe: Recipe) -> bool:
    return recipe.data.on_bad_line == "skip"


def sound(found: Iterable[Document | Fault], *, skip: bool) -> Iterator[Document]:
    """Let documents pass; a bad line ends the work unless such lines are skipped."""
    for one in found:
        if isinstance(one, Document):
            yield one
        elif one.severity == "fatal" or (one.severity == "bad" and not skip):
            kind = UsageError if one.kind == "missing-file" else DataError
            raise kind(f"{one.place}: {one.problem}", one.remedy)
