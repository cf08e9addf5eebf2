import pytest
from rich.cells import cell_len

from regard.draw.label import characters, clean, label, shorten


@pytest.mark.parametrize(
    "hidden",
    ["\x1b", "\x00", "\x07", "\x9b", "\u202e", "\u2066", "\u200f", "\ufeff", "\ud800", "\ufffe",
     "\U000e0041", "\u2028", "\x7f", "\ufdd0"],
)  # fmt: skip
def test_what_could_drive_a_terminal_or_lie_is_dropped(hidden):
    assert clean(f"a{hidden}b") == "ab"
    assert label(f"a{hidden}b") == "ab"


def test_every_writing_stays_as_it_is():
    text = "Größe naïve 日本語 עברית हिन्दी 👩‍🚀 ½ \u200c"
    assert clean(text) == text


def test_blanks_can_be_seen():
    assert label("a\nb\tc") == "a⏎b⇥c"
    assert label("  ") == "␣␣"
    assert label("") == "␀"


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("text", ["Donaudampfschiff", "日本語日本語", "e\u0301t\u00e9" * 5])
def test_a_shortened_text_fits_and_says_that_it_was_cut(text, most):
    short = shorten(text, most)
    assert cell_len(short) <= most
    assert short.endswith("…")


def test_what_fits_is_not_shortened():
    assert shorten("日本", 4) == "日本"
    assert shorten("Haus", 4) == "Haus"


def test_a_letter_keeps_its_marks():
    assert characters("e\u0301a") == ["e\u0301", "a"]
