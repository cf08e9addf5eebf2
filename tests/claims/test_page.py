"""The page shows every claim with a picture, filters by verdict, and lets nothing in."""

import re

import pytest

from regard.claims.claim import Claim, Curves, Figure, Measurement
from regard.claims.measuring import Outcome
from regard.claims.page import KINDS, render_page
from regard.draw.bars import Bars, bar_chart, number, terminal_bars
from regard.draw.chart import Curve
from regard.draw.picture import Picture

EVIL = '<script>alert("x")</script>'


def outcome(name, votes, drawing=None, problem="", **more):
    def measure():
        """Measure nothing."""

    measure.__name__, measure.__module__ = name, "regard.claims.masks"
    fields = {
        word: f"{word} {EVIL}." for word in ("statement", "meaning", "next_step", "correction")
    }
    fields["next_step"] += f" Try `regard {EVIL}`."
    claim = Claim(
        measure,
        numbers=(3,),
        source=f"D0 {EVIL}",
        layer="errors.py",
        **fields,
        **more,
    )
    figures = tuple(Figure(f"{EVIL} {n}", n + 0.5, vote) for n, vote in enumerate(votes))
    return Outcome(claim, Measurement(EVIL, figures, drawing) if votes else None, 0.1, problem)


@pytest.fixture
def page():
    return render_page(
        [
            outcome("one", [True], Bars(EVIL, ((EVIL, 2),))),
            outcome(
                "two",
                [True, False],
                Curves(EVIL, EVIL, (Curve(EVIL, [1, 2], [3, 4]),)),
                condition=EVIL,
            ),
            outcome("three", [False], Picture([EVIL], [EVIL], [[1.0]], EVIL)),
            outcome("four", [], problem=EVIL),
        ]
    )


def test_nothing_of_what_is_shown_is_markup(page):
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 10
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_commands_are_set_as_code(page):
    assert page.count("Try <code>regard &lt;script&gt;") == 3 and "`" not in page


def test_every_claim_has_its_card_its_verdict_and_a_picture(page):
    for name, kind in zip(("one", "two", "three", "four"), KINDS.values(), strict=True):
        if name == "two":
            kind = "conditional"
        if name == "three":
            kind = "fails"
        assert re.search(rf'<article class="claim judged {kind}" id="{name}">', page), name
        assert f'href="#{name}"' in page
    assert page.count("<svg") == 3


def test_a_verdict_can_be_chosen_and_the_others_are_hidden(page):
    for kind in KINDS.values():
        assert f'id="show-{kind}"' in page
        assert f"#show-{kind}:checked~.all .judged:not(.{kind}){{display:none}}" in page
    assert "holds 1" in page and "fails 1" in page


def test_bars_of_negative_numbers_end_left_of_zero():
    signed = Bars("", (("up", 3.0), ("down", -1.0), ("none", 0.0)))
    lines = terminal_bars(signed, width=50).splitlines()
    zero = lines[0].index("│")
    assert all(line.index("│") == zero for line in lines)
    assert "█" in lines[0][zero:] and "█" not in lines[0][:zero]
    assert lines[1][zero - 1] == "█" and "█" not in lines[1][zero:] and "-1" in lines[1]
    assert "█" not in lines[2]
    assert lines[0][zero:].count("█") == pytest.approx(3 * lines[1].count("█"), abs=2)
    drawn = bar_chart(signed)
    ends = [
        (float(x), float(x) + float(width))
        for x, width in re.findall(
            r'class="part[^"]*" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn
        )
    ]
    zero = float(re.search(r'class="zero" x1="([\d.]+)"', drawn)[1])
    assert ends[0][0] == pytest.approx(zero) == pytest.approx(ends[1][1], abs=0.01)
    assert ends[0][1] - zero == pytest.approx(3 * (zero - ends[1][0]), rel=0.01)
    assert (
        'class="part negative"' in drawn and "zero" not in bar_chart(Bars("", (("a", 1),)))[-300:]
    )


@pytest.mark.parametrize("values", [(-1.0, -2.0), (0.0, 0.0), (-1e-9, 1.0), ()])
def test_bars_of_any_sign_can_be_drawn(values):
    bars = Bars("", [(str(n), value) for n, value in enumerate(values)])
    assert bar_chart(bars).startswith("<svg")
    assert all(len(line) <= 60 for line in terminal_bars(bars, width=60).splitlines())


def test_bars_say_when_their_lengths_are_logarithms():
    near, far = Bars("", (("a", 1), ("b", 3))), Bars("t", (("a", 1e-9), ("b", 3), ("c", 0)))
    assert "logarithms" not in bar_chart(near) + terminal_bars(near)
    assert "logarithms" in bar_chart(far) and "logarithms" in terminal_bars(far)
    assert terminal_bars(far).splitlines()[0] == "t"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3, "3"),
        (63_045_632, "63,045,632"),
        (0.5, "0.5"),
        (2e-16, "2e-16"),
        (4.0, "4"),
        (1234.5678, "1235"),
    ],
)
def test_a_number_has_as_many_digits_as_help(value, written):
    assert number(value) == written
