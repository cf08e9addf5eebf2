"""The page of an explanation: small, strict, and every word in it only a word."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.draw.overview import ShadedWords, TerminalOverview
from regard.draw.payload import MOST_BYTES, pack, pack_all
from regard.draw.viewer import TESTED, ExplanationView, Shading, ViewedStack, explanation_page

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "<!--<script>",
    "\\u003cscript\\u003e",
    "\u202egnp.exe\x1b[31m\x00",
    "<svg/onload=document.title='owned'>",
    "]]>&lt;script&gt;",
]


def view(words, *, layers=2, heads=3, answers=("pos",)):
    n = len(words)
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(n), size=(layers, heads, n)).astype(np.float32)
    scores = rng.normal(size=(len(answers), n))
    tested = [[words[0]] * len(TESTED)]
    shading = Shading(answers, words, scores, words[0], words[0], tested)
    stack = ViewedStack("self-attention", words, words, weights, words[0])
    return ExplanationView(words[0], words[0], [stack], (1, 2), shading, notes=[words[0]])


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


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_labels_and_titles_are_only_words(hostile):
    page = explanation_page(view([hostile, "b", "c"], answers=(hostile,)))
    reader = Reader(page)
    harmless = Reader(explanation_page(view(["x" * len(hostile), "b", "c"], answers=("x",))))
    assert reader.tags.count("script") == 2  # the data and the viewer
    free = ("rect", "title")
    assert [t for t in reader.tags if t not in free] == [t for t in harmless.tags if t not in free]
    assert not any(name.startswith("on") for _, name, _ in reader.attributes)
    assert not set(page) & set("\x00\x1b\u202e")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_data_block_holds_every_word_and_cannot_be_left(hostile):
    page = explanation_page(view([hostile, "b", "c"]))
    block = re.search(r'<script type="application/json" id="regard-data">(.*?)</script>', page)[1]
    assert not set(block) & set("<>&")
    data = json.loads(block)
    assert data["stacks"][0]["columns"][1:] == ["b", "c"]
    safe = "".join(c for c in hostile if c not in "\x00\x1b\u202e")
    assert data["stacks"][0]["columns"][0] == safe


def test_only_the_viewers_own_script_may_run():
    page = explanation_page(view(["a", "b"]))
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    script = page[page.rindex("<script>") + len("<script>") : page.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'") and f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    outside = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|url\(|<link|innerHTML|eval\(|fetch\(", outside)


def test_a_page_without_attention_runs_nothing():
    bare = view(["a", "b"])
    page = explanation_page(ExplanationView("t", "s", [], shading=bare.shading))
    assert "<script" not in page and "script-src" not in page


def unpacked(packed, shape):
    raw = np.frombuffer(zlib.decompress(base64.b64decode(packed.data)), np.uint8).astype(int)
    count = int(np.prod(shape[:-1])) * packed.kept
    weights = ((raw[:count] * 256 + raw[count : 2 * count]) / packed.full) ** 2
    places = np.tile(np.arange(shape[-1]), count // packed.kept)
    if packed.kept < shape[-1]:
        steps = (raw[2 * count : 3 * count] * 256 + raw[3 * count :]).reshape(-1, packed.kept)
        places = steps.cumsum(axis=1).ravel()
    found = np.zeros((count // packed.kept, shape[-1]))
    found[np.repeat(np.arange(len(found)), packed.kept), places] = weights
    return found.reshape(shape)


@given(st.integers(1, 13), st.integers(1, 7), st.booleans(), st.integers(0, 99))
def test_what_is_packed_is_what_was_there(columns, kept, exact, seed):
    shape = (2, 3, 5, columns)
    weights = np.random.default_rng(seed).dirichlet(np.full(columns, 0.3), size=shape[:-1])
    packed = pack(weights, kept, exact=exact)
    found = unpacked(packed, shape)
    top = np.sort(weights, axis=-1)[..., -packed.kept :]
    close = 4e-5 if exact else 8e-3
    np.testing.assert_allclose(np.sort(found, axis=-1)[..., -packed.kept :], top, atol=close)
    assert packed.share == pytest.approx(top.sum() / weights.sum())
    np.testing.assert_allclose(found[found > 0.02], weights[found > 0.02], atol=close)


def test_a_long_text_keeps_its_highest_weights_and_says_so(monkeypatch):
    monkeypatch.setattr("regard.draw.payload.MOST_EXACT", 1000)
    monkeypatch.setattr("regard.draw.payload.MOST_KEPT", 2 * 3 * 53 * 7)
    words = [f"w{n}" for n in range(53)]
    page = explanation_page(view(words))
    block = re.search(r'id="regard-data">(.*?)</script>', page)[1]
    data = json.loads(block)["stacks"][0]
    assert data["kept"] == 7 and "7 highest weights of every row" in data["note"]
    assert MOST_BYTES < 3_000_000


def test_stacks_that_are_too_large_together_keep_fewer(monkeypatch):
    monkeypatch.setattr("regard.draw.payload.MOST_EXACT", 100)
    monkeypatch.setattr("regard.draw.payload.MOST_BYTES", 2000)
    rng = np.random.default_rng(3)
    stacks = [rng.dirichlet(np.ones(31), size=(2, 2, 31)) for _ in range(2)]
    packed = pack_all(stacks)
    assert sum(len(one.data) for one in packed) <= 2000 and packed[0].kept >= 1


@pytest.mark.parametrize("width", [31, 47, 100])
@pytest.mark.parametrize("colour", [True, False])
def test_the_overview_and_shaded_words_fit_the_terminal(width, colour):
    import io

    from rich.cells import cell_len
    from rich.console import Console

    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(3, 7, 11))
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, no_color=not colour,
        color_system="truecolor" if colour else None,
    )  # fmt: skip
    with console.capture() as capture:
        console.print(TerminalOverview(weights, chosen=(2, 4)))
        console.print(
            ShadedWords(["Donaudampfschiff", "\x1b[2J日本", "c"], np.array([0.5, -0.2, 0.0]))
        )
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", capture.get())
    assert "head 5*" in drawn and "layer 3" in drawn and "\x1b[2J" not in capture.get()
    assert all(cell_len(line) <= width for line in drawn.splitlines())
    if colour:
        assert "38;2;" in capture.get()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_nothing_hostile_runs_in_a_browser_and_the_viewer_does(tmp_path):
    file = tmp_path / "page.html"
    file.write_text(
        explanation_page(view([*HOSTILE, "fine"], answers=tuple(HOSTILE))), encoding="utf-8"
    )
    call = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [*call, "--dump-dom", file.as_uri()], capture_output=True, text=True, check=True
    )
    assert "<title>owned" not in done.stdout
    assert 'data-shown-at="' in done.stdout
    assert done.stdout.count('<span class="now"') == 0 and ">fine</span>" in done.stdout
