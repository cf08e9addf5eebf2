"""Folders of documents, queries and judgments: whatever is wrong is named by file and line."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from regard.data.record import Fault, Record
from regard.tasks.retrieval.example import Tag
from regard.tasks.retrieval.read_examples import read_judged

CRANFIELD = Path(__file__).parents[3] / "shared" / "data" / "cranfield"


def write(file, *rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "wt", encoding="utf-8") as lines:
        lines.writelines((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def folder(tmp_path):
    write(
        tmp_path / "corpus.jsonl.gz",
        {"_id": "d1", "title": "Wings", "text": "Wings. They lift."},
        {"_id": "d2", "title": "", "text": "Heat flows."},
        {"_id": 3, "title": "", "text": "  "},
    )
    write(
        tmp_path / "queries.jsonl", {"_id": "q1", "text": "what lifts"}, {"_id": "q2", "text": "x"}
    )
    write(tmp_path / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore", "q1\td1\t2", "q1\td2\t0")
    return tmp_path


def test_a_folder_is_read(tmp_path):
    place = folder(tmp_path)
    assert is_folder(place) and not is_folder(tmp_path / "qrels")
    found = list(read_documents(place))
    first, second, fault, empty = found
    assert (first.name, first.title, first.body, first.line) == ("d1", "Wings", "They lift.", 1)
    assert second.text == "Heat flows." and empty.name == "3" and empty.text == ""
    assert isinstance(fault, Fault) and fault.severity == "note" and fault.line == 3
    assert [query.text for query in read_queries(place)] == ["what lifts", "x"]
    (record, unjudged) = list(read_judged(place, "test"))
    assert Tag.read(record.fields[2]).grades == {"d1": 2, "d2": 0}
    assert record.fields[0] == "what lifts" and unjudged.kind == "unjudged"


def test_judgments_of_a_split_come_from_its_own_file(tmp_path):
    place = folder(tmp_path)
    assert find_qrels(place, "train") is None and find_qrels(place, "test").name == "test.tsv"
    write(place / "qrels" / "dev.tsv", "q1 0 d1 1")
    assert find_qrels(place, "valid").name == "dev.tsv"
    (only,) = read_judgments(place / "qrels" / "dev.tsv")
    assert only[:3] == ("q1", "d1", 1)
    write(place / "qrels.tsv", "q1\td1\t1")
    assert find_qrels(place, "train") == place / "qrels.tsv"
    (missing,) = list(read_judged(tmp_path / "nothing", "test"))
    assert missing.kind == "missing-file"


@pytest.mark.parametrize(
    ("file", "row", "kind", "word"),
    [
        ("corpus.jsonl", "not json", "json", "Not JSON"),
        ("corpus.jsonl", "[1]", "json", "object"),
        ("corpus.jsonl", {"text": "no name"}, "missing-field", "no name (any of"),
        ("corpus.jsonl", {"_id": "x"}, "missing-field", "no text (any of"),
        ("corpus.jsonl", {"_id": "d1", "text": "again"}, "duplicate-id", "line 1"),
        ("queries.jsonl", {"_id": "q1", "text": "again"}, "duplicate-id", "line 1"),
        ("queries.jsonl", {"_id": "q9", "text": " "}, "empty-query", "'q9'"),
        ("qrels/test.tsv", "q1\td1", "columns", "2 columns"),
        ("qrels/test.tsv", "q1\td1\tyes", "grade", "'yes'"),
        ("qrels/test.tsv", "q1\tgone\t1", "missing-document", "'gone'"),
        ("qrels/test.tsv", "q7\td1\t1", "missing-query", "'q7'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, file, row, kind, word):
    place = folder(tmp_path)
    (place / "corpus.jsonl.gz").unlink()
    write(place / "corpus.jsonl", {"_id": "d1", "text": "a"}, {"_id": "d2", "text": "b"})
    with (place / file).open("a") as lines:
        lines.write((row if isinstance(row, str) else json.dumps(row)) + "\n")
    read = read_documents(place) if file.startswith("corpus") else read_judged(place, "test")
    (fault,) = [each for each in read if isinstance(each, Fault) and each.severity == "bad"]
    last = len((place / file).read_text().splitlines())
    assert fault.kind == kind and fault.line == last and fault.file.endswith(file)
    assert word in fault.problem


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)


@given(st.dictionaries(texts.map(str.strip).filter(bool), st.tuples(texts, texts), max_size=7))
def test_whatever_is_written_is_read_back(tmp_path_factory, found):
    file = tmp_path_factory.mktemp("beir") / "corpus.jsonl"
    rows = [{"_id": n, "title": title, "text": text} for n, (title, text) in found.items()]
    write(file, *(rows or [{"_id": "one", "text": "a"}]))
    documents = [each for each in read_documents(file.parent) if isinstance(each, Document)]
    if rows:
        assert [document.name for document in documents] == [name.strip() for name in found]
        for document, (title, text) in zip(documents, found.values(), strict=True):
            whole = " ".join(f"{title} {text}".split())
            assert set(document.text) <= set(whole)


@given(st.lists(st.text(max_size=30), max_size=9))
def test_no_judgments_make_the_reader_fall(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("qrels") / "qrels.tsv"
    file.write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))
    for found in read_judgments(file):
        assert isinstance(found, Judgment | Fault)


@pytest.mark.skipif(not CRANFIELD.is_dir(), reason="../shared/data/cranfield is not here")
def test_cranfield_is_read_as_it_is():
    documents = list(read_documents(CRANFIELD))
    empty = [each for each in documents if isinstance(each, Fault)]
    assert [each.line for each in empty] == [471, 995]
    assert sum(isinstance(each, Document) for each in documents) == 1400
    assert sum(isinstance(each, Query) for each in read_queries(CRANFIELD)) == 225
    found = list(read_judged(CRANFIELD, "test"))
    assert sum(isinstance(each, Record) for each in found) == 225 == len(found)
