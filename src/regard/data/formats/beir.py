"""BEIR-shaped folders: documents, queries, and judgments of which document answers which query.

    corpus.jsonl      {"_id", "title", "text"}        also named docs or documents
    queries.jsonl     {"_id", "text"}
    qrels/test.tsv    query, document, grade          a header is passed over; TREC's four columns
                                                      (query, 0, document, grade) are read as well

``.gz`` and ``.zst`` of each; one ``qrels.tsv`` beside the others serves every split. A file of its
own may stand for a folder that has documents only.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import plain_name
from regard.data.formats.jsonl import parsed
from regard.data.lines import Line, lines
from regard.data.record import Fault, bad, blank

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
    """One document, and where it stands."""

    name: str
    title: str
    body: str
    """The text, without the title where it begins with it."""
    file: str
    line: int

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title} {self.body}".strip()


class Query(NamedTuple):
    """One question, and where it stands."""

    name: str
    text: str
    file: str
    line: int


class Judgment(NamedTuple):
    """How well a document answers a query; 0 is not at all."""

    query: str
    document: str
    grade: int
    file: str
    line: int


def is_folder(path: Path) -> bool:
    """Tell whether a folder is of this shape."""
    return path.is_dir() and find_file(path, CORPUS) is not None


def find_file(
    folder: Path, stems: Sequence[str], endings: Sequence[str] = (".jsonl",)
) -> Path | None:
    """Find a file by its name without ending, compressed or not."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    for stem in stems:
        for path in found:
            plain = plain_name(path)
            if path.is_file() and plain.stem == stem and plain.suffix in endings:
                return path
    return None


def qrels_of(folder: Path, split: str) -> Path | None:
    """Find the judgments of a split: its own file, or the one that serves all."""
    for name in QRELS:
        own = find_file(folder / name, SPLITS[split], _TABLES)
        if own is not None:
            return own
    return find_file(folder, QRELS, _TABLES)


def read_documents(path: Path) -> Iterator[Document | Fault]:
    """Read the documents of a folder, or of one file of them; names must differ."""
    file = _named(path, CORPUS, "documents")
    if isinstance(file, Fault):
        yield file
        return
    seen: dict[str, int] = {}
    for number, value in _objects(file):
        if isinstance(value, Fault):
            yield value
            continue
        name, text = _name(value), _text(value)
        if name is None and not path.is_dir():
            name = str(number)  # a file alone: nothing but its lines needs to be named
        if name is None or text is None:
            yield _lacking(file, number, value, name is None)
            continue
        if name in seen:
            told = f"The document {name!r} stands at line {seen[name]} already."
            yield bad("duplicate-id", file, number, told)
            continue
        seen[name] = number
        title = " ".join(str(value.get("title") or "").split())
        document = Document(name, title, _without(title, text), str(file), number)
        if not document.text:
            yield _empty(file, number, name)
        yield document


def read_queries(folder: Path) -> Iterator[Query | Fault]:
    """Read the queries of a folder."""
    file = _named(folder, QUERIES, "queries")
    if isinstance(file, Fault):
        yield file
        return
    seen: dict[str, int] = {}
    for number, value in _objects(file):
        if isinstance(value, Fault):
            yield value
            continue
        name, text = _name(value), _text(value)
        if name is None or text is None:
            yield _lacking(file, number, value, name is None)
        elif not text:
            yield bad("empty-query", file, number, f"The query {name!r} is empty.")
        elif name in seen:
            told = f"The query {name!r} stands at line {seen[name]} already."
            yield bad("duplicate-id", file, number, told)
        else:
            seen[name] = number
            yield Query(name, text, str(file), number)


def read_judgments(file: Path) -> Iterator[Judgment | Fault]:
    """Read judgments, tab-separated or as TREC has them."""
    for line in lines(file):
        if isinstance(line, Fault):
            yield line
        elif not line.text.strip():
            yield blank(file, line.number)
        else:
            found = _judgment(file, line)
            if found is not None:
                yield found


def _judgment(file: Path, line: Line) -> Judgment | Fault | None:
    cells = line.text.split("\t") if "\t" in line.text else line.text.split()
    cells = [cell.strip() for cell in cells]
    if len(cells) == 4:
        cells = [cells[0], cells[2], cells[3]]
    if len(cells) != 3:
        told = f"A judgment is query, document and grade; the line has {len(cells)} columns."
        return bad("columns", file, line.number, told)
    try:
        grade = int(cells[2])
    except ValueError:
        if line.number == 1:
            return None  # a header
        return bad("grade", file, line.number, f"A grade is a whole number. Got {cells[2]!r}.")
    return Judgment(cells[0], cells[1], grade, str(file), line.number)


def _objects(file: Path) -> Iterator[tuple[int, dict[str, object] | Fault]]:
    for line in lines(file):
        if isinstance(line, Fault):
            yield line.line, line
        elif not line.text.strip():
            yield line.number, blank(file, line.number)
        else:
            yield line.number, _object(file, line)


def _object(file: Path, line: Line) -> dict[str, object] | Fault:
    value = parsed(file, line)
    if isinstance(value, Fault):
        return value
    if any("\ud800" <= character <= "\udfff" for character in _all_text(value)):
        return bad("encoding", file, line.number, "A text holds half a surrogate pair.")
    return value


def _all_text(value: dict[str, object]) -> str:
    return "".join(part for part in value.values() if isinstance(part, str))


def _name(value: dict[str, object]) -> str | None:
    for key in NAMES:
        found = value.get(key)
        if isinstance(found, str | int) and not isinstance(found, bool) and str(found).strip():
            return str(found).strip()
    return None


def _text(value: dict[str, object]) -> str | None:
    for key in TEXTS:
        found = value.get(key)
        if isinstance(found, str):
            return " ".join(found.split())
    return None


def _without(title: str, text: str) -> str:
    """Take a title off the beginning of its text, where it stands there."""
    return text[len(title) :].lstrip(" .:-") if title and text.startswith(title) else text


def _named(path: Path, stems: Sequence[str], what: str) -> Path | Fault:
    if not path.is_dir():
        return path
    found = find_file(path, stems)
    if found is not None:
        return found
    told = f"There is no file of {what} in the folder."
    remedy = f"Name it {stems[0]}.jsonl; {stems[0]}.jsonl.gz will do."
    return Fault("missing-file", "fatal", str(path), 0, told, remedy)


def _lacking(file: Path, number: int, value: dict[str, object], name: bool) -> Fault:
    what, keys = ("name", NAMES) if name else ("text", TEXTS)
    has = ", ".join(map(str, value)) or "nothing"
    told = f"There is no {what} under any of {', '.join(keys)}; the object has {has}."
    return bad("missing-field", file, number, told)


def _empty(file: Path, number: int, name: str) -> Fault:
    told = f"The document {name!r} is empty."
    remedy = "It is kept, so that judgments may name it, and never found."
    return Fault("empty-document", "note", str(file), number, told, remedy)
