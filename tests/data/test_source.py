"""What is written is read back, and whatever is wrong is named with file and line."""

import csv
import gzip
import io
import json
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import polib
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data.source import Record, read
from regard.errors import DataError, RegardError, UsageError

# A field holds something, and none of the characters its format uses as marks.
anything = st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t\ufeff")
field = st.text(anything, min_size=1).filter(str.strip)
xml_field = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\ufeff"), min_size=1
).filter(str.strip)
pairs = st.lists(st.tuples(field, field), min_size=1, max_size=7)
often = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def fields(files: list[Path], **options) -> list[tuple[str, ...]]:
    return [record.fields for record in read(files, **options)]


def lines_of(texts) -> str:
    return "".join(f"{text}\n" for text in texts)


@often
@given(pairs=pairs, ending=st.sampled_from(["", ".gz", ".zst"]), crlf=st.booleans())
def test_parallel_files_come_back(tmp_path, pairs, ending, crlf):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[ending]
    files = []
    for side, language in enumerate(("de", "en")):
        text = lines_of(pair[side] for pair in pairs)
        text = text.replace("\n", "\r\n") if crlf else text
        files.append(put(tmp_path / f"train.{language}{ending}", pack(text.encode())))
    assert fields(files, expected=2) == pairs
    assert fields(files) == pairs


@often
@given(pairs=pairs)
def test_tab_separated_values_come_back(tmp_path, pairs):
    path = put(tmp_path / "train.tsv", "a\tb\n" + lines_of(map("\t".join, pairs)))
    assert fields([path], fields=("a", "b"), expected=2) == pairs
    assert fields([path], fields=("b", "a"), expected=2) == [pair[::-1] for pair in pairs]
    assert fields([path], fields=("1", "0"), expected=2)[1:] == [pair[::-1] for pair in pairs]


@often
@given(pairs=st.lists(st.tuples(field, field | st.just('a "b",\n\nc;')), min_size=1))
def test_comma_separated_values_come_back(tmp_path, pairs):
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows([("x", "y"), *pairs])
    path = put(tmp_path / "train.csv", written.getvalue())
    assert fields([path], fields=("x", "y"), expected=2) == pairs


@often
@given(pairs=pairs, ascii=st.booleans())
def test_json_lines_come_back(tmp_path, pairs, ascii):
    result = ({"source": a, "other": 1, "target": b} for a, b in pairs)
    path = put(
        tmp_path / "train.jsonl", lines_of(json.dumps(one, ensure_ascii=ascii) for one in result)
    )
    assert fields([path], expected=2) == pairs
    assert fields([path], fields=("target", "source")) == [pair[::-1] for pair in pairs]


@often
@given(pairs=pairs)
def test_fasttext_labels_come_back(tmp_path, pairs):
    pairs = [(text.strip(), "l" + "".join(label.split())) for text, label in pairs]
    path = put(
        tmp_path / "train.txt", lines_of(f"__label__{label} {text}" for text, label in pairs)
    )
    assert fields([path], expected=2) == pairs


@often
@given(texts=st.lists(field, min_size=1))
def test_documents_and_lines_come_back(tmp_path, texts):
    path = put(tmp_path / "train.txt", "\n\n".join(texts))
    assert fields([path], expected=1) == [(text,) for text in texts]
    put(path, lines_of(texts))
    assert fields([path], format="lines") == [(text,) for text in texts]
    assert fields([path], expected=1) == [("\n".join(texts),)]


@often
@given(pairs=pairs)
def test_catalogues_come_back(tmp_path, pairs):
    pairs = list({source: (source, target) for source, target in pairs}.values())
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    for source, target in pairs:
        catalogue.append(polib.POEntry(msgid=source, msgstr=target))
    path = put(tmp_path / "de.po", str(catalogue))
    assert fields([path], expected=2) == pairs


@often
@given(pairs=st.lists(st.tuples(xml_field, xml_field), min_size=1, max_size=5))
def test_translation_memories_come_back(tmp_path, pairs):
    path = put(tmp_path / "memory.tmx", memory(pairs))
    assert fields([path], expected=2) == pairs
    assert fields([path], languages=("en", "de")) == [pair[::-1] for pair in pairs]


