"""Read examples of retrieval: folders with judged queries, files of documents, files of pairs.

Every fault is reported with file and line. A judgment of a missing document or query is an error,
unless ``data.on_bad_line`` is "skip": then it is left out and counted.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from regard.data.compression import plain_name
from regard.data.encoding import find_encoding
from regard.data.formats.beir import (
    Document,
    Judgment,
    Query,
    find_qrels,
    is_folder,
    read_documents,
    read_judgments,
    read_queries,
)
from regard.data.record import Fault, Found, Record, Request, make_fault
from regard.data.source import scan
from regard.errors import DataError, UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.retrieval.example import Tag
from regard.text.sentences import split_sentences

OBJECTS = (".jsonl", ".ndjson", ".json")
BEGINNING = 2000  # characters in which the first sentence must end


def records(recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Found]:
    """Read the examples for training, or the queries for evaluation."""
    if not files:
        raise UsageError("no files were given.", "Name at least one file in [data].")
    for file in files:
        path = Path(file).expanduser()
        if split == "train":
            yield from _training_records(recipe, path)
        elif path.is_dir():
            yield from read_judged(path, split)
        else:
            yield from _columns(recipe, path)


def documents(
    path: Path, *, fields: tuple[str, ...] = (), format: str = "auto", name: str = ""
) -> Iterator[Document | Fault]:
    """Read the documents of a folder or a file, whatever its format.

    The last of ``fields`` is the column with the text; ``name`` is that with a document's name,
    which otherwise is the number of its line.
    """
    if path.is_dir() or (plain_name(path).suffix in OBJECTS and not fields):
        yield from read_documents(path)
        return
    request = Request(1, fields[-1:], roles=("text",), group=name)
    seen: dict[str, int] = {}
    for found in scan([path], request._replace(encoding=find_encoding(path)), format=format):
        if isinstance(found, Fault):
            yield found
            continue
        own = found.group if name else str(found.line)
        if not own:
            problem = f"There is nothing in the column {name!r}, which names the document."
            yield make_fault("no-name", path, found.line, problem)
        elif own in seen:
            problem = f"The document {own!r} is already defined in line {seen[own]}."
            yield make_fault("duplicate-id", path, found.line, problem)
        else:
            seen[own] = found.line
            yield Document(own, "", " ".join(found.fields[0].split()), found.file, found.line)


def paired_documents(recipe: Recipe, path: Path) -> Iterator[Document | Fault]:
    """Read the documents that a file of pairs holds, each once."""
    seen = set()
    for found in _two(recipe, path):
        if isinstance(found, Fault):
            yield found
            continue
        name = name_of(found.fields[1])
        if name not in seen:
            seen.add(name)
            yield Document(name, "", found.fields[1], found.file, found.line)


def read_training_documents(recipe: Recipe, path: Path) -> Iterator[Document | Fault]:
    """Read the documents that a file or folder of ``data.train`` has."""
    if has_pairs(recipe, path):
        return paired_documents(recipe, path)
    return documents(path, fields=recipe.data.fields, format=recipe.data.format)


def has_pairs(recipe: Recipe, path: Path) -> bool:
    """Whether a file has labelled pairs, not documents."""
    return "labelled" in recipe.retrieval.pairs and not path.is_dir()


def name_of(text: str) -> str:
    """Name a document without a name by a hash of its text."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def read_judged(folder: Path, split: str) -> Iterator[Found]:
    """Read a folder's queries with their judgments."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    queries: dict[str, Query] = {}
    for found in judgments(folder, split):
        if isinstance(found, Fault):
            yield found
        elif isinstance(found, Query):
            queries[found.name] = found
        else:
            grades[found.query][found.document] = found.grade
    for name, query in queries.items():
        own = grades.get(name, {})
        if not any(grade > 0 for grade in own.values()):
            problem = f"The query {name!r} has no relevant document."
            yield Fault("unjudged", "note", query.file, query.line, problem, "It is skipped.")
            continue
        tag = Tag("judged", name, grades=own, corpus=str(folder))
        yield Record((query.text, "", tag.write()), query.file, query.line)


def judgments(folder: Path, split: str) -> Iterator[Query | Judgment | Fault]:
    """Read a folder's queries, then the judgments of a split; unknown names are faults."""
    if not is_folder(folder):
        yield from (found for found in read_documents(folder) if isinstance(found, Fault))
        return
    queries, known = set(), set()
    for query in read_queries(folder):
        yield query
        if isinstance(query, Query):
            queries.add(query.name)
    for document in read_documents(folder):
        if isinstance(document, Document):
            known.add(document.name)
    file = find_qrels(folder, split)
    if file is None:
        problem = f"There are no judgments for {split}."
        remedy = f"Put them into qrels/{'dev' if split == 'valid' else split}.tsv, or qrels.tsv."
        yield Fault("missing-file", "fatal", str(folder), 0, problem, remedy)
        return
    for one in read_judgments(file):
        yield one if isinstance(one, Fault) else _check_names(one, queries, known)


