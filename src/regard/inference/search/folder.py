"""The folder of an index: whole, sealed, and able to stand alone.

    index.json              what it is, and the SHA-256 of every file
    documents.jsonl         a line per document: id, title, how it begins
    places.safetensors      where each line begins, and who stands first among equals
    words.safetensors       BM25: terms and what they add to which documents
    vectors-00000.safetensors …   a vector per document, in pieces
    vectors.usearch         the approximate index, where one was asked for
    run/                    the model that made the vectors, to read queries with

The seal is written last: a folder without it is no index.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from regard import __version__
from regard.errors import RunError, UsageError
from regard.files import find_broken, new_folder, read_seal, write_arrays, write_seal
from regard.tasks.retrieval.bm25 import Bm25, Postings

FORMAT, FIRST_FORMAT = 2, 1
MANIFEST, DOCUMENTS, PLACES, WORDS = (
    "index.json",
    "documents.jsonl",
    "places.safetensors",
    "words.safetensors",
)
APPROXIMATE, RUN = "vectors.usearch", "run"


class IndexEntry(NamedTuple):
    """What is kept of a document, to be shown."""

    id: str
    title: str
    snippet: str


def piece(number: int) -> str:
    """Name a piece of the vectors."""
    return f"vectors-{number:05}.safetensors"


@contextmanager
def create(folder: Path) -> Iterator[None]:
    """Make an index folder to be written; refuse one that is there."""
    try:
        with new_folder(folder, MANIFEST):
            yield
    except FileExistsError:
        raise UsageError(
            f"an index folder must be new, so that nothing is overwritten. {folder} exists.",
            "Name another with --output.",
        ) from None
    except (PermissionError, NotADirectoryError) as error:
        raise UsageError(
            f"the index folder {folder} cannot be made: {error.strerror}.",
            "Name a folder that you may write to with --output.",
        ) from error


def write_words(folder: Path, words: Bm25[str]) -> None:
    """Write BM25's lists; terms stand one on a line, in the order of their numbers."""
    terms = "\n".join(sorted(words.places, key=words.places.__getitem__)).encode("utf-8")
    tensors = {
        "terms": np.frombuffer(terms, dtype=np.uint8),
        "count": np.array([words.count]),
        **words.postings._asdict(),
    }
    write_arrays(folder / WORDS, tensors)


def read_words(folder: Path) -> Bm25[str]:
    """Read BM25's lists."""
    found = load_file(folder / WORDS)
    terms = found["terms"].tobytes().decode("utf-8").split("\n")
    places = {term: place for place, term in enumerate(terms) if term}
    postings = Postings(found["starts"], found["documents"], found["impacts"])
    return Bm25(places, postings, int(found["count"][0]))


def read_vectors(folder: Path, pieces: int) -> Iterator[NDArray[np.float32]]:
    """Read the vectors piece by piece."""
    for number in range(pieces):
        yield load_file(folder / piece(number))["vectors"]


def read_entries(folder: Path, numbers: NDArray[np.int64]) -> list[IndexEntry]:
    """Read the lines of some documents."""
    starts = load_file(folder / PLACES)["starts"]
    found = []
    with (folder / DOCUMENTS).open("rb") as lines:
        for number in numbers.tolist():
            lines.seek(int(starts[number]))
            found.append(IndexEntry(**json.loads(lines.readline())))
    return found


def seal(folder: Path, facts: dict[str, Any]) -> None:
    """Say that an index is whole: hash every file of its own; its run has a seal itself."""
    facts = {"format": FORMAT, "regard": __version__, **facts}
    write_seal(folder / MANIFEST, facts, sorted(_list_own(folder)))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest, and see that every file is the one it names."""
    if not (folder / MANIFEST).is_file():
        raise UsageError(f"{folder} is no index.", "Name a folder that `regard index` wrote.")
    try:
        facts = read_seal(folder / MANIFEST, digested=2)
    except ValueError as error:
        raise RunError(
            f"{folder / MANIFEST} cannot be read: {error}.", "Make the index again."
        ) from error
    if facts["format"] not in range(FIRST_FORMAT, FORMAT + 1):
        raise RunError(
            f"{folder} has index format {facts['format']}; this version reads up to {FORMAT}.",
            "Make the index again with this version.",
        )
    strange = _list_own(folder) ^ facts["files"].keys()
    if broken := find_broken(folder, facts["files"]) or min(strange, default=""):
        raise RunError(
            f"{folder / broken} does not belong to this index: it is missing or changed.",
            "Put it back, or make the index again.",
        )
    return facts


def _list_own(folder: Path) -> set[str]:
    files = {path.name for path in folder.iterdir() if path.is_file()}
    return {name for name in files - {MANIFEST} if not name.startswith(".")}