def memory(pairs, head: str = "") -> str:
    units = "".join(
        f'<tu><tuv xml:lang="de-DE"><seg>{escape(a)}</seg></tuv>\n'
        f'<tuv lang="EN"><seg>{escape(b)}</seg></tuv></tu>\n'
        for a, b in pairs
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{head}<tmx version="1.4">'
        f'<header srclang="de"/>\n<body>\n{units}</body></tmx>\n'
    )


def test_folders_come_back_with_their_names_as_labels(tmp_path):
    for label, name, text in [
        ("pos", "b.txt", "sehr gut\n"),
        ("neg", "a.txt", "schlecht\nund lang"),
        ("pos", "a.txt.gz", gzip.compress(b"gut")),
        ("neg", ".hidden", b"\xff"),
    ]:
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        put(tmp_path / "data" / label / name, text)
    assert fields([tmp_path / "data"], expected=2) == [
        ("schlecht\nund lang", "neg"),
        ("gut", "pos"),
        ("sehr gut", "pos"),
    ]


def test_worlds_are_read_like_files():
    first = next(iter(read(["world:reverse"], expected=2, split="test")))
    assert isinstance(first, Record) and len(first.fields) == 2


def test_a_record_says_where_it_stands(tmp_path):
    path = put(tmp_path / "train.txt", "\neins\n\nzwei\ndrei\n")
    assert list(read([path])) == [
        Record(("eins",), str(path), 2),
        Record(("zwei\ndrei",), str(path), 4),
    ]


def test_unusual_line_ends_and_a_byte_order_mark_do_not_shift_lines(tmp_path):
    path = put(tmp_path / "a.txt", "\ufeffa\u2028b\x0bc\x85d\r\ne\rf\n")
    assert fields([path], format="lines") == [("a\u2028b\x0bc\x85d",), ("e\rf",)]


def test_several_corpora_stand_one_after_another(tmp_path):
    for name, text in {"a.de": "1", "a.en": "2", "b.de": "3", "b.en": "4"}.items():
        put(tmp_path / name, text)
    files = [tmp_path / name for name in ("a.de", "a.en", "b.de", "b.en")]
    assert fields(files, expected=2) == [("1", "2"), ("3", "4")]


def test_compressed_frames_are_read_one_after_another(tmp_path):
    texts = [str(number**61) for number in range(2, 503)]
    whole = lines_of(texts).encode()
    for ending, pack in {".gz": gzip.compress, ".zst": zstandard.compress}.items():
        parts = [pack(whole[start : start + 4999]) for start in range(0, len(whole), 4999)]
        path = put(tmp_path / f"a.txt{ending}", b"".join(parts))
        assert path.stat().st_size > 30_000
        assert fields([path], format="lines") == [(text,) for text in texts]


def test_usual_headers_need_no_names(tmp_path):
    path = put(tmp_path / "a.csv", "id,label,text\n1,gut,Haus\n")
    assert fields([path], expected=2) == [("Haus", "gut")]
    path = put(tmp_path / "b.csv", "text;label\nHaus, Hof;gut\n")
    assert fields([path], expected=2) == [("Haus, Hof", "gut")]
    path = put(tmp_path / "c.tsv", "Haus\thouse\tCC-BY\n")
    assert fields([path], expected=2) == [("Haus", "house")]
    path = put(tmp_path / "d.jsonl", '{"translation": {"de": "Haus", "en": "house"}}\n')
    assert fields([path], languages=("de", "en"), expected=2) == [("Haus", "house")]
    path = put(tmp_path / "e.jsonl", '{"text": "Haus", "label": 1}\n')
    assert fields([path], expected=2) == [("Haus", "1")]


def test_untranslated_messages_are_passed_over_and_plurals_are_two(tmp_path):
    text = (
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8"\n\n'
        'msgid "tree"\nmsgstr "Baum"\n\n'
        '#, fuzzy\nmsgid "car"\nmsgstr "Karre"\n\nmsgid "sun"\nmsgstr ""\n\n'
        'msgid "cat"\nmsgid_plural "cats"\nmsgstr[0] "Katze"\nmsgstr[1] "Katzen"\n\n'
        '#~ msgid "old"\n#~ msgstr "alt"\n'
    )
    path = put(tmp_path / "de.po", text)
    assert fields([path], expected=2) == [("tree", "Baum"), ("cat", "Katze"), ("cats", "Katzen")]


