import base64
import re
import struct
import zlib

import numpy as np
from defusedxml import ElementTree

from regard.draw.picture import Picture
from regard.draw.pixels import png_address
from regard.draw.svg import svg_map

SVG = "{http://www.w3.org/2000/svg}"
SOURCE, TARGET = ["Der", "Hund", "schläft"], ["The", "dog"]
WEIGHTS = [[0.8, 0.2, 0.0], [0.1, 0.5, 0.4]]


def heat(drawing):
    cells = drawing.find(f"{SVG}g").findall(f"{SVG}rect")
    return {cell.find(f"{SVG}title").text: float(cell.get("fill-opacity")) for cell in cells}


def test_every_cell_is_as_strong_as_its_weight_and_says_it():
    drawing = ElementTree.fromstring(svg_map(Picture(TARGET, SOURCE, WEIGHTS)))
    assert heat(drawing) == {
        "The ← Der: 80.0%": 1.0,
        "The ← Hund: 20.0%": 0.25,
        "dog ← Der: 10.0%": 0.125,
        "dog ← Hund: 50.0%": 0.625,
        "dog ← schläft: 40.0%": 0.5,
    }


def test_a_row_of_words_is_a_row_of_cells():
    drawing = ElementTree.fromstring(svg_map(Picture(TARGET, SOURCE, WEIGHTS)))
    places = {
        cell.find(f"{SVG}title").text.split(":")[0]: (float(cell.get("x")), float(cell.get("y")))
        for cell in drawing.find(f"{SVG}g")
    }
    assert places["The ← Der"][1] == places["The ← Hund"][1] < places["dog ← Hund"][1]
    assert places["dog ← Hund"][0] == places["The ← Hund"][0] < places["dog ← schläft"][0]


def test_all_words_label_the_map():
    drawing = ElementTree.fromstring(svg_map(Picture(TARGET, SOURCE, WEIGHTS, "head 2")))
    written = {"".join(text.itertext()) for text in drawing.iter(f"{SVG}text")}
    assert {"DerDer", "HundHund", "dogdog", "head 2", "80%"} <= written  # a label and its title


def test_the_file_stands_alone_and_knows_dark():
    drawn = svg_map(Picture(TARGET, SOURCE, WEIGHTS))
    assert "prefers-color-scheme:dark" in drawn
    assert not re.search(r"(href|src|url|@import|@font-face)", drawn)
    assert "<style>" not in svg_map(Picture(TARGET, SOURCE, WEIGHTS), alone=False)


def test_hostile_words_are_only_words():
    evil = [
        "</title><script>alert(1)</script>",
        '" onload="alert(1)',
        "a\x00\x1b\ud800b",
        "]]>&amp;",
    ]
    drawn = svg_map(Picture(evil, evil, np.eye(4), evil[0]))
    drawing = ElementTree.fromstring(drawn)
    allowed = {f"{SVG}{name}" for name in ("svg", "style", "title", "text", "g", "rect")}
    assert {node.tag for node in drawing.iter()} <= allowed
    assert not any(name.startswith("on") for node in drawing.iter() for name in node.attrib)
    assert "ab ← ab: 100.0%" in heat(drawing)


def test_a_large_map_is_a_small_file():
    words = [f"w{place}" for place in range(512)]
    weights = np.random.default_rng(0).random((512, 512)) ** 9
    drawn = svg_map(Picture(words, words, weights))
    ElementTree.fromstring(drawn)
    assert "data:image/png" in drawn
    assert len(drawn) < 400_000


def test_the_pixels_are_the_weights():
    shares = np.array([[0.0, 1.0, 0.2], [0.6, 0.4, 0.8]])
    png = base64.b64decode(png_address(shares, (1, 2, 3)).partition(",")[2])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = {}, 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        kind, content = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size : place + 12 + size]) == (
            zlib.crc32(kind + content),
        )
        chunks[kind], place = content, place + 12 + size
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (3, 2)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(2, 4)
    opacity = np.frombuffer(chunks[b"tRNS"], np.uint8)[lines[:, 1:]]
    np.testing.assert_array_equal(opacity, np.rint(shares * 255))
    assert (lines[:, 0] == 0).all()


def test_an_empty_map_is_drawn():
    ElementTree.fromstring(svg_map(Picture([], [], [])))


def test_the_pixels_of_a_map_grow_with_the_root_of_their_share():
    drawn = svg_map(Picture(TARGET, SOURCE, WEIGHTS), most_cells=0)
    expected = png_address(np.sqrt(np.array(WEIGHTS) / 0.8), (224, 96, 36))
    assert ElementTree.fromstring(drawn).find(f"{SVG}g/{SVG}image").get("href") == expected
