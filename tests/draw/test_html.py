import html
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from regard.draw.frame import POLICY
from regard.draw.html import mark_differences, report_page
from regard.draw.page import (
    AttentionMaps,
    Curve,
    HeadMap,
    Panel,
    ReportData,
    ReportSample,
    Score,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "<!--<script>-->",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "]]><script>alert(1)</script>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "{{7*7}}${7*7}",
    "<a href=data:text/html,x>x</a>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "@import url(//evil.example)",
    "\x00\x1b[31m\u202eevil",
]
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "footer", "nav"),
    *("p", "h1", "h2", "a", "b", "section", "div", "span", "mark", "code", "wbr"),
    *("input", "label", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"),
    *("svg", "rect", "g", "text", "image", "line", "circle", "polyline"),
}


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        self.tags.append("comment")


def report(word="word", **changed):
    curve = Curve(word, [1, 2, 3], [0.1, 0.2, 0.3], [3.0, 2.0, 1.5])
    weights = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])
    data = ReportData(
        title=word,
        summary=word,
        recipe=[(word, word)],
        scores=[Score(word, 37.42, baseline=2.31, baseline_name=word, signature=word, best=100, note=word)],
        panels=[Panel(word, [curve])],
        samples=[ReportSample(word, "reference", word)],
        attention=AttentionMaps([word, "b"], [word, "d", "e"], [HeadMap(word, weights), HeadMap("two", weights)], word),
        data=[(word, word)],
        environment=[(word, word)],
        commands=[(word, word)],
        version=word,
    )  # fmt: skip
    return replace(data, **changed)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_text_is_shown_and_nothing_else(hostile):
    page = report_page(report(hostile))
    reader = Reader(page)
    assert set(reader.tags) <= TAGS
    assert not any(name.startswith("on") for _, name, _ in reader.attributes)
    links = [value for _, name, value in reader.attributes if name in ("href", "src", "action")]
    assert all(re.fullmatch(r"#[a-z]+", link) for link in links)
    safe = "".join(c for c in hostile if c not in "\x00\x1b\u202e")
    assert sum(safe in words for words in reader.words) >= 12
    assert not set(page) & set("\x00\x1b\u202e")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_and_harmless_pages_have_the_same_structure(hostile):
    harmless = Reader(report_page(report("x" * len(hostile))))
    hostile_page = Reader(report_page(report(hostile)))
    drawn = (
        "rect",
        "wbr",
        "mark",
        "line",
        "text",
        "title",
        "circle",
    )  # differ with lengths at most
    assert [tag for tag in hostile_page.tags if tag not in drawn] == [
        tag for tag in harmless.tags if tag not in drawn
    ]


def test_the_policy_forbids_everything_from_elsewhere():
    page = report_page(report())
    assert f'http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}"' in page
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert POLICY.startswith("default-src 'none'")
    assert "script" not in POLICY
    outside = re.sub(r"http://www\.w3\.org/2000/svg", "", page)
    assert not re.search(r"https?://|//[a-z]|@import|url\(|<script|<link", outside)


def test_the_page_says_everything_it_was_given():
    data = report(
        scores=[Score("BLEU", 37.42, 2.31, "copying the source", "nrefs:1|case:mixed", 100)],
        recipe=[("width", "256")],
        data=[("training pairs", "29,000")],
        environment=[("torch", "2.13")],
        commands=[("Translate", "regard predict runs/demo 'Ein Hund'")],
    )
    words = Reader(report_page(data)).words
    shown = "\n".join(words)
    for expected in ("BLEU", "37.4", "copying the source", "2.3", "256", "29,000", "2.13", "two"):
        assert expected in shown
    assert "nrefs:1|case:mixed" in "".join(words)
    assert "regard predict runs/demo 'Ein Hund'" in words
    assert "What it is not" in shown


def test_every_head_and_axis_can_be_chosen_without_a_script():
    page = report_page(report())
    reader = Reader(page)
    choices = [value for tag, name, value in reader.attributes if tag == "input" and name == "id"]
    labels = [value for tag, name, value in reader.attributes if tag == "label" and name == "for"]
    assert choices == labels == ["axis-0", "axis-1", "head-0", "head-1"]
    for choice in choices:
        assert f"#{choice}:checked~.view-{choice}{{display:block}}" in page
        assert f'class="shown view-{choice}"' in page
    assert sum(name == "checked" for _, name, _ in reader.attributes) == 2


def test_parts_that_are_empty_are_left_out():
    page = report_page(ReportData("runs/demo", "A run."))
    assert "<section" not in page
    assert "<nav" not in page
    only = report_page(ReportData("runs/demo", "A run.", data=[("pairs", "7")]))
    assert re.findall(r"<h2>(\w+)</h2>", only) == ["Data"]


def test_the_page_knows_light_dark_phone_and_paper():
    page = report_page(report())
    for rule in (
        "prefers-color-scheme:dark",
        "max-width:40rem",
        "@media print",
        "width=device-width",
    ):
        assert rule in page


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("a dog runs", "a dog runs", "a dog runs"),
        ("a cat runs", "a dog runs", "a <mark>cat</mark> runs"),
        ("a <b> runs", "a dog runs", "a <mark>&lt;b&gt;</mark> runs"),
        ("", "a dog", ""),
        ("a dog", "", "<mark>a dog</mark>"),
    ],
)
def test_an_answer_is_marked_where_it_differs(answer, reference, expected):
    assert mark_differences(answer, reference) == expected


def test_an_answer_like_the_reference_says_so():
    same, other = ReportSample("s", "a dog", "a dog"), ReportSample("s", "a dog", "a cat")
    assert report_page(report(samples=[same, other])).count("as expected</span>") == 1


def test_a_long_text_with_many_heads_stays_below_three_megabytes():
    words = [f"word{place}" for place in range(512)]
    chance = np.random.default_rng(0)
    heads = [
        HeadMap(
            f"layer {place // 4}, head {place % 4}", np.eye(512) + chance.random((512, 512)) / 9
        )
        for place in range(8)
    ]
    page = report_page(report(attention=AttentionMaps(words, words, heads)))
    assert len(page) < 3_000_000
    assert page.count("data:image/png") == 8


def test_nested_lists_are_as_good_as_arrays():
    weights = [[1.0, 0.0], [0.25, 0.75]]
    lists = AttentionMaps(["a", "b"], ["c", "d"], [HeadMap("one", weights)])
    page = report_page(report(attention=lists))
    arrays = AttentionMaps(["a", "b"], ["c", "d"], [HeadMap("one", np.array(weights))])
    assert page == report_page(report(attention=arrays))
    assert "d ← b: 75.0%" in page


def test_curves_are_drawn_against_steps_and_against_minutes():
    curve = Curve("loss", [100, 200], [0.5, 1.5], [3.0, 2.0])
    by_steps, by_minutes = report_page(report(panels=[Panel("Loss", [curve])])).split(
        'class="shown view-axis-1"'
    )
    assert "loss: 3 at 100 steps" in by_steps
    assert "loss: 3 at 0.5 minutes" in by_minutes


def test_drawing_needs_no_torch():
    code = "import sys, regard.draw.html, regard.draw.terminal; "
    code += "sys.exit('torch' in sys.modules)"
    source = Path(__file__).parents[3] / "src"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(source)})
    assert done.returncode == 0
