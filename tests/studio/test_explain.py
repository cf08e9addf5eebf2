"""Explanations: what the page draws is what the package computed; words are erased by clicking."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from tests.studio.conftest import start_program, stop_program

import regard

TEXT = "a really fine one"


def read(found, status=200):
    assert found.status == status, found.body
    return json.loads(found.body)


def unpack(stack):
    """Return the weights as the viewer unpacks them."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(stack["data"])), np.uint8).astype(int)
    count = stack["layers"] * stack["heads"] * len(stack["rows"]) * stack["kept"]
    codes = raw[:count] * 256 + raw[count : 2 * count]
    shape = (stack["layers"], stack["heads"], len(stack["rows"]), stack["kept"])
    return ((codes / stack["full"]) ** 2).reshape(shape)


def test_the_maps_are_those_of_the_package(studio):
    found = read(studio.post("/api/explain/attention", {"run": "translation", "text": "a h k"}))
    guarded = {"no_repeat": 4, "max_length_ratio": 4.0}  # as every served translator
    known = regard.load(studio.root / "translation", decoding=guarded).explain("a h k")
    first = found["view"]["stacks"][0]
    assert first["title"] == "cross-attention (answer to source)"
    np.testing.assert_allclose(unpack(first), known.weights, atol=2e-5)
    links = [source for _, source, _ in found["alignment"]["links"]]
    assert links == known.shown.select(known.trace).argmax(axis=1).tolist()


def test_an_attribution_comes_with_its_test(studio):
    asked = {"run": "classification", "text": TEXT, "attribution": "occlusion"}
    found = read(studio.post("/api/explain/attribution", asked))
    model = regard.load(studio.root / "classification")
    known = model.explain(TEXT, attribution="occlusion")
    np.testing.assert_allclose(found["scores"], known.attribution.scores, atol=1e-5)
    assert found["sentence"] == known.sentence != ""
    assert found["verdict"] in ("faithful", "no better than chance")
    assert found["total"] == pytest.approx(np.sum(found["scores"], axis=0).tolist())


def test_what_cannot_be_explained_says_why(studio):
    asked = {
        "run": "classification",
        "text": TEXT,
        "label": "no such label",
        "attribution": "gradient",
    }
    assert (
        "no such label"
        in read(studio.post("/api/explain/attribution", asked), 422)["error"]["message"]
    )
    erased = {"run": "classification", "text": TEXT, "erased": [99]}
    assert (
        "can be erased" in read(studio.post("/api/explain/erase", erased), 422)["error"]["message"]
    )


def probability(page):
    text = page.locator("section .value").first.inner_text()
    return re.findall(r"[\d.]+%", text)


def test_clicking_words_erases_them_and_the_address_has_it_all(page):
    page.visit("/explain?run=classification&text=a+really+fine+one")
    page.get_by_role("button", name="fine", exact=True).click()
    page.wait_for_selector("section .value")
    first = probability(page)
    assert first[0] != first[1]
    page.get_by_role("button", name="really", exact=True).click()
    page.wait_for_selector("button.word[aria-pressed=true] >> nth=1")
    page.wait_for_url(re.compile("erased=3&erased=2"))
    page.wait_for_selector("text=/depend/ >> nth=4", timeout=60_000)
    both = probability(page)
    page.reload()
    page.wait_for_selector("section .value", timeout=60_000)
    assert probability(page) == both
    page.get_by_role("button", name="Put all back").click()
    page.wait_for_url(lambda url: "erased" not in url)


def test_heads_and_words_are_chosen_with_the_keyboard(page):
    page.visit("/explain?run=translation&text=a+h+k")
    page.wait_for_selector(".bench h3 >> text=/layer 1, head/")
    page.locator("h1").click()
    before = re.search(r"head=(\d)", page.url)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "head=" in url and (not before or before[0] not in url))
    page.keyboard.press("n")
    page.wait_for_url(re.compile("word=1"))
    assert page.locator(".words .now").count() == 1
    shaded = page.evaluate(
        "[...document.querySelectorAll('.words span')].filter((one) => one.style.backgroundColor).length"
    )
    assert shaded > 0


def test_a_studio_that_is_started_again_shows_the_same_view(chromium, tmp_path):
    from tests.studio.conftest import copy_runs

    copy_runs(tmp_path / "runs", "classification")
    process, line = start_program(tmp_path / "runs")
    page = chromium.new_page()
    page.set_default_timeout(30_000)
    page.goto(line["open"])
    page.wait_for_selector("table.runs")
    page.goto(line["address"] + "explain?run=classification&text=a+fine+one&erased=1")
    page.wait_for_selector("section .value")
    seen = probability(page)
    stop_program(process)
    process, again = start_program(
        tmp_path / "runs", port=int(line["address"].split(":")[2].strip("/"))
    )
    assert again == line
    page.reload()
    page.wait_for_selector("section .value")
    assert probability(page) == seen
    page.close()
    stop_program(process)
