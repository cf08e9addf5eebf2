"""An index made of a corpus, piece by piece: memory does not grow with the documents' texts."""

import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from regard import run as runs
from regard import run_files
from regard.data.formats.beir import Document
from regard.errors import DataError, UsageError
from regard.files import sync, write_arrays
from regard.inference.predictor import Predictor
from regard.inference.search import approximate, folder
from regard.tasks.retrieval.bm25 import Bm25, words
from regard.tasks.retrieval.corpus import skip_faults
from regard.tasks.retrieval.metrics import name_order
from regard.tasks.retrieval.read_examples import documents

PIECE = 8192  # documents whose vectors are held at once
AT_ONCE = 512  # documents read side by side
SNIPPET = 240  # characters


class Builder:
    """Takes documents in and writes their index.

    Args:
        out: The new folder.
        model: What turns texts into vectors; None for words alone.

    """

    def __init__(self, out: Path, model: Predictor | None) -> None:
        self.out, self.model = out, model
        self.names: list[str] = []
        self.starts: list[int] = []
        self.pieces = self.width = 0
        self._waiting: list[np.ndarray[Any, np.dtype[np.float32]]] = []

    def take(self, found: Iterator[Document]) -> Bm25[str]:
        """Take every document in."""
        with (self.out / folder.DOCUMENTS).open("wb") as lines:
            index = Bm25.of(self._terms(found, lines))
        self._write_piece()
        return index

    def _terms(self, found: Iterator[Document], lines: Any) -> Iterator[list[str]]:  # noqa: ANN401
        while some := list(islice(found, AT_ONCE)):
            texts = [document.text for document in some]
            for document in some:
                self.names.append(document.name)
                self.starts.append(lines.tell())
                entry = folder.IndexEntry(document.name, document.title, _snippet(document.body))
                line = json.dumps(entry._asdict(), ensure_ascii=False)
                lines.write(line.encode("utf-8") + b"\n")
            if self.model is not None:
                self._waiting.append(self.model.encode(texts))
                if sum(map(len, self._waiting)) >= PIECE:
                    self._write_piece()
            yield from map(words, texts)

    def _write_piece(self) -> None:
        if self._waiting:
            vectors = np.concatenate(self._waiting)
            self.width = vectors.shape[1]
            write_arrays(self.out / folder.piece(self.pieces), {"vectors": vectors})
            self.pieces += 1
            self._waiting = []


def build(
    run: Path | None,
    corpus: Path,
    out: Path,
    *,
    skip: bool = False,
    approximately: bool = False,
    fields: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Index the documents of ``corpus``; without a run, by their words alone.

    ``fields`` names the column of the text, or the columns of a document's name and its text.
    """
    if len(fields) > 2:
        raise UsageError(
            f"a document has a text and perhaps a name. Got {len(fields)} columns: "
            f"{', '.join(fields)}.",
            'Name one column or two: --fields "Body", or --fields "ID,Body".',
        )
    name = fields[0] if len(fields) == 2 else ""
    model = _searcher(run)
    if approximately:
        approximate.check_installed()
    with folder.create(out):
        found = skip_faults(documents(corpus, fields=fields, name=name), skip=skip)
        return _build(model, corpus, out, found, approximately=approximately)


def _build(
    model: Predictor | None,
    corpus: Path,
    out: Path,
    found: Iterator[Document],
    *,
    approximately: bool,
) -> dict[str, Any]:
    builder = Builder(out, model)
    index = builder.take(found)
    if not builder.names:
        raise DataError(
            f"a corpus must hold at least one document. Got none in {corpus}.",
            "Name a folder with corpus.jsonl, or a file of documents.",
        )
    folder.write_words(out, index)
    places = {"starts": np.array(builder.starts), "ties": name_order(builder.names)}
    write_arrays(out / folder.PLACES, places)
    facts: dict[str, Any] = {
        "documents": len(builder.names),
        "terms": len(index.places),
        "pieces": builder.pieces,
        "width": builder.width,
        "approximate": approximately,
    }
    if model is not None:
        if approximately:
            vectors = folder.read_vectors(out, builder.pieces)
            approximate.write(out / folder.APPROXIMATE, vectors, width=builder.width)
        facts |= _keep(model, out / folder.RUN)
    folder.seal(out, facts)
    return facts


def _searcher(run: Path | None) -> Predictor | None:
    if run is None:
        return None
    model = Predictor(runs.Run(run))
    model.encode(["a text"])  # refused here, before anything is written, where there are no vectors
    return model


def _keep(model: Predictor, into: Path) -> dict[str, Any]:
    """Copy of the run what reading a query needs, so that the index can stand alone."""
    into.mkdir()
    source = model.run.folder
    names = [*runs.VERIFIED, run_files.SEAL]
    if run_files.BASELINE in model.run.facts["files"]:
        names.append(run_files.BASELINE)
    for name in names:
        shutil.copyfile(source / name, into / name)
        sync(into / name)
    sync(into)
    share = model.run.recipe.retrieval.hybrid
    parameters = model.run.facts["files"][run_files.MODEL]
    return {"run": source.name, "model": parameters, "hybrid": share}


def _snippet(text: str) -> str:
    return text if len(text) <= SNIPPET else f"{text[: SNIPPET - 1].rstrip()}…"


def two_places(places: list[str], *, words_only: bool) -> tuple[Path | None, Path]:
    """Take apart what a call names: a run and a corpus, or a corpus alone."""
    wanted = 1 if words_only else 2
    if len(places) != wanted:
        rule = "a corpus alone" if words_only else "a run and a corpus"
        raise UsageError(
            f"an index is made of {rule}. Got {', '.join(places)}.",
            "Write regard index RUN CORPUS --output DIR, or regard index CORPUS --words-only "
            "--output DIR.",
        )
    return (None, Path(places[0])) if words_only else (Path(places[0]), Path(places[1]))
