"""Text Embeddings Inference's API, and the ranks and labels of vLLM, Jina and Cohere.

A run of retrieval, one that scores pairs of sentences, a classifier, a language model, an index.
"""

import math

import numpy as np
import pytest
from huggingface_hub import InferenceClient

from regard.inference.predictor import Predictor
from regard.run import Run
from regard.serve.app import ServeSettings
from regard.serve.engine import Engine
from regard.serve.settings import EngineSettings

from .conftest import KEEPSAKES, WORDS, listen, make_site


def ready(call, traineds):
    engine = Engine(traineds, EngineSettings(workers=1, request_texts=8))
    call(engine.start())
    return engine


@pytest.fixture(scope="module")
def several(call, trained):
    kept = [KEEPSAKES / name for name in ("classification", "language-modelling", "translation")]
    engine = ready(
        call,
        [
            trained / "runs" / "search",
            trained / "runs" / "pairs",
            trained / "indexes" / "indexed",
            *kept,
        ],
    )
    yield make_site(engine, call, ServeSettings())
    call(engine.stop())


@pytest.fixture
def post(several):
    def send(path, **body):
        answer = several.post(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return send


@pytest.fixture
def vectors(trained):
    """Give the vectors of the run itself."""
    run = Predictor(Run(trained / "runs" / "search"))
    return lambda *texts: run.encode(texts)


def test_the_stock_client_gets_vectors_and_similarities(several, call, vectors, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # set by other tests
    with listen(several.app, call) as address:
        client = InferenceClient(f"{address}/embed")
        found = client.feature_extraction("soup bread", normalize=True)
        assert np.allclose(found, vectors("soup bread"), atol=1e-6)
        compare = InferenceClient(f"{address}/similarity")
        near = compare.sentence_similarity("soup", ["soup", "boat wind"])
        assert near[0] == pytest.approx(1, abs=1e-5) and near[1] < near[0]


def test_texts_and_ids_are_embedded_whole_in_any_form(post, several, trained, vectors):
    expected = vectors("soup bread", "boat")
    assert np.allclose(post("/embed", inputs=["soup bread", "boat"]), expected, atol=1e-6)
    tokenizer = Run(trained / "runs" / "search").tokenizer
    ids = tokenizer.encode("soup bread")
    assert np.allclose(post("/embed", inputs=ids), expected[:1], atol=1e-6)
    assert np.allclose(post("/embed", inputs=[ids, "boat"]), expected, atol=1e-6)
    short = np.asarray(post("/embed", inputs="boat", dimensions=5))
    assert short.shape == (1, 5) and np.linalg.norm(short) == pytest.approx(1)
    raw = np.asarray(post("/embed", inputs="a b", model="language-modelling", normalize=False))
    own = Predictor(Run(KEEPSAKES / "language-modelling")).encode(["a b"])
    assert np.allclose(raw, own, atol=1e-5) and abs(np.linalg.norm(raw) - 1) > 0.01


def test_a_text_that_is_too_long_is_cut_only_if_that_is_asked_for(post, several, vectors):
    words = ["soup", "bread", "boat", "wind"] * 12
    asked = {"inputs": " ".join(words)}
    refused = several.post("/embed", asked)
    assert refused.status_code == 413 and refused.json()["error_type"] == "Validation"
    cut = post("/embed", **asked, truncate=True)
    most = 38  # of 40, two are [CLS] and [SEP]
    assert np.allclose(cut, vectors(" ".join(words[:most])), atol=1e-6)
    left = post("/embed", **asked, truncate=True, truncation_direction="Left")
    assert np.allclose(left, vectors(" ".join(words[-most:])), atol=1e-6)
    assert not np.allclose(left, cut, atol=1e-3)
    openai = several.post("/v1/embeddings", {"model": "search", "input": asked["inputs"]})
    assert openai.status_code == 400 and openai.json()["error"]["param"] == "input"


def test_embed_all_gives_a_state_for_each_token_with_the_special_ones(post, trained):
    run = Run(trained / "runs" / "search")
    (states,) = post("/embed_all", inputs="soup bread")
    (expected,) = run.task.token_states(run.model, ["soup bread"])
    assert len(states) == len(run.tokenizer.encode("soup bread")) + 2
    assert np.allclose(states, expected.numpy(), atol=1e-6)


def test_a_flat_list_of_two_texts_is_one_pair(post, trained):
    run = Predictor(Run(trained / "runs" / "pairs"))
    a, b = "soup bread salt", "salt\tand wind"
    score = run.predict(f"{a}\tsalt and wind")[0].score
    (one,) = post("/predict", inputs=[a, b])
    assert one == {"label": "score", "score": pytest.approx(score, abs=1e-6)}
    batch = post("/predict", inputs=[["a fine one"], [a, b]])
    assert batch[1] == [one] and [found["label"] for found in batch[0]] == ["good", "bad"]
    assert post("/predict", inputs=[["a fine one"]]) == [post("/predict", inputs="a fine one")]
    assert post("/predict", inputs=["a fine one"]) == post("/predict", inputs="a fine one")


def test_raw_scores_are_logits(post):
    shares = post("/predict", inputs="a fine one")
    raw = post("/predict", inputs="a fine one", raw_scores=True)
    soft = [math.exp(one["score"]) for one in raw]
    assert [one["score"] for one in shares] == pytest.approx([one / sum(soft) for one in soft])
    assert sum(one["score"] for one in shares) == pytest.approx(1) and raw[0]["score"] < 0


def test_a_run_that_scores_pairs_ranks_texts_by_its_score(post, trained):
    query, texts = "soup bread", ["boat wind sail", "bread soup", "song"]
    run = Run(trained / "runs" / "pairs")
    low, high = run.recipe.data.score_range
    found = Predictor(run).predict([f"{query}\t{text}" for text in texts])
    shares = [(one.score - low) / (high - low) for one in found]
    ranked = post("/rerank", query=query, texts=texts, return_text=True)
    assert [one["index"] for one in ranked] == sorted(range(3), key=lambda n: -shares[n])
    for one in ranked:
        assert one["score"] == pytest.approx(shares[one["index"]], abs=1e-6)
        assert one["text"] == texts[one["index"]]
    raw = post("/rerank", query=query, texts=texts, raw_scores=True)
    for one in raw:
        logit = math.log(shares[one["index"]] / (1 - shares[one["index"]]))
        assert one["score"] == pytest.approx(logit, abs=1e-4)


@pytest.mark.parametrize("name", ["search", "indexed"])
def test_an_encoder_ranks_texts_by_the_cosine(post, vectors, name):
    query, texts = "soup bread", ["boat wind sail", "bread soup", "song"]
    cosines = (vectors(*texts) @ vectors(query)[0]).tolist()
    found = post("/v1/rerank", model=name, query=query, documents=[texts[0], {"text": texts[1]}])
    assert found["model"] == name and found["id"].startswith("rerank-")
    assert found["usage"]["total_tokens"] >= 7
    best = found["results"][0]
    assert best["index"] == int(cosines[1] > cosines[0])
    assert best["document"] == {"text": texts[best["index"]]}
    assert best["relevance_score"] == pytest.approx(cosines[best["index"]], abs=1e-6)
    few = post("/v1/rerank", model=name, query=query, documents=texts, top_n=2)["results"]
    assert [one["index"] for one in few] == sorted(range(3), key=lambda n: -cosines[n])[:2]
    bare = post("/rerank", model=name, query=query, texts=texts, raw_scores=True)
    assert bare[0] == {"index": few[0]["index"], "score": few[0]["relevance_score"]}
    quiet = {"model": name, "query": query, "documents": texts, "return_documents": False}
    assert "document" not in post("/v1/rerank", **quiet)["results"][0]


def test_classify_gives_every_probability_in_the_order_of_the_labels(post):
    found = post("/classify", model="classification", input=["a fine one", "a dull plot"])
    probabilities = (
        Predictor(Run(KEEPSAKES / "classification")).predict("a fine one")[0].probabilities
    )
    first = found["data"][0]
    assert (first["index"], first["label"], first["num_classes"]) == (0, "good", 2)
    assert first["probs"] == pytest.approx(list(probabilities.values()))
    assert found["object"] == "list" and found["usage"]["total_tokens"] > 4


def test_the_two_kinds_of_tokenize_are_told_apart_by_the_name_of_the_text(post, trained):
    tokenizer = Run(KEEPSAKES / "classification").tokenizer
    text = "a fine é"
    ids = tokenizer.encode(text)
    ours = post("/tokenize", prompt=text, model="classification")
    assert ours["tokens"] == ids
    (tokens,) = post("/tokenize", inputs=text, model="classification")
    assert [one["id"] for one in tokens] == [4, *ids, 5]
    first, *inner, last = tokens
    assert first == {"id": 4, "text": "[CLS]", "special": True, "start": None, "stop": None}
    assert last["special"] and not any(one["special"] for one in inner)
    assert "".join(one["text"] for one in inner) == text
    assert all(text[one["start"] : one["stop"]] == one["text"] for one in inner)
    assert inner[0]["start"] == 0 and inner[-1]["stop"] == len(text)
    plain = post("/tokenize", inputs=[text], add_special_tokens=False, model="classification")
    assert plain == [inner]
    for name, ends in (("language-modelling", (3, None)), ("translation", (None, 3))):
        (marked,) = post("/tokenize", inputs=text, model=name)
        assert (marked[0]["id"], marked[-1]["id"])[ends[0] is None] == 3
        assert sum(one["special"] for one in marked) == 1


def test_decode_gives_texts_with_special_tokens_if_asked(post):
    ids = Run(KEEPSAKES / "classification").tokenizer.encode("a fine one")
    asked = {"ids": [4, *ids, 5], "model": "classification"}
    assert post("/decode", **asked) == ["a fine one"]
    assert post("/decode", **asked, skip_special_tokens=False) == ["[CLS]a fine one[SEP]"]
    assert post("/decode", ids=[ids, ids[:1]], model="classification")[0] == "a fine one"


def test_info_says_what_a_run_is_for(several):
    def told(name):
        return several.get(f"/info?model={name}").json()

    assert told("search")["model_type"] == {"embedding": {"pooling": "mean"}}
    assert told("pairs")["model_type"]["reranker"]["id2label"] == {"0": "score"}
    classifier = told("classification")
    assert classifier["model_type"]["classifier"]["label2id"] == {"bad": 0, "good": 1}
    assert (classifier["max_client_batch_size"], classifier["auto_truncate"]) == (8, False)
    assert len(classifier["model_sha"]) == 64 and classifier["max_input_length"] == 256
    assert several.get("/info?model=translation").status_code == 424


def test_answers_say_what_they_cost(several):
    answer = several.post("/embed", {"inputs": ["soup bread", "boat"]})
    costs = {name: value for name, value in answer.headers.items() if name.startswith("x-")}
    assert costs["x-compute-characters"] == "14" and int(costs["x-compute-tokens"]) >= 3
    times = ("compute", "total", "tokenization", "queue", "inference")
    found = {name: int(costs[f"x-{name}-time"]) for name in times}
    assert found["total"] >= found["inference"] >= 0
    assert "x-compute-tokens" not in several.get("/healthz").headers


REFUSED = [
    ("/embed", {"inputs": []}, 400, "Empty"),
    ("/embed", {"inputs": ["a", " "]}, 400, "Empty"),
    ("/embed", {"inputs": ["a"] * 9}, 413, "Validation"),
    ("/embed", {"inputs": "a", "dimensions": 13}, 422, "Validation"),
    ("/embed", {"inputs": [999_999]}, 422, "Validation"),
    ("/embed", {"inputs": "a", "prompt_name": "query"}, 422, "Validation"),
    ("/embed", {"inputs": "a", "model": "pairs"}, 424, "Backend"),
    ("/embed", {"inputs": "a", "model": "nothing"}, 404, "Validation"),
    ("/predict", {"inputs": "a", "model": "search"}, 424, "Backend"),
    ("/predict", {"inputs": ["a", "b", "c"]}, 422, "Validation"),
    ("/predict", {"inputs": [["a"], "b"]}, 422, "Validation"),
    ("/predict", {"inputs": []}, 400, "Empty"),
    ("/predict", {"inputs": [" ".join(WORDS * 4), "b"]}, 413, "Validation"),
    ("/rerank", {"query": "a", "texts": []}, 400, "Empty"),
    ("/rerank", {"query": " ", "texts": ["a"]}, 422, "Validation"),
    ("/rerank", {"query": "a", "texts": [""]}, 422, "Validation"),
    ("/rerank", {"query": "a", "texts": ["a"], "model": "translation"}, 424, "Backend"),
    ("/similarity", {"inputs": {"source_sentence": "a", "sentences": []}}, 400, "Empty"),
    ("/tokenize", {"inputs": 3}, 422, "Validation"),
    ("/tokenize", {"inputs": []}, 400, "Empty"),
    ("/decode", {"ids": [-1]}, 422, "Validation"),
]


@pytest.mark.parametrize(("path", "body", "status", "kind"), REFUSED)
def test_refusals_have_the_statuses_and_the_shape_of_this_api(several, path, body, status, kind):
    answer = several.post(path, body)
    assert answer.status_code == status, answer.text
    error = answer.json()
    assert error.keys() == {"error", "error_type"} and error["error_type"] == kind
    assert isinstance(error["error"], str) and len(error["error"]) > 10


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/v1/rerank", {"query": "a", "documents": []}, "documents"),
        ("/v1/rerank", {"query": "a", "documents": ["a"], "model": "translation"}, "model"),
        ("/v1/rerank", {"query": "a", "documents": [""], "model": "pairs"}, "documents"),
        ("/classify", {"input": []}, "input"),
        ("/classify", {"input": "a", "model": "search"}, "model"),
        ("/v1/embeddings", {"input": "a", "model": "translation"}, "model"),
    ],
)
def test_refusals_beside_openai_have_its_shape(several, path, body, param):
    answer = several.post(path, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param


def test_two_that_fit_must_be_named(call, trained):
    engine = Engine([trained / "runs" / "search"], EngineSettings(workers=1))
    engine.folders["twin"] = trained / "runs" / "search"
    call(engine.start())
    try:
        site = make_site(engine, call, ServeSettings())
        refused = site.post("/embed", {"inputs": "a"})
        assert refused.status_code == 422 and "search, twin" in refused.json()["error"]
        assert site.post("/embed", {"inputs": "a", "model": "twin"}).status_code == 200
    finally:
        call(engine.stop())
