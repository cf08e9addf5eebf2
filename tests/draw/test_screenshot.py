import re

from defusedxml import ElementTree

from regard.draw.picture import Picture
from regard.draw.screenshot import terminal_svg
from regard.draw.terminal import TerminalMap


def test_a_terminal_is_drawn_without_anything_from_elsewhere():
    picture = TerminalMap(Picture(["dog"], ["Hund", "<b>"], [[0.87, 0.13]]))
    drawn = terminal_svg(["\x1b[32m$\x1b[0m regard explain", picture], title="regard \x1b<x>")
    words = "".join(ElementTree.fromstring(drawn).itertext()).replace("\xa0", " ")
    for expected in ("regard explain", "Hund", "<b>", "87"):
        assert expected in words
    outside = drawn.replace("http://www.w3.org/2000/svg", "").replace(
        "https://www.textualize.io", ""
    )
    assert not re.search(r"https?://|@font-face|\x1b", outside)


def test_the_same_screen_gives_the_same_picture():
    assert terminal_svg(["a"], title="t") == terminal_svg(["a"], title="t")
