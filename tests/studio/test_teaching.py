"""The teaching views: chapters and claims, and their story in a browser."""

import json

import pytest


def read(found):
    assert found.status == 200, found.body
    return json.loads(found.body)


def test_chapters_come_with_their_controls_and_claims(studio):
    chapters = read(studio.get("/api/chapters"))["chapters"]
    assert len(chapters) == 11 and chapters[0]["title"] == "Attention"
    assert all(one["claims"][0]["statement"] and one["controls"] for one in chapters)


def test_a_chapter_is_computed_with_the_values_of_the_address(studio):
    (visible, *_), (other, *_) = (
        read(studio.get("/api/chapter", chapter="masks", length="3", **more))["panels"]
        for more in ({}, {"hides_future": "off"})
    )
    assert visible["values"] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert other["values"] == [[1, 1, 1]] * 3


@pytest.mark.parametrize(
    "query",
    [
        {"chapter": "nothing"},
        {"chapter": "masks", "length": "1e9"},
        {"chapter": "masks", "colour": "red"},
        {"chapter": "masks", **{f"x{n}": "1" for n in range(30)}},
        {"chapter": "attention", "source": "word " * 2000},
    ],
)
def test_other_values_are_refused(studio, query):
    found = studio.get("/api/chapter", **query)
    assert found.status == 422 and json.loads(found.body)["error"]["message"]


def test_a_claim_is_measured(studio):
    found = read(studio.post("/api/claim", {"name": "mask-zero-scores"}))
    assert found["kind"] == "fails" and "41." in found["summary"]
    assert [panel["kind"] for panel in found["panels"]] == ["matrix", "table"]


def test_a_claim_that_trains_is_not_measured_by_a_page(studio):
    slow = [one["name"] for one in read(studio.get("/api/claims"))["claims"] if one["slow"]]
    found = read(studio.post("/api/claim", {"name": slow[0]}))
    assert found["kind"] in ("not measured", "holds", "fails", "holds if") and found["slow"]


def test_a_claim_of_another_name_is_refused(studio):
    assert studio.post("/api/claim", {"name": "nothing"}).status == 422


def test_a_mechanism_is_played_with_and_shared_in_the_browser(page):
    page.visit("/mechanisms")
    page.get_by_role("link", name="Masks").click()
    page.wait_for_selector(".matrix canvas")
    assert "0.0%" in page.locator(".panels table").inner_text()
    page.get_by_label("Hide by").select_option("scores to 0")
    row = page.locator(".panels table tbody tr").first
    page.locator(".matrix", has_text="Hidden by: scores to 0").wait_for()
    shared, leak = page.url, row.inner_text()
    assert "0.0%" not in leak
    assert "method=scores" in shared
    page.goto("about:blank")
    page.goto(shared)
    page.wait_for_selector(".panels table")
    assert row.inner_text() == leak
    page.locator(".matrix canvas").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#said").inner_text() == "2 → 1: 1"


def test_a_claim_is_measured_from_its_chapter_and_its_page(page):
    page.visit("/mechanisms?chapter=masks")
    card = page.locator(".card", has_text="The future is hidden by setting its scores to 0")
    card.get_by_role("button", name="Measure").click()
    card.get_by_text("False:").wait_for()
    card.get_by_role("link").click()
    page.get_by_text("41.7% of the attention falls on the future").wait_for()
    page.visit("/claims")
    page.get_by_label("Filter").fill("D1 penalty")
    assert 0 < page.locator("tbody tr").count() < 10