def test_codes_inside_a_segment_are_no_text(tmp_path):
    seg = "Ein <bpt i='1'>&lt;b></bpt><hi>gutes</hi><ept i='1'>&lt;/b></ept> Haus"
    text = memory([("x", "a good house")]).replace("<seg>x</seg>", f"<seg>{seg}</seg>")
    assert fields([put(tmp_path / "a.tmx", text)]) == [("Ein gutes Haus", "a good house")]


def test_a_memory_in_utf_16_with_a_doctype_is_read(tmp_path):
    text = memory([("Haus", "house")], '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n')
    path = put(tmp_path / "a.tmx", text.replace("utf-8", "utf-16").encode("utf-16"))
    assert fields([path]) == [("Haus", "house")]


def test_entities_are_refused(tmp_path):
    bomb = '<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
    text = memory([("x", "y")], bomb).replace("<seg>x", "<seg>&b;")
    with pytest.raises(DataError, match="entities"):
        fields([put(tmp_path / "a.tmx", text)])


# name of the file, its content, the line to blame, a word of the problem
BAD = {
    "tsv: UTF-8": ("a.tsv", b"a\tb\n\xff\tb\n", 2, "UTF-8"),
    "tsv: columns": ("a.tsv", b"a\tb\na\n", 2, "1 column;"),
    "tsv: too few": ("a.tsv", b"a\n", 1, "Column 1"),
    "tsv: empty": ("a.tsv", b"a\tb\na\t \n", 2, "empty"),
    "tsv: NUL": ("a.tsv", b"a\tb\na\tb\0\n", 2, "NUL"),
    "csv: UTF-8": ("a.csv", b"a,b\nc,\xc3\n", 2, "UTF-8"),
    "csv: columns": ("a.csv", b"a,b\n\nc,d,e\n", 3, "columns"),
    "csv: open quote": ("a.csv", b'a,b\nc,"d\ne,f\n', 2, "quote"),
    "csv: stray quote": ("a.csv", b'a,b\nc,"d"e\n', 2, "well-formed"),
    "csv: NUL": ("a.csv", b"a,b\nc,d\0\n", 2, "NUL"),
    "csv: after a long cell": ("a.csv", b'a,b\nc,"d\n\n"\ne\n', 5, "1 column;"),
    "jsonl: UTF-8": ("a.jsonl", b'{"source": "a", "target": "b"}\n{"\xff"}\n', 2, "UTF-8"),
    "jsonl: broken": ("a.jsonl", b'\n{"source": \n', 2, "JSON"),
    "jsonl: deep": ("a.jsonl", b"[" * 200_000, 1, "JSON"),
    "jsonl: no object": ("a.jsonl", b"[1]\n", 1, "object"),
    "jsonl: missing": ("a.jsonl", b'{"source":"a","target":"b"}\n{"source":"a"}', 2, "'target'"),
    "jsonl: null": ("a.jsonl", b'{"source": "a", "target": null}\n', 1, "'target'"),
    "jsonl: a list": ("a.jsonl", b'{"source": "a", "target": [1]}\n', 1, "list"),
    "jsonl: strange names": ("a.jsonl", b'{"x": "a", "y": "b"}\n', 1, "x, y"),
    "jsonl: surrogate": ("a.jsonl", b'{"source": "\\ud800", "target": "b"}\n', 1, "surrogate"),
    "jsonl: NUL": ("a.jsonl", b'{"source": "\\u0000", "target": "b"}\n', 1, "NUL"),
    "fasttext: UTF-8": ("a.ft", b"__label__a b\n\xff\n", 2, "UTF-8"),
    "fasttext: no label": ("a.ft", b"__label__a b\nb\n", 2, "__label__"),
    "fasttext: two labels": ("a.ft", b"__label__a __label__b c\n", 1, "more than one"),
    "fasttext: no text": ("a.ft", b"__label__a\n", 1, "empty"),
    "po: UTF-8": ("a.po", b'msgid "a"\nmsgstr "\xff"\n', 2, "UTF-8"),
    "po: broken": ("a.po", b'msgid "a"\nmsgstr "b"\nhello\n', 3, "well-formed"),
    "po: NUL": ("a.po", b'msgid "a"\nmsgstr "\0"\n', 2, "NUL"),
    "tmx: broken": ("a.tmx", b"<tmx>\n<body></tmx>\n", 2, "XML"),
    "tmx: UTF-8": ("a.tmx", b"<tmx>\n\xff</tmx>\n", 2, "XML"),
    "tmx: NUL": ("a.tmx", b"<tmx>\n\0</tmx>\n", 2, "XML"),
    "tmx: one language": (
        "a.tmx",
        memory([("a", "b")]).replace('lang="EN"', 'lang="FR"').encode(),
        4,
        "'en'",
    ),
    "text: UTF-16": ("a.txt", "Haus".encode("utf-16"), 1, "UTF-16"),
    "text: UTF-8": ("a.txt", b"Haus\nHof\nT\xfcr\n", 3, "0xFC at column 2"),
    "text: NUL": ("a.txt", b"Haus\n\0\n", 2, "NUL"),
    "text: broken gzip": ("a.txt.gz", gzip.compress(b"Haus\n" * 99)[:-9], 0, "compressed"),
    "text: no gzip": ("a.txt.gz", b"Haus\n", 1, "compressed"),
    "text: broken zstandard": ("a.txt.zst", zstandard.compress(b"Haus\n")[:-2], 0, "compressed"),
    "text: no zstandard": ("a.txt.zst", b"Haus\n", 1, "compressed"),
    "tmx: broken gzip": ("a.tmx.gz", gzip.compress(b"<tmx/>")[:-3], 0, "compressed"),
}


