from xml.etree import ElementTree

import numpy as np
import pytest

from regard.draw.document import (
    DocumentPicture,
    DocumentView,
    DrawnSentence,
    document_html,
    document_page,
)
from regard.draw.document_svg import document_svg
from regard.draw.document_terminal import document_text

TOLD = "Without the 2 words ranked highest '5' goes from 80% to 20%."
HAN = DocumentPicture(
    [
        DocumentView(
            "words and sentences",
            [
                DrawnSentence(["We", "came", "late", "."], [0.1, 0.1, 0.2, 0.6], 0.1),
                DrawnSentence(["Soup", "was", "<b>superb</b>", "&"], [0.2, 0.05, 0.7, 0.05], 0.9),
            ],
        )
    ],
    "5",
    TOLD,
)
HOPS = DocumentPicture(
    [
        DocumentView(name, [DrawnSentence(["not", "bad", "\x1b[31m"], weights)])
        for name, weights in (("mean", [0.3, 0.6, 0.1]), ("hop 1", [0.1, 0.9, 0.0]))
    ],
    "good",
    TOLD,
    overlap=np.eye(2),
)
BOTH = pytest.mark.parametrize("picture", [HAN, HOPS], ids=["han", "hops"])


def test_a_word_is_dark_where_its_sentence_is():
    shades = HAN.views[0].shades()
    assert max(max(own) for own in shades) == shades[1][2] == 1
    assert shades[0][3] == pytest.approx(0.6 * 0.1**0.5 / (0.7 * 0.9**0.5))


def test_weights_of_zero_are_not_divided_by():
    assert DocumentView("x", [DrawnSentence(["a"], [0.0], 1.0)]).shades() == [[0.0]]
    assert DocumentView("x", []).shades() == []


@BOTH
def test_the_sentence_on_faithfulness_is_never_left_out(picture):
    for drawn in (document_html(picture), document_text(picture)):
        assert "Faithfulness of the attention weights. Without the 2 words" in " ".join(
            drawn.split()
        )
    assert "Faithfulness of the attention weights. Without the 2 words" in document_svg(picture)


@BOTH
def test_words_from_outside_are_escaped(picture):
    for drawn in (document_page(picture, title="<i>t</i>"), document_svg(picture)):
        assert "<b>" not in drawn.replace("<b>Fai", "").replace("<b>W", "").replace(
            "<b>5", ""
        ).replace("<b>good", "")
        assert "<i>t" not in drawn and "\x1b" not in drawn
    assert "\x1b" not in document_text(picture)


@BOTH
def test_the_svg_stands_alone(picture):
    root = ElementTree.fromstring(document_svg(picture))
    assert root.tag.endswith("svg")
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert all(any(word in t for t in texts) for word in ("superb" if picture is HAN else "bad",))


def test_the_terminal_has_a_bar_for_each_sentence():
    first, second = document_text(HAN, width=80).splitlines()[:2]
    assert " 10% We came late" in first and first.startswith("█▎")
    assert " 90% " in second and "superb</b>█" in second and second.count("█") > 10


def test_with_colours_words_are_shaded():
    drawn = document_text(HAN, width=80, colour=True)
    assert "\x1b[" in drawn and "superb" in drawn


def test_long_sentences_stay_in_their_column():
    long = DocumentPicture(
        [DocumentView("x", [DrawnSentence(["word"] * 90, [1 / 90] * 90, 1.0)])], "a", TOLD
    )
    lines = document_text(long, width=60).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[1].startswith(" " * 17)
    assert 'height="' in document_svg(long)


def test_hops_are_views_with_a_map_of_their_overlap():
    page = document_html(HOPS)
    assert page.count('class="document"') == 2 and "hop 1 ← hop 1" in page
    printed = document_text(HOPS)
    assert "hop 1" in printed and "overlap of hops" in printed


def test_many_hops_are_counted_in_the_terminal():
    many = DocumentPicture([HOPS.views[0]] * 12, "a", TOLD, overlap=np.eye(3))
    assert "3 more views are in the HTML page" in document_text(many)
