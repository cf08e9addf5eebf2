"""Every format becomes the same examples; whatever is wrong is named by file and line."""

import gzip
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from regard.data.record import Fault
from regard.data.source import RecordReader
from regard.errors import DataError, UsageError
from regard.recipe.data import DataSettings
from regard.tasks.tagging.align import Marked, annotate
from regard.tasks.tagging.example import Annotation, find_words, words_of
from regard.tasks.tagging.read_examples import records
from regard.tasks.tagging.schemes import Span

TEXT, TAGS = "Anna lives in New York .", ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]
COLUMNS = "\n".join(f"{word} X {tag}" for word, tag in zip(TEXT.split(), TAGS, strict=True))
CONLL = f"-DOCSTART- -X- O\n\n{COLUMNS}\n\nHe X O\n"
TABS = CONLL.replace(" ", "\t")
BARS = "Anna|B-PER lives|O in|O New|B-LOC York|I-LOC .|O\nHe|O\n"
THREE_BARS = "Anna|NNP|B-PER lives|V|O in|P|O New|N|B-LOC York|N|I-LOC .|.|O\nHe|P|O\n"
TOKENS = [{"tokens": TEXT.split(), "ner_tags": TAGS}, {"tokens": ["He"], "ner_tags": ["O"]}]
SPANS = [{"start": 0, "end": 4, "label": "PER"}, {"start": 14, "end": 22, "label": "LOC"}]
LISTS = [[14, 22, "LOC"], [0, 4, "PER"]]
OFFSETS = [
    {"id": 1, "start_offset": s["start"], "end_offset": s["end"], "label": s["label"]}
    for s in SPANS
]


def prodigy(text):
    tokens, at = [], 0
    for number, word in enumerate(text.split()):
        tokens.append({"text": word, "start": at, "end": at + len(word), "id": number})
        at += len(word) + 1
    return tokens


def as_lines(values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def marked(name, first, **more):
    return as_lines([{"text": TEXT, name: first, **more}, {"text": "He", name: []}])


FILES = {
    "a.conll": CONLL,
    "a.txt": CONLL,
    "a.tsv": TABS,
    "a.iob": BARS,
    "b.iob": THREE_BARS,
    "crlf.conll": CONLL.replace("\n", "\r\n"),
    "tokens.jsonl": as_lines(TOKENS),
    "words.jsonl": as_lines({"words": v["tokens"], "tags": v["ner_tags"]} for v in TOKENS),
    "prodigy.jsonl": marked("spans", SPANS, tokens=prodigy(TEXT), answer="accept"),
    "doccano.jsonl": marked("label", LISTS),
    "doccano2.jsonl": marked("labels", LISTS),
    "doccano3.jsonl": marked("entities", OFFSETS),
}


def found(folder, name, content, **data):
    path = folder / name
    raw = content.encode()
    if name.endswith(".gz"):
        raw = gzip.compress(raw)
    if name.endswith(".zst"):
        raw = zstandard.compress(raw)
    path.write_bytes(raw)
    return list(records(DataSettings(train=(str(path),), **data), [str(path)], "train"))


def read(folder, name, content, **data):
    """Return the examples and, as (kind, line), everything else."""
    every = found(folder, name, content, **data)
    examples = [
        (one.fields[0], Annotation.from_field(one.fields[1]))
        for one in every
        if not isinstance(one, Fault)
    ]
    return examples, [(one.kind, one.line) for one in every if isinstance(one, Fault)]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_every_format_says_the_same(tmp_path, name, ending):
    examples, faults = read(tmp_path, name + ending, FILES[name])
    assert [text for text, _ in examples] == [TEXT, "He"]
    (first, second) = (annotation for _, annotation in examples)
    assert [TEXT[begin:end] for begin, end in first.tokens] == TEXT.split()
    assert list(first.tags) == TAGS and second.tags == ("O",)
    assert first.spans == [Span(0, 1, "PER"), Span(3, 5, "LOC")]
    assert faults in ([], [("scheme", 0)])


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("I-PER O O I-LOC I-LOC O", "IOB1"),
        ("U-PER O O B-LOC L-LOC O", "BIOES"),
        ("N V P N N .", "none"),
    ],
)
def test_the_scheme_is_said_and_the_spans_are_the_same(tmp_path, tags, scheme):
    rows = zip(TEXT.split(), tags.split(), strict=True)
    every = found(tmp_path, "a.conll", "\n".join(f"{w}\t{t}" for w, t in rows))
    note, record = every
    assert note.kind == "scheme" and (scheme in note.problem or "no prefixes" in note.problem)
    annotation = Annotation.from_field(record.fields[1])
    assert annotation.scheme == scheme
    if scheme != "none":
        assert annotation.spans == [Span(0, 1, "PER"), Span(3, 5, "LOC")]
        assert list(annotation.learned) == TAGS


