"""The views of runs: descriptions, comparisons, differing answers; and the story in a browser."""

import json
import re

import pytest


def read(found):
    assert found.status == 200, found.body
    return json.loads(found.body)


def test_a_run_is_described_as_its_report_does(studio):
    found = read(studio.get("/api/run", run="classification"))
    assert "5,414 parameters" in found["summary"]
    assert [score["name"] for score in found["scores"]][:2] == ["accuracy", "macro F1"]
    assert any("GFLOP" in value for _, value in found["cost"])


def test_runs_of_one_seed_are_not_compared_and_the_remedy_is_said(studio):
    found = read(studio.get("/api/compare", run=["classification", "ensemble"]))
    assert "both have seed 1" in found["problem"] and found["differences"] == []


def test_a_run_alone_is_compared_with_its_baseline(studio):
    found = read(studio.get("/api/compare", run=["classification"]))
    assert found["rows"][-1][0] == "baseline" and found["pairs"] == []
    (curve,) = found["curves"]["accuracy"]
    assert curve["steps"] == [15, 30] and curve["half"] == [None, None]


def test_runs_on_other_examples_have_no_differing_answers(studio):
    found = studio.get("/api/answers", run=["classification", "translation"])
    assert found.status == 422 and "same examples" in json.loads(found.body)["error"]["message"]


def test_curves_of_several_runs_come_in_their_order(studio):
    names = ["translation", "classification"]
    found = read(studio.get("/api/curves", run=names))["runs"]
    assert [one["run"] for one in found] == names and {one["state"] for one in found} == {
        "finished"
    }


def test_runs_are_filtered_sorted_and_compared_in_the_browser(page):
    assert page.locator("table.runs tbody tr").count() == 4
    page.get_by_label("Filter").fill("task=class")
    page.wait_for_url(re.compile("filter="))
    assert page.locator("table.runs tbody tr").count() == 2
    assert "filter=task%3Dclass" in page.url
    page.reload()
    page.wait_for_selector("table.runs")
    assert page.locator("table.runs tbody tr").count() == 2
    page.get_by_role("button", name="Run").click()
    names = page.locator("table.runs tbody td:nth-child(2)").all_inner_texts()
    assert names == ["ensemble", "classification"]
    for name in names:
        page.get_by_label(f"Compare {name}").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    page.wait_for_selector("text=both have seed 1")
    assert re.search(r"/compare\?run=ensemble&run=classification$", page.url)
    assert page.locator(".chart").count() >= 5


def test_curves_grow_while_a_run_trains_and_zoom_survives(page, program):
    run = program.root / "live"
    run.mkdir()
    recipe = (program.root / "classification" / "recipe.toml").read_text()
    (run / "recipe.toml").write_text(recipe)
    journal = run / "journal.jsonl"

    def add(*steps):
        with journal.open("a") as file:
            for step in steps:
                file.write(json.dumps({"event": "step", "step": step, "loss": 100 / step}) + "\n")

    add(20, 40, 60, 80)
    asked = []
    page.on(
        "request",
        lambda request: asked.append(request.url) if "/api/curves" in request.url else None,
    )
    page.visit("/run?run=live")
    loss = page.locator(".chart canvas[aria-label^='training loss']")
    page.wait_for_selector("canvas[aria-label*='live 1.25']")
    loss.scroll_into_view_if_needed()
    box = loss.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile("zoom="))
    zoomed = re.search(r"zoom=([\d.]+)", page.url)
    assert zoomed and 20 < float(zoomed[1]) < 80
    add(100)
    page.wait_for_selector("canvas[aria-label*='live 1.']:not([aria-label*='1.25'])")
    assert zoomed[0] in page.url and re.search(r"cursor=\d+\.0%3A4%3A0", asked[-1])
    assert page.get_by_role("button", name="Show all").first.is_visible()
    page.reload()
    page.wait_for_selector(".chart canvas")
    assert zoomed[0] in page.url and page.get_by_role("button", name="Show all").first.is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_is_wider_than_a_phone(chromium, program, theme):
    context = chromium.new_context(viewport={"width": 380, "height": 740}, color_scheme=theme)
    page = context.new_page()
    page.goto(program.open)
    for path in ("/", "/run?run=classification", "/compare?run=classification&run=translation"):
        page.goto(program.address.rstrip("/") + path)
        page.wait_for_selector("h1")
        page.wait_for_timeout(300)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 380, (path, width)
    context.close()