@pytest.mark.parametrize(("name", "content", "line", "word"), BAD.values(), ids=BAD.keys())
def test_a_bad_line_is_named_with_its_file_and_number(tmp_path, name, content, line, word):
    path = put(tmp_path / name, content)
    expected = 1 if ".txt" in name else 2
    with pytest.raises(DataError) as refusal:
        fields([path], expected=expected, languages=("de", "en"))
    problem = refusal.value.problem
    assert problem.startswith(f"{path}:{line}:" if line else str(path)) and word in problem
    assert refusal.value.remedy and "\n" not in problem


@pytest.mark.parametrize("ending", [".txt", ".tsv", ".csv", ".jsonl", ".ft", ".po", ".tmx"])
@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
def test_missing_and_empty_files_are_named(tmp_path, ending, pack):
    expected = 1 if ending == ".txt" else 2
    path = tmp_path / f"a{ending}{pack}"
    with pytest.raises(UsageError, match="no such file") as missing:
        fields([path], expected=expected)
    assert str(path) in missing.value.problem
    assert "a recipe's own folder" in missing.value.remedy
    packed = {"": b"", ".gz": gzip.compress(b""), ".zst": zstandard.compress(b"")}
    put(path, packed[pack])
    with pytest.raises(DataError) as empty:
        fields([path], expected=expected)
    assert str(path) in empty.value.problem
    if ending != ".tmx":
        assert "empty" in empty.value.problem


def test_misaligned_files_are_named_with_their_counts(tmp_path):
    files = [put(tmp_path / "a.de", "1\n2\n3\n4\n5\n"), put(tmp_path / "a.en", "1\n2\n3\n")]
    with pytest.raises(DataError, match=r"a\.de has 5, .*a\.en has 3") as refusal:
        fields(files, expected=2)
    assert refusal.value.problem.startswith(f"{files[0]}:4:")
    with pytest.raises(DataError, match="equally many lines"):
        fields(files, expected=2, on_bad_line="skip")
    put(files[1], "1\n2\n3\n4\n5\n\n\n")
    assert len(fields(files, expected=2)) == 5


def test_one_empty_side_is_named_and_two_are_passed_over(tmp_path):
    files = [put(tmp_path / "a.de", "1\n\n3\n"), put(tmp_path / "a.en", "1\n\n\n")]
    with pytest.raises(DataError) as refusal:
        fields(files, expected=2)
    assert refusal.value.problem.startswith(f"{files[1]}:3:")
    assert fields(files, expected=2, on_bad_line="skip") == [("1", "1")]