def test_conll_u_has_its_own_columns_comments_and_ranges(tmp_path):
    rows = [
        "# text = vámonos #",
        "1-2\tvámonos\t_\t_",
        "1\tvamos\tir\tVERB",
        "2\tnos\tnos\tPRON",
        "2.1\tx\tx\tX",
    ]
    ((text, annotation),), _ = read(tmp_path, "a.conllu", "\n".join(rows) + "\n")
    assert text == "vamos nos" and annotation.tags == ("VERB", "PRON")
    ((_, annotation),), _ = read(tmp_path, "b.conllu", "\n".join(rows) + "\n", fields=(1, 2))
    assert annotation.tags == ("ir", "nos")


def test_columns_and_fields_can_be_named(tmp_path):
    ((_, annotation), _), _ = read(tmp_path, "a.conll", CONLL, fields=(0, 1))
    assert set(annotation.tags) == {"X"} and annotation.scheme == "none"
    value = {"sentence": ["a"], "own": ["B-X"], "tokens": ["b"], "tags": ["O"]}
    ((text, annotation),), _ = read(
        tmp_path, "a.jsonl", as_lines([value]), fields=("sentence", "own")
    )
    assert (text, annotation.tags) == ("a", ("B-X",))
    with pytest.raises(UsageError, match="column numbers"):
        read(tmp_path, "a.conll", CONLL, fields=("word", "tag"))