def _check_names(one: Judgment, queries: set[str], documents: set[str]) -> Judgment | Fault:
    for what, name, names in (
        ("query", one.query, queries),
        ("document", one.document, documents),
    ):
        if name not in names:
            problem = f"The judgment names the {what} {name!r}, which does not exist."
            return make_fault(f"missing-{what}", Path(one.file), one.line, problem)
    return one


def _training_records(recipe: Recipe, path: Path) -> Iterator[Found]:
    sources = recipe.retrieval.pairs
    if has_pairs(recipe, path):
        yield from _pairs(recipe, path)
    if "labelled" in sources and path.is_dir():
        _check_not_evaluated(recipe, path)
        yield from _read_pairs(path)
    if set(sources) - {"labelled"}:
        for document in read_training_documents(recipe, path):
            if isinstance(document, Fault):
                yield document
            elif document.text:
                yield as_record(document)


def as_record(document: Document) -> Record:
    """Make an example of a document; without a title its first sentence is the query."""
    title, body = document.title, document.body
    if not title:
        sentences = split_sentences(body[:BEGINNING])
        if len(sentences) > 1 and body.startswith(sentences[0]):
            title, body = sentences[0], body[len(sentences[0]) :].strip()
    if not body:
        title, body = "", title
    tag = Tag("document", document.name, titled=bool(document.title and document.body))
    return Record((title, body, tag.write()), document.file, document.line)


def _pairs(recipe: Recipe, path: Path) -> Iterator[Found]:
    for found in _two(recipe, path):
        if isinstance(found, Fault):
            yield found
        else:
            query, text = found.fields
            tag = Tag("pair", name_of(text))
            yield Record((query, text, tag.write()), found.file, found.line)


def _two(recipe: Recipe, path: Path) -> Iterator[Found]:
    data = recipe.data
    yield from scan([path], Request(2, data.fields[:2], data.languages), format=data.format)


def _read_pairs(folder: Path) -> Iterator[Found]:
    """Make a pair of every query and relevant document of a folder."""
    queries: dict[str, Query] = {}
    relevant: dict[str, list[str]] = defaultdict(list)
    for found in judgments(folder, "train"):
        if isinstance(found, Fault):
            yield found
        elif isinstance(found, Query):
            queries[found.name] = found
        elif found.grade > 0:
            relevant[found.query].append(found.document)
    wanted = {name for names in relevant.values() for name in names}
    texts = {
        document.name: document.text
        for document in read_documents(folder)
        if isinstance(document, Document) and document.name in wanted and document.text
    }
    for name, query in queries.items():
        for document in relevant[name]:
            if document in texts:
                also = tuple(other for other in relevant[name] if other != document)
                tag = Tag("pair", document, also=also)
                yield Record((query.text, texts[document], tag.write()), query.file, query.line)


def _check_not_evaluated(recipe: Recipe, folder: Path) -> None:
    learned = find_qrels(folder, "train")
    for split in ("valid", "test"):
        for file in getattr(recipe.data, split):
            path = Path(file).expanduser()
            if learned is not None and path.is_dir() and find_qrels(path, split) == learned:
                raise DataError(
                    f"training judgments must not be used for evaluation. {learned} is used by "
                    f"data.train and data.{split}.",
                    "Split them into qrels/train.tsv and qrels/test.tsv, or take "
                    '"labelled" out of retrieval.pairs.',
                )


def _columns(recipe: Recipe, path: Path) -> Iterator[Found]:
    """Read a file for evaluation: scored pairs of texts, or queries and their documents."""
    data = recipe.data
    three = Request(3, data.fields, data.languages)
    scored = len(data.fields) in (0, 3) and _has_scores(path, three, data.format)
    if not scored:
        yield from _pairs(recipe, path)
        return
    for found in scan([path], three, format=data.format):
        if isinstance(found, Fault):
            yield found
            continue
        number = _number(found.fields[2])
        if number is None:
            problem = f"The third field must be a number. Got {found.fields[2]!r}."
            yield make_fault("score", Path(found.file), found.line, problem)
        else:
            tag = Tag("scored", score=number)
            yield Record((*found.fields[:2], tag.write()), found.file, found.line)


def _has_scores(path: Path, request: Request, format: str) -> bool:
    try:
        first = next(islice(scan([path], request, format=format), 1), None)
    except UsageError:
        return False
    return isinstance(first, Record) and _number(first.fields[2]) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