def test_a_bad_line_of_either_side_is_left_out_on_both(tmp_path):
    files = [put(tmp_path / "a.de", b"1\n\xff\n3\n4\n"), put(tmp_path / "a.en", b"1\n2\n\0\n4\n")]
    reading = read(files, expected=2, on_bad_line="skip")
    assert [record.fields for record in reading] == [("1", "1"), ("4", "4")]
    assert reading.skipped == 2


@pytest.mark.parametrize(
    ("name", "content", "skipped"),
    [
        ("a.tsv", b"a\tb\n\xff\tb\nc\nd\te\n", 2),
        ("a.csv", b'a,b\n\xff,b\nc\n"f"g,h\nd,e\n', 3),
        ("a.jsonl", b'{"source":"a","target":"b"}\n{\n[]\n{"source":"d","target":"e"}', 2),
        ("a.ft", b"__label__b a\nc\n\xff\n__label__e d\n", 2),
    ],
)
def test_bad_lines_are_skipped_and_counted_when_asked(tmp_path, name, content, skipped):
    reading = read([put(tmp_path / name, content)], expected=2, on_bad_line="skip")
    assert [record.fields for record in reading] == [("a", "b"), ("d", "e")]
    assert reading.skipped == skipped


def test_an_overlong_line_is_named_and_the_next_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.lines.LONGEST_LINE", 11)
    path = put(tmp_path / "a.txt", b"kurz\n" + b"x" * 97 + b"\nauch kurz\n")
    reading = read([path], format="lines", on_bad_line="skip")
    assert [record[::2] for record in reading] == [(("kurz",), 1), (("auch kurz",), 3)]
    assert reading.skipped == 1


@pytest.mark.parametrize(
    ("names", "options", "word"),
    [
        ([], {}, "no files"),
        (["a.txt"], {"expected": 2}, "needs 2 fields; plain text has one"),
        (["a.de", "a.en", "b.de"], {"expected": 2}, "each of its 2 sides"),
        (["a.txt"], {"expected": 2, "format": "text"}, "plain text has one"),
        (["a.tsv", "a.jsonl"], {"expected": 2}, "one format"),
        (["a.txt"], {"format": "avro"}, "'avro'"),
        (["a.de", "a.en"], {"expected": 2}, "no such file"),
        (["nowhere/"], {"format": "folders", "expected": 2}, "no such folder"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(names, options, word):
    with pytest.raises(UsageError, match=word):
        fields([Path(name) for name in names], **options)


def test_folders_without_classes_or_with_bad_files_are_named(tmp_path):
    with pytest.raises(DataError, match="one folder per class"):
        fields([tmp_path], expected=2)
    (tmp_path / "pos").mkdir()
    path = put(tmp_path / "pos" / "a.txt", b"gut\n\xff\n")
    put(tmp_path / "pos" / "b.txt", b"gut")
    with pytest.raises(DataError) as refusal:
        fields([tmp_path], expected=2)
    assert refusal.value.problem.startswith(f"{path}:2:")
    assert fields([tmp_path], expected=2, on_bad_line="skip") == [("gut", "pos")]


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    with pytest.raises(RegardError, match="cannot be read"):
        fields([tmp_path], format="lines")


WRITERS = {
    "a.tsv": lambda text: f"{text}\t{text}\n",
    "a.csv": lambda text: f'"{text}",{text}\n',
    "a.jsonl": lambda text: f'{{"source": "{text}", "target": "{text}"}}\n',
    "a.ft": lambda text: f"__label__a {text}\n",
    "a.txt": lambda text: f"{text}\n",
    "a.tmx": lambda text: (
        f'<tu><tuv lang="a"><seg>{text}</seg></tuv><tuv lang="b"><seg>{text}</seg></tuv></tu>\n'
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    frame = ("<tmx>", "</tmx>") if name == "a.tmx" else ("", "")
    body = WRITERS[name]("Haus " * 200) * 1009
    path = put(tmp_path / name, frame[0] + body + frame[1])
    tracemalloc.start()
    read_in = sum(1 for _ in read([path], expected=1 if name == "a.txt" else 2))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Plain text without a blank line is one document, cut into bounded ones.
    assert read_in == (11 if name == "a.txt" else 1009)
    assert most < 500_000 < path.stat().st_size / 2
