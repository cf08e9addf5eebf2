"""Questions to runs: an answer per task, tokens as they come, searches, tables; and in a browser."""

import csv
import io
import json

import pytest

from regard.inference.predictor import Predictor, load_run
from regard.inference.search.build import build


def read(found, status=200):
    assert found.status == status, found.body
    return json.loads(found.body)


def predict(studio, name, text):
    return Predictor(load_run(studio.root / name)).predict(text)[0]


def test_a_run_says_what_it_can_be_asked(studio):
    found = read(studio.get("/api/asking", run="classification"))
    assert (found["task"], found["labels"]) == ("classification", ["bad", "good"])
    assert found["max_length"] == 256 and "a really fine one" in found["examples"]


def test_a_label_comes_with_the_probability_of_each(studio):
    found = read(studio.post("/api/ask", {"run": "classification", "text": "a fine film"}))
    expected = predict(studio, "classification", "a fine film")
    assert found["answer"]["text"] == expected.text
    assert found["answer"]["probabilities"] == pytest.approx(expected.probabilities, abs=1e-5)
    assert found["alternatives"] == [] and "ids" not in found["answer"]


def test_a_translation_comes_with_others_the_likeliest_first(studio):
    found = read(studio.post("/api/ask", {"run": "translation", "text": "a h k", "best": 3}))
    shares = [one["probability"] for one in found["alternatives"]]
    assert 1 < len(shares) <= 3 and shares == sorted(shares, reverse=True) and shares[0] < 1
    assert found["alternatives"][0]["text"] == found["answer"]["text"]


def test_a_continuation_comes_token_by_token_with_its_candidates(studio):
    asked = {"run": "language-modelling", "text": "a b", "tokens": 7, "temperature": 0}
    found = studio.post("/api/complete", asked)
    events = [part.removeprefix("data: ") for part in found.body.decode().split("\n\n") if part]
    parts = [json.loads(event) for event in events[:-1]]
    tokens = [token for part in parts for token in part.get("tokens", ())]
    assert events[-1] == "[DONE]" and len(parts) > 2 and len(tokens) <= 7
    for token in tokens:
        shares = [share for _, share in token["candidates"]]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1 + 1e-6
        assert token["token"] == token["candidates"][0][0]  # greedy takes the likeliest
        assert token["probability"] == pytest.approx(shares[0])


def test_only_language_models_continue_and_only_indexes_are_searched(studio):
    asked = {"run": "classification", "text": "a"}
    assert "completions need" in read(studio.post("/api/complete", asked), 422)["error"]["message"]
    assert "only an index" in read(studio.post("/api/search", asked), 422)["error"]["message"]


def test_an_index_is_searched(studio):
    corpus = studio.root.parent / "corpus.txt"
    corpus.write_text("a red apple\n\na green pear\n\na blue plum\n")
    build(None, corpus, studio.root / "fruit")
    found = read(studio.post("/api/search", {"run": "fruit", "text": "pear", "k": 2}))
    assert found["results"][0]["snippet"] == "a green pear"
    assert read(studio.get("/api/asking", run="fruit"))["documents"] == 3


def test_a_table_keeps_its_columns_and_gets_the_answers(studio):
    content = 'id;text\n7;"a fine film; really"\n8;a poor one\n'
    found = read(
        studio.post(
            "/api/table", {"run": "classification", "name": "Asked.CSV", "content": content}
        )
    )
    rows = list(csv.DictReader(io.StringIO(found["content"]), delimiter=";"))
    assert [row["id"] for row in rows] == ["7", "8"] and found["name"] == "Asked-answered.csv"
    expected = predict(studio, "classification", "a fine film; really")
    assert rows[0]["answer"] == expected.text
    assert found["shown"][0] == ["a fine film; really", rows[0]["answer"], rows[0]["probability"]]


def test_every_line_of_a_text_is_answered(studio):
    content = 'a fine film\n\n"a poor one, says he"\n'
    found = read(
        studio.post("/api/table", {"run": "classification", "name": "x.txt", "content": content})
    )
    rows = list(csv.DictReader(io.StringIO(found["content"])))
    assert [row["text"] for row in rows] == content.splitlines()
    assert not rows[1]["answer"] and rows[2]["answer"] in ("good", "bad")


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "../a.csv", "a.csv/../../b.xlsx"])
def test_other_files_are_refused_or_read_by_their_ending_alone(studio, name):
    found = studio.post(
        "/api/table", {"run": "classification", "name": name, "content": "text\na fine film\n"}
    )
    assert found.status == (200 if name.endswith(".csv") else 422)


def test_unknown_fields_and_large_wishes_are_refused(studio):
    for more in ({"best": 1000}, {"file": "/etc/passwd"}, {"text": None}):
        asked = {"run": "translation", "text": "a", **more}
        assert studio.post("/api/ask", asked).status == 422


def test_asking_in_the_browser_keeps_the_question_in_the_address(page):
    page.visit("/ask?run=classification")
    page.get_by_label("Text").fill("a really fine one")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".answers .bars")
    assert page.locator(".answers .answer").inner_text() in ("good", "bad")
    assert "text=a+really+fine+one" in page.url
    page.reload()
    page.wait_for_selector(".answers .bars")
    page.get_by_role("link", name="Explain this answer").click()
    page.wait_for_selector("text=Attention weights")
    assert "/explain?run=classification&text=a+really+fine+one" in page.url


def test_tokens_of_a_continuation_show_what_else_could_have_stood_there(page):
    page.visit("/ask?run=language-modelling&text=a+b&temperature=0&tokens=5")
    token = page.locator(".token").first
    token.hover()
    page.wait_for_selector("text=Likeliest tokens here")
    assert page.locator(".candidates .bars > div").count() == 5


def test_a_file_is_answered_in_the_browser_and_downloaded(page, tmp_path):
    (tmp_path / "films.tsv").write_text("text\tyear\na fine film\t1937\n")
    page.visit("/ask?run=classification")
    page.wait_for_selector("text=A whole file")
    page.get_by_label("File").set_input_files(tmp_path / "films.tsv")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download films-answered.tsv").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "text\tyear\tanswer\tprobability" and lines[1].startswith(
        "a fine film\t1937\t"
    )