MISFITS = {
    "inside": ([14, 20, "LOC"], "'New Yo'", "'New York'"),
    "before": ([13, 22, "LOC"], "' New York'", "'New York'"),
    "beyond": ([14, 99, "LOC"], "[14, 99, 'LOC']", "characters from 0"),
    "turned": ([4, 0, "PER"], "[4, 0, 'PER']", "characters from 0"),
    "empty": ([4, 4, "PER"], "[4, 4, 'PER']", "characters from 0"),
    "space": ([4, 5, "PER"], "' '", "Mark at least one token"),
    "unnamed": ([0, 4, " "], "no label", "Add one"),
    "no list": ("PER", "[start, end, label]", "Correct the line"),
    "numbers": ([0.0, 4.0, "PER"], "[start, end, label]", "Correct the line"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_span_that_does_not_fit_is_named_and_its_text_not_learned(tmp_path, case):
    span, said, remedy = MISFITS[case]
    values = [
        {"text": TEXT, "label": LISTS},
        {
            "text": TEXT,
            "label": [*LISTS[:1], span] if case in ("turned", "empty", "unnamed") else [span],
        },
    ]
    one, fault = found(tmp_path, "a.jsonl", as_lines(values))
    assert not isinstance(one, Fault)
    assert (fault.kind, fault.severity, fault.line) == ("span", "bad", 2)
    assert said in fault.problem and remedy in fault.remedy


def test_every_misfit_of_a_text_is_named(tmp_path):
    spans = [
        [0, 3, "PER"],
        [1, 4, "PER"],
        [5, 10, "X"],
        [14, 22, "LOC"],
        [18, 22, "LOC"],
        [18, 20, "Y"],
    ]
    _, faults = read(tmp_path, "a.jsonl", as_lines([{"text": TEXT, "label": spans}]))
    assert faults == [("span", 1), ("overlap", 1), ("overlap", 1), ("overlap", 1)]


def test_overlapping_spans_are_refused_by_name(tmp_path):
    values = [{"text": TEXT, "spans": [*SPANS, {"start": 18, "end": 22, "label": "ORG"}]}]
    (fault,) = found(tmp_path, "a.jsonl", as_lines(values))
    assert fault.kind == "overlap" and fault.line == 1
    assert (
        "[14, 22, 'LOC'] 'New York'" in fault.problem and "[18, 22, 'ORG'] 'York'" in fault.problem
    )


def test_a_bad_line_stops_the_reading_or_is_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        as_lines([{"text": TEXT, "label": [[0, 3, "PER"]]}, {"text": "He", "label": []}])
    )
    data = DataSettings(train=(str(path),))
    with pytest.raises(DataError, match=r"a\.jsonl:1: .*'Ann'"):
        list(RecordReader(records(data, [str(path)], "train"), skip=False))
    reading = RecordReader(records(data, [str(path)], "train"), skip=True)
    assert len(list(reading)) == 1 and reading.skipped == 1


@pytest.mark.parametrize(
    ("name", "content", "kind", "line", "said"),
    [
        ("a.conll", "a O\nb\nc O\n\nd O\n", "columns", 2, "1 columns"),
        ("a.conll", "a O\nb x O\n\nd O\n", "columns", 2, "3 columns"),
        ("a.tsv", "a\tO\nb\t\n\nd\tO\n", "columns", 2, "no tag"),
        ("a.conll", "a B-X\nb X\n\nd O\n", "tag", 2, "no prefix"),
        ("a.iob", "a|O b|O\nc\n", "columns", 2, "word and a tag|1 columns"),
        (
            "a.jsonl",
            as_lines([{"tokens": ["a"], "tags": ["O"]}, {"tokens": ["a", "b"], "tags": ["O"]}]),
            "columns",
            2,
            "2 tokens and 1 tags",
        ),
        (
            "a.jsonl",
            as_lines([{"tokens": ["a"], "tags": ["O"]}, {"tokens": ["a"], "tags": [3]}]),
            "tag",
            2,
            "number",
        ),
        (
            "a.jsonl",
            as_lines([{"text": "a", "spans": []}, {"text": "a"}]),
            "missing-field",
            2,
            "spans",
        ),
        (
            "a.jsonl",
            as_lines([{"text": "a", "spans": []}, {"text": " ", "spans": []}]),
            "empty-field",
            2,
            "empty",
        ),
        (
            "a.jsonl",
            as_lines(
                [
                    {"text": "a", "spans": []},
                    {
                        "text": "a\ud800".encode("utf-8", "surrogatepass").decode(
                            "utf-8", "replace"
                        ),
                        "spans": [],
                        "tokens": [{"text": "b", "start": 0, "end": 1}],
                    },
                ]
            ),
            "span",
            2,
            "tokens",
        ),
        (
            "a.jsonl",
            '{"text": "a", "spans": []}\n{"text": "a\\ud800", "spans": []}\n',
            "encoding",
            2,
            "surrogate",
        ),
        ("a.jsonl", '{"text": "a", "spans": []}\n[1]\n', "json", 2, "object"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_line(tmp_path, name, content, kind, line, said):
    bad = [
        one
        for one in found(tmp_path, name, content)
        if isinstance(one, Fault) and one.severity == "bad"
    ]
    assert [(one.kind, one.line) for one in bad] == [(kind, line)]
    assert any(part in bad[0].problem for part in said.split("|"))


def test_a_line_that_is_no_text_takes_its_sentence_with_it(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"a O\nb\xff O\nc O\n\nd O\n")
    every = list(records(DataSettings(train=("x",)), [str(path)], "train"))
    assert [one.fields[0] for one in every if not isinstance(one, Fault)] == ["d"]
    assert [
        (one.kind, one.line) for one in every if isinstance(one, Fault) and one.severity == "bad"
    ] == [("encoding", 2)]


def test_rejected_annotations_are_noted_and_passed_over(tmp_path):
    values = [
        {"text": TEXT, "spans": SPANS, "answer": answer}
        for answer in ("reject", "accept", "ignore")
    ]
    examples, faults = read(tmp_path, "a.jsonl", as_lines(values))
    assert len(examples) == 1 and faults == [("rejected", 1), ("rejected", 3)]


def test_tags_that_break_the_scheme_are_noted_and_still_read(tmp_path):
    content = "Anna B-PER\nin O\nYork I-LOC\n\nBo B-PER\n"
    examples, faults = read(tmp_path, "a.conll", content)
    assert faults == [("scheme", 0), ("irregular", 3)]
    assert examples[0][1].spans == [Span(0, 1, "PER"), Span(2, 3, "LOC")]


def test_unknown_fields_and_formats_are_refused(tmp_path):
    (fault,) = found(tmp_path, "a.jsonl", as_lines([{"content": "a"}]))
    assert fault.severity == "fatal" and "content" in fault.problem
    with pytest.raises(UsageError, match="csv"):
        found(tmp_path, "a.csv", "a,O\n", format="csv")
    with pytest.raises(UsageError, match=r"data\.group"):
        found(tmp_path, "a.conll", CONLL, group="film")
    (missing,) = records(DataSettings(train=("x",)), [str(tmp_path / "none.conll")], "train")
    assert missing.kind == "missing-file"


def test_a_world_is_read_like_a_file():
    first = next(iter(records(DataSettings(train=("world:names",)), ["world:names"], "train")))
    assert first.file == "world:names/train" and Annotation.from_field(first.fields[1]).spans


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Anna's U.S. trip!", ["Anna", "'", "s", "U", ".", "S", ".", "trip", "!"]),
        ("北京 is 大", ["北", "京", "is", "大"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("naïve café ", ["naïve", "café"]),
        ("", []),
    ],
)
def test_texts_are_cut_into_words(text, words):
    assert [text[begin:end] for begin, end in find_words(text)] == words
    assert words_of(text) == words


@given(st.text())
def test_nothing_but_white_space_stands_between_words(text):
    at = 0
    for begin, end in [*find_words(text), (len(text), len(text))]:
        assert not text[at:begin].strip() and begin >= at
        at = end


@given(st.data())
def test_a_span_is_learned_or_named(data):
    places = find_words(TEXT)
    at = st.integers(-1, len(TEXT) + 1)
    spans = data.draw(st.lists(st.builds(Marked, at, at, st.sampled_from(["A", "B"])), max_size=5))
    answer = annotate(TEXT, places, spans)
    if isinstance(answer, list):
        assert answer and len(answer) <= len(spans)
    else:
        learned = {(places[s.begin][0], places[s.end - 1][1], s.label) for s in answer.spans}
        assert learned == set(spans) and len(learned) == len(spans)


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "I-Y"]), min_size=1))
def test_an_annotation_is_text_and_back(tags):
    annotation = Annotation("IOB1", tuple(tags), tuple((at, at + 1) for at in range(len(tags))))
    assert Annotation.from_field(annotation.as_field()) == annotation
