"""BEIR folders: documents, queries, and relevance judgments (qrels).

    corpus.jsonl      {"_id", "title", "text"}        also named docs or documents
    queries.jsonl     {"_id", "text"}
    qrels/test.tsv    query, document, grade          a header is skipped; TREC's four columns
                                                      (query, 0, document, grade) are read as well

Each file may be ``.gz`` or ``.zst``; one ``qrels.tsv`` in the folder serves every split. A single
file of documents may replace a folder without queries.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import plain_name
from regard.data.formats.jsonl import parse_object
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, make_blank_note, make_fault

CORPUS = ("corpus", "docs", "documents")
QUERIES = ("queries", "topics")
QRELS = ("qrels", "judgments")
SPLITS = {
    "train": ("train",),
    "valid": ("dev", "valid", "validation", "val"),
    "test": ("test",),
}
NAMES = ("_id", "id", "doc_id", "docid", "query_id", "qid")
TEXTS = ("text", "contents", "body", "query")
_TABLES = (".tsv", ".txt", ".qrels")


class Document(NamedTuple):
    """One document, its file and line."""

    name: str
    title: str
    body: str
    """The text, without a title that it begins with."""
    file: str
    line: int

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title} {self.body}".strip()


class Query(NamedTuple):
    """One query, its file and line."""

    name: str
    text: str
    file: str
    line: int


class Judgment(NamedTuple):
    """Relevance of a document to a query; grade 0 is not relevant."""

    query: str
    document: str
    grade: int
    file: str
    line: int


def is_folder(path: Path) -> bool:
    """Return whether a folder is in BEIR format."""
    return path.is_dir() and find_file(path, CORPUS) is not None


def find_file(
    folder: Path, stems: Sequence[str], endings: Sequence[str] = (".jsonl",)
) -> Path | None:
    """Find a file by its stem, compressed or not."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    for stem in stems:
        for path in found:
            plain = plain_name(path)
            if path.is_file() and plain.stem == stem and plain.suffix in endings:
                return path
    return None


def find_qrels(folder: Path, split: str) -> Path | None:
    """Find the judgments of a split: its own file, or the file for all splits."""
    for name in QRELS:
        own = find_file(folder / name, SPLITS[split], _TABLES)
        if own is not None:
            return own
    return find_file(folder, QRELS, _TABLES)


def read_documents(path: Path) -> Iterator[Document | Fault]:
    """Read the documents of a folder or file; names must be unique."""
    file = _find_named(path, CORPUS, "documents")
    if isinstance(file, Fault):
        yield file
        return
    seen: dict[str, int] = {}
    for number, value in _read_objects(file):
        if isinstance(value, Fault):
            yield value
            continue
        name, text = _get_name(value), _get_text(value)
        if name is None and not path.is_dir():
            name = str(number)  # without judgments, names are not needed
        if name is None or text is None:
            yield _make_missing_fault(file, number, value, name is None)
            continue
        if name in seen:
            problem = f"The document {name!r} is already defined in line {seen[name]}."
            yield make_fault("duplicate-id", file, number, problem)
            continue
        seen[name] = number
        title = " ".join(str(value.get("title") or "").split())
        document = Document(name, title, _strip_title(title, text), str(file), number)
        if not document.text:
            yield _make_empty_note(file, number, name)
        yield document


def read_queries(folder: Path) -> Iterator[Query | Fault]:
    """Read the queries of a folder."""
    file = _find_named(folder, QUERIES, "queries")
    if isinstance(file, Fault):
        yield file
        return
    seen: dict[str, int] = {}
    for number, value in _read_objects(file):
        if isinstance(value, Fault):
            yield value
            continue
        name, text = _get_name(value), _get_text(value)
        if name is None or text is None:
            yield _make_missing_fault(file, number, value, name is None)
        elif not text:
            yield make_fault("empty-query", file, number, f"The query {name!r} is empty.")
        elif name in seen:
            problem = f"The query {name!r} is already defined in line {seen[name]}."
            yield make_fault("duplicate-id", file, number, problem)
        else:
            seen[name] = number
            yield Query(name, text, str(file), number)


def read_judgments(file: Path) -> Iterator[Judgment | Fault]:
    """Read judgments, tab-separated or in TREC format."""
    for line in iterate_lines(file):
        if isinstance(line, Fault):
            yield line
        elif not line.text.strip():
            yield make_blank_note(file, line.number)
        else:
            found = _parse_judgment(file, line)
            if found is not None:
                yield found


def _parse_judgment(file: Path, line: TextLine) -> Judgment | Fault | None:
    cells = line.text.split("\t") if "\t" in line.text else line.text.split()
    cells = [cell.strip() for cell in cells]
    if len(cells) == 4:
        cells = [cells[0], cells[2], cells[3]]
    if len(cells) != 3:
        problem = f"A judgment has query, document and grade; the line has {len(cells)} columns."
        return make_fault("columns", file, line.number, problem)
    try:
        grade = int(cells[2])
    except ValueError:
        if line.number == 1:
            return None  # a header
        return make_fault(
            "grade", file, line.number, f"A grade is a whole number. Got {cells[2]!r}."
        )
    return Judgment(cells[0], cells[1], grade, str(file), line.number)


def _read_objects(file: Path) -> Iterator[tuple[int, dict[str, object] | Fault]]:
    for line in iterate_lines(file):
        if isinstance(line, Fault):
            yield line.line, line
        elif not line.text.strip():
            yield line.number, make_blank_note(file, line.number)
        else:
            yield line.number, _parse_object(file, line)


def _parse_object(file: Path, line: TextLine) -> dict[str, object] | Fault:
    value = parse_object(file, line)
    if isinstance(value, Fault):
        return value
    if any("\ud800" <= character <= "\udfff" for character in _join_texts(value)):
        return make_fault("encoding", file, line.number, "A text contains an unpaired surrogate.")
    return value


def _join_texts(value: dict[str, object]) -> str:
    return "".join(part for part in value.values() if isinstance(part, str))


def _get_name(value: dict[str, object]) -> str | None:
    for key in NAMES:
        found = value.get(key)
        if isinstance(found, str | int) and not isinstance(found, bool) and str(found).strip():
            return str(found).strip()
    return None


def _get_text(value: dict[str, object]) -> str | None:
    for key in TEXTS:
        found = value.get(key)
        if isinstance(found, str):
            return " ".join(found.split())
    return None


def _strip_title(title: str, text: str) -> str:
    """Remove a title that the text begins with."""
    return text[len(title) :].lstrip(" .:-") if title and text.startswith(title) else text


def _find_named(path: Path, stems: Sequence[str], what: str) -> Path | Fault:
    if not path.is_dir():
        return path
    found = find_file(path, stems)
    if found is not None:
        return found
    problem = f"The folder has no file of {what}."
    remedy = f"Name it {stems[0]}.jsonl or {stems[0]}.jsonl.gz."
    return Fault("missing-file", "fatal", str(path), 0, problem, remedy)


def _make_missing_fault(file: Path, number: int, value: dict[str, object], name: bool) -> Fault:
    what, keys = ("name", NAMES) if name else ("text", TEXTS)
    has = ", ".join(map(str, value)) or "nothing"
    problem = f"The object has no {what} (any of {', '.join(keys)}); it has {has}."
    return make_fault("missing-field", file, number, problem)


def _make_empty_note(file: Path, number: int, name: str) -> Fault:
    problem = f"The document {name!r} is empty."
    remedy = "It is kept, because judgments may name it, but is never found."
    return Fault("empty-document", "note", str(file), number, problem, remedy)
