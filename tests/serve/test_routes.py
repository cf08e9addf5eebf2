"""The own API and the routes of operation, as a client sees them."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from regard.inference.predictor import Predictor
from regard.run import Run
from regard.serve.refusal import Refusal

from .conftest import KEEPSAKES

FINE = {"run": "classification", "texts": ["a really fine one"]}


def test_predict_answers_as_the_run_does(site):
    answer = site.post("/api/predict", FINE).json()
    (told,) = Predictor(Run(KEEPSAKES / "classification")).predict("a really fine one")
    (found,) = answer["answers"]
    assert (answer["run"], answer["task"]) == ("classification", "classification")
    assert found["text"] == told.text == "good"
    assert found["probability"] == pytest.approx(math.exp(told.log_probability))
    assert found["probabilities"] == pytest.approx(told.probabilities)
    assert answer["usage"]["texts"] == 1 and answer["usage"]["tokens"] > 2


def test_a_single_text_and_no_text_are_answered_too(site):
    single = {**FINE, "texts": "a really fine one"}
    assert site.post("/api/predict", single).json() == site.post("/api/predict", FINE).json()
    assert site.post("/api/predict", {**FINE, "texts": []}).json()["answers"] == []


@pytest.mark.parametrize("run", ["classification", "translation", "language-modelling"])
def test_evidence_is_an_attribution_with_its_test_or_says_chance(site, run):
    asked = {"run": run, "texts": ["a fine film"], "explain": True}
    (answer,) = site.post("/api/predict", asked).json()["answers"]
    evidence = answer["evidence"]
    if evidence in ("no better than chance", "too few words to measure"):
        return
    scores = evidence["attribution"]["scores"]
    assert len(scores[0]) == len(evidence["attribution"]["words"])
    erasure = evidence["erasure"]
    if run == "classification":
        assert 0 <= erasure["without"]["probability"] <= 1
        assert 0 <= erasure["alone"]["probability"] <= 1
    else:
        assert any(one["dependent"] and one["drop"] > 0 for one in erasure["outputs"])
    assert "depend" in evidence["sentence"]
    assert ("alignment" in evidence) == (run == "translation")


def test_an_alignment_links_each_word_written_to_the_one_it_attends_to(site):
    from regard.explain.explain import ExplainOptions, explain
    from regard.serve.evidence import align

    found = explain(Run(KEEPSAKES / "translation"), "a b c d", None, ExplainOptions())
    told = align(found)
    weights = found.shown.select(found.trace)
    assert told["source"] == ["a", "b", "c", "d", "</s>"]
    assert len(told["links"]) == len(told["target"])
    for target, source, weight in told["links"]:
        assert weight == weights[target].max() == weights[target, source]


def test_explain_gives_every_map(site):
    asked = {"run": "translation", "text": "a b c", "attribution": "occlusion", "head": "mean"}
    found = site.post("/api/explain", asked).json()
    assert found["shown"] == {"layer": 1, "head": None}
    assert found["attribution"]["name"] == "occlusion"
    assert set(found["others"]) == {"encoder", "decoder"}


def test_runs_are_listed_with_scores_cost_and_card(site):
    runs = site.get("/api/runs").json()["runs"]
    assert [run["name"] for run in runs] == ["translation", "classification", "language-modelling"]
    one = site.get("/api/runs/classification").json()
    assert one["labels"] == ["bad", "good"] and one["cost"]["steps"] == 30
    assert one["scores"]["split"] == "valid" and 0 <= one["scores"]["accuracy"] <= 1
    assert "classification" in one["card"] and len(one["fingerprint"]) == 64


@pytest.mark.parametrize(
    ("path", "body", "status", "kind", "param"),
    [
        ("/api/predict", {"texts": ["a"]}, 422, "invalid", "run"),
        ("/api/predict", {"run": "nobody", "texts": ["a"]}, 404, "not_found", "run"),
        ("/api/predict", {"run": "classification"}, 422, "invalid", "texts"),
        ("/api/predict", {**FINE, "loud": True}, 422, "invalid", "loud"),
        ("/api/predict", {**FINE, "texts": ["a"] * 65}, 413, "too_large", "texts"),
        ("/api/predict", {"run": "translation", "texts": ["a " * 999]}, 422, "invalid", "texts[0]"),
        ("/api/explain", {"run": "translation", "text": " "}, 422, "invalid", "texts[0]"),
        (
            "/api/explain",
            {"run": "translation", "text": "a", "head": "9.9"},
            422,
            "invalid",
            "texts[0]",
        ),
        ("/api/explain", {"run": "translation", "text": "a", "label": "x"}, 422, "invalid", None),
        ("/api/search", {"query": "a"}, 404, "not_found", "run"),
        ("/api/search", {"query": "a", "index": "translation"}, 422, "invalid", "texts[0]"),
        ("/api/nothing", {}, 404, "not_found", None),
        ("/api/runs", {}, 405, "method", None),
    ],
)
def test_a_wrong_request_is_refused_with_its_field(site, path, body, status, kind, param):
    answer = site.post(path, body)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (status, kind), error
    assert error["param"] == (param or error["param"]) and error["message"].endswith(".")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"a"', b"\xff", b"[" * 40_000, b'{"a":1e999}'])
def test_what_is_no_json_object_is_refused(site, body):
    answer = site.send(
        "POST", "/api/predict", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["kind"] == "invalid"


def test_readiness_asks_a_canary_and_stopping_is_not_ready(site, engine, monkeypatch):
    found = site.get("/readyz")
    assert found.status_code == 200
    runs = found.json()["runs"]
    assert runs["classification"] == {"canary": "right", "answer": "stored"}
    monkeypatch.setattr(engine, "draining", True)
    stopping = site.get("/readyz")
    assert stopping.status_code == 503 and stopping.headers["connection"] == "close"
    assert site.get("/healthz").status_code == 200


def test_a_wrong_canary_is_not_ready(site, engine, monkeypatch):
    assert site.get("/readyz").status_code == 200
    known = engine.canaries.known
    wrong = known["classification"]._replace(answer="bad")
    monkeypatch.setitem(known, "classification", wrong)
    engine.canaries.at = float("-inf")
    found = site.get("/readyz")
    assert found.status_code == 503
    assert found.json()["runs"]["classification"]["canary"] == "wrong"
    engine.canaries.at = float("-inf")


def test_metrics_are_read_by_prometheus_and_hold_no_text(site):
    site.post("/api/predict", {**FINE, "texts": ["secretword fine"]})
    site.get("/api/nothing/secretpath")
    answer = site.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {one.name: one for one in text_string_to_metric_families(answer.text)}
    expected = {
        *("regard_requests", "regard_request_seconds", "regard_queue_seconds"),
        *("regard_batch_tokens", "regard_batch_texts", "regard_queue_texts"),
        *("regard_refused", "regard_tokens"),
    }
    assert expected <= set(families)
    counted = {tuple(s.labels.values()): s.value for s in families["regard_requests"].samples}
    assert counted["/api/predict", "classification", "2xx"] >= 1
    buckets = [s for s in families["regard_batch_texts"].samples if s.name.endswith("_bucket")]
    assert [b.value for b in buckets] == sorted(b.value for b in buckets)
    assert "secret" not in answer.text


def test_the_page_of_the_api_needs_nothing_from_elsewhere(site):
    page = site.get("/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in ("/api/predict", "/api/explain", "/api/search", "/api/runs", "/metrics"):
        assert path in page.text
    assert "http" not in page.text.replace("httptools", "") and "<script" not in page.text


def test_a_refusal_says_nothing_of_itself_in_a_log():
    assert "secret" not in repr(Refusal(422, "invalid", "secret text"))
