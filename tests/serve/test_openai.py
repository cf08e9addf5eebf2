"""The OpenAI dialect as its stock client sees it, over a real connection."""

import asyncio
import json
import time
from base64 import b64decode

import httpx
import numpy as np
import openai
import pytest

from regard.inference.predictor import Predictor
from regard.run import Run
from regard.serve.app import make_app
from regard.serve.completion_request import CompletionRequest
from regard.serve.protocol import Prompt
from regard.text.tokenizer import Tokenizer

from .conftest import KEEPSAKES, listen

LM = "language-modelling"
JSON = {"content-type": "application/json"}
TOKENIZER = Tokenizer.load(KEEPSAKES / LM / "tokenizer.json")


@pytest.fixture(scope="module")
def address(engine, call):
    """Serve on a free port."""
    with listen(make_app(engine), call) as address:
        yield address


@pytest.fixture(scope="module")
def client(address):
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


def complete(client, prompt="a b c", **more):
    return client.completions.create(model=LM, prompt=prompt, **{"temperature": 0, **more})


def test_models_are_listed_and_described(client):
    models = {model.id: model for model in client.models.list()}
    assert set(models) == {"translation", "classification", LM}
    one = client.models.retrieve(LM)
    assert one == models[LM] and (one.object, one.owned_by) == ("model", "regard")
    assert one.created > 10**9 and one.max_model_len == 16


def test_a_completion_has_every_field(client):
    found = complete(client, max_tokens=5)
    assert found.object == "text_completion" and found.model == LM
    assert found.id.startswith("cmpl-") and abs(found.created - time.time()) < 60
    (choice,) = found.choices
    assert (choice.index, choice.logprobs, choice.finish_reason) == (0, None, "length")
    ids = TOKENIZER.encode("a b c")
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (len(ids), 5)
    assert found.usage.total_tokens == len(ids) + 5
    assert len(found.system_fingerprint) == 16
    assert complete(client, max_tokens=5).choices == found.choices


def test_every_form_of_a_prompt_gives_the_same(client):
    texts = ["a b c", "g é", ""]
    ids = [TOKENIZER.encode(text) for text in texts]
    several = complete(client, texts)
    assert [choice.index for choice in several.choices] == [0, 1, 2]
    alone = [complete(client, text).choices[0].text for text in texts]
    assert [choice.text for choice in several.choices] == alone
    assert complete(client, ids[0]).choices[0].text == alone[0]
    assert [one.text for one in complete(client, ids[:2]).choices] == alone[:2]
    assert several.usage.prompt_tokens == sum(map(len, ids))


def test_choices_are_numbered_prompt_by_prompt_and_drawn_apart(client):
    asked = {"n": 3, "temperature": 1.5, "seed": 7, "max_tokens": 9}
    found = complete(client, ["a b", "k"], **asked)
    assert [choice.index for choice in found.choices] == list(range(6))
    texts = [choice.text for choice in found.choices]
    assert len(set(texts[:3])) == 3
    assert texts[:3] == [one.text for one in complete(client, "a b", **asked).choices]
    assert texts[3:] == [one.text for one in complete(client, "k", **asked).choices]
    assert found.usage.prompt_tokens == sum(len(TOKENIZER.encode(text)) for text in ("a b", "k"))
    assert 6 <= found.usage.completion_tokens <= 54


def test_a_seed_repeats_itself_and_no_seed_does_not(client):
    asked = {"temperature": 2, "max_tokens": 16}
    seeded = {complete(client, seed=-5, **asked).choices[0].text for _ in range(3)}
    free = {complete(client, **asked).choices[0].text for _ in range(5)}
    assert len(seeded) == 1 and len(free) > 1
    together = complete(client, ["a b c"] * 5, **asked)
    assert len({choice.text for choice in together.choices}) > 1


def test_a_small_nucleus_is_greedy(client):
    greedy = complete(client).choices[0].text
    for more in ({"top_p": 0}, {"top_p": 1e-9}, {"temperature": 1e-9}):
        assert complete(client, **{"temperature": 2, **more}).choices[0].text == greedy


def test_stop_strings_are_cut_out(client):
    plain = complete(client, max_tokens=9).choices[0].text
    stop = plain[4:7]
    for given in (stop, ["no such thing", stop]):
        choice = complete(client, max_tokens=9, stop=given).choices[0]
        assert (choice.text, choice.finish_reason) == (plain[: plain.index(stop)], "stop")


def test_echo_with_logprobs(client):
    found = complete(client, "a b c", echo=True, logprobs=5, max_tokens=2).choices[0]
    listed = found.logprobs
    assert found.text.startswith("a b c") and "".join(listed.tokens) == found.text
    assert listed.token_logprobs[0] is None and all(p < 0 for p in listed.token_logprobs[1:])
    assert listed.top_logprobs[0] is None
    assert all(5 <= len(top) <= 6 for top in listed.top_logprobs[1:])
    for token, offset in zip(listed.tokens, listed.text_offset, strict=True):
        assert found.text[offset:].startswith(token)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"n": 3, "seed": 3, "temperature": 2, "max_tokens": 15},
        {"n": 2, "seed": 5, "temperature": 1.5, "echo": True, "logprobs": 2},
        {"stop": [" k k"], "max_tokens": 9},
        {"max_tokens": 0, "echo": True},
    ],
)
def test_a_stream_is_the_answer_in_parts(client, more):
    whole = complete(client, ["a b é", "g"], **more)
    options = {"include_usage": True}
    chunks = list(complete(client, ["a b é", "g"], stream=True, stream_options=options, **more))
    *parts, last = chunks
    assert last.choices == [] and last.usage == whole.usage
    assert all(part.usage is None and part.id == last.id for part in parts)
    for choice in whole.choices:
        own = [c for part in parts for c in part.choices if c.index == choice.index]
        assert "".join(part.text for part in own) == choice.text
        assert [part.finish_reason for part in own[:-1]] == [None] * (len(own) - 1)
        assert own[-1].finish_reason == choice.finish_reason
        if choice.logprobs is not None:
            tokens = [token for part in own for token in part.logprobs.tokens]
            assert tokens == choice.logprobs.tokens
            log_p = [p for part in own for p in part.logprobs.token_logprobs]
            assert log_p == pytest.approx(choice.logprobs.token_logprobs, abs=1e-5)


def test_a_stream_is_sent_while_it_grows(address):
    body = {"model": LM, "prompt": "k", "stream": True, "max_tokens": 9, "temperature": 0}
    with httpx.stream("POST", f"{address}/v1/completions", json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = list(answer.iter_lines())
    assert events[-2:] == ["data: [DONE]", ""] and len(events) > 14
    assert all(line == "" or line.startswith("data: ") for line in events)
    first = json.loads(events[0].removeprefix("data: "))
    assert "usage" not in first and first["choices"][0]["finish_reason"] is None


def test_a_client_that_leaves_a_stream_takes_its_work_along(address, engine):
    body = {"model": LM, "prompt": ["k"] * 32, "stream": True, "max_tokens": 9000}
    begin = time.monotonic()
    with httpx.stream("POST", f"{address}/v1/completions", json=body | {"temperature": 0}) as one:
        next(one.iter_lines())
    while any(worker.done is not None for worker in engine.workers):
        assert time.monotonic() - begin < 8, "the rows are still in a batch"
        time.sleep(0.02)
    assert engine.queues.texts == 0


def test_an_error_within_a_stream_is_raised_by_the_client(client, engine, monkeypatch):
    from regard.serve.refusal import Refusal

    async def broken(*_given, take_part, **_more):
        take_part(0, {"text": "a", "logprobs": None, "finish_reason": None, "at": 0})
        raise Refusal(422, "deadline", "the answer took too long.")

    monkeypatch.setattr(engine, "ask", broken)
    stream = complete(client, stream=True)
    assert next(stream).choices[0].text == "a"
    with pytest.raises(openai.APIError, match="took too long"):
        next(stream)


def test_a_worker_that_begins_again_repeats_nothing(client, engine, monkeypatch):
    whole = {"text": "abcdef", "logprobs": None, "finish_reason": "stop", "written": 3}

    async def twice(*_given, take_part, **_more):
        part = {"logprobs": None, "finish_reason": None}
        take_part(0, {**part, "text": "ab", "at": 0})
        take_part(0, {**part, "text": "a", "at": 0})
        take_part(0, {**part, "text": "bc", "at": 1})
        take_part(0, {**part, "text": "cd", "at": 2})
        return [whole]

    monkeypatch.setattr(engine, "ask", twice)
    texts = [chunk.choices[0].text for chunk in complete(client, stream=True)]
    assert texts == ["ab", "cd", "ef"]


def test_embeddings_are_the_vectors_of_the_run_at_length_1(client):
    texts = ["a fine film", "dull", "the plot was great"]
    expected = Predictor(Run(KEEPSAKES / "classification")).encode(texts)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for form in ("float", "base64"):
        found = client.embeddings.create(model="classification", input=texts, encoding_format=form)
        vectors = [one.embedding for one in found.data]
        if form == "base64":
            vectors = [np.frombuffer(b64decode(vector), "<f4") for vector in vectors]
        assert np.asarray(vectors) == pytest.approx(expected, abs=1e-6)
        assert [one.index for one in found.data] == [0, 1, 2]
    usual = client.embeddings.create(model="classification", input=texts[0])
    assert usual.data[0].embedding == pytest.approx(expected[0], abs=1e-6)
    tokenizer = Tokenizer.load(KEEPSAKES / "classification" / "tokenizer.json")
    ids = tokenizer.encode(texts[0])
    assert usual.usage.prompt_tokens == usual.usage.total_tokens == len(ids)
    by_ids = client.embeddings.create(model="classification", input=ids)
    assert by_ids.data[0].embedding == pytest.approx(expected[0], abs=1e-6)
    both = client.embeddings.create(model="classification", input=[ids, ids])
    assert len(both.data) == 2
    short = client.embeddings.create(model="classification", input=texts[0], dimensions=5)
    cut = expected[0][:5] / np.linalg.norm(expected[0][:5])
    assert short.data[0].embedding == pytest.approx(cut, abs=1e-6)


def test_tokens_go_there_and_back(address):
    ids = TOKENIZER.encode("a é b")
    found = httpx.post(f"{address}/tokenize", json={"prompt": "a é b"}).json()
    assert found == {"count": len(ids) + 1, "max_model_len": 16, "tokens": [3, *ids]}
    plain = {"prompt": "a é b", "add_special_tokens": False, "model": LM}
    assert httpx.post(f"{address}/tokenize", json=plain).json()["tokens"] == ids
    back = httpx.post(f"{address}/detokenize", json={"tokens": [3, *ids]}).json()
    assert back == {"prompt": "a é b"}
    assert httpx.post(f"{address}/detokenize", json={"tokens": []}).json() == {"prompt": ""}
    info = httpx.get(f"{address}/tokenizer_info").json()
    assert (info["eos_token"], info["bos_token"], info["chat_template"]) == ("</s>", "</s>", None)
    special = {"prompt": info["eos_token"], "add_special_tokens": False}
    assert httpx.post(f"{address}/tokenize", json=special).json()["tokens"] == [3]
    other = {"prompt": "a b", "model": "translation"}
    assert 3 not in httpx.post(f"{address}/tokenize", json=other).json()["tokens"]


ERRORS = {
    400: openai.BadRequestError,
    404: openai.NotFoundError,
    413: openai.APIStatusError,
}


@pytest.mark.parametrize(
    ("more", "status", "param"),
    [
        ({"model": "nobody"}, 404, "model"),
        ({"model": "translation"}, 400, "model"),
        ({"presence_penalty": 1}, 400, "presence_penalty"),
        ({"frequency_penalty": -1}, 400, "frequency_penalty"),
        ({"logit_bias": {"5": 1}}, 400, "logit_bias"),
        ({"suffix": "end"}, 400, "suffix"),
        ({"best_of": 3}, 400, "best_of"),
        ({"n": 65}, 400, "n"),
        ({"n": 0}, 400, "n"),
        ({"prompt": ["a"] * 40, "n": 2}, 400, "n"),
        ({"prompt": []}, 400, "prompt"),
        ({"prompt": [[]]}, 400, "prompt"),
        ({"prompt": [-1]}, 400, "prompt"),
        ({"prompt": [[3, 99999]]}, 400, "prompt"),
        ({"prompt": "a " * 20_000}, 413, "prompt"),
        ({"prompt": 5}, 400, "prompt"),
        ({"max_tokens": -1}, 400, "max_tokens"),
        ({"max_tokens": 10**9}, 400, "max_tokens"),
        ({"logprobs": 6}, 400, "logprobs"),
        ({"temperature": 2.1}, 400, "temperature"),
        ({"top_p": 1.1}, 400, "top_p"),
        ({"stop": [""]}, 400, "stop"),
    ],
)
def test_a_wrong_request_is_refused_by_name(client, more, status, param):
    asked = {"model": LM, "prompt": "a", **more}
    with pytest.raises(ERRORS[status]) as refused:
        client.completions.create(**asked)
    assert refused.value.status_code == status
    error = refused.value.body
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error" and error["message"].endswith(".")
    assert error["param"] == param
    assert error["code"] is None or isinstance(error["code"], str)


def test_fields_of_no_effect_and_unknown_fields_are_ignored(client):
    usual = complete(client).choices
    idle = {"presence_penalty": 0, "logit_bias": {}, "suffix": None, "best_of": 1, "user": "me"}
    assert complete(client, **idle, extra_body={"min_p": 0.1, "ignore_eos": True}).choices == usual
    empty = dict.fromkeys(("max_tokens", "n", "stop", "top_p", "echo", "logprobs"))
    assert complete(client, **empty, extra_body={"stream": None}).choices == usual


@pytest.mark.parametrize("model", [LM, "nobody"])
def test_chat_is_refused_with_a_sentence(client, model):
    with pytest.raises(openai.BadRequestError, match="with a template"):
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "a"}])


@pytest.mark.parametrize(
    ("more", "status", "param"),
    [
        ({"model": "nobody"}, 404, "model"),
        ({"input": []}, 400, "input"),
        ({"input": ["a " * 900]}, 400, "input"),
        ({"input": ["a"] * 65}, 413, "input"),
        ({"dimensions": 9999}, 400, "dimensions"),
        ({"dimensions": 0}, 400, "dimensions"),
    ],
)
def test_wrong_embeddings_are_refused_by_name(client, more, status, param):
    asked = {"model": LM, "input": "a", **more}
    with pytest.raises(ERRORS[status]) as refused:
        client.embeddings.create(**asked)
    assert refused.value.status_code == status and refused.value.body["param"] == param


def test_refusals_of_the_gate_have_this_shape_too(site):
    found = site.post("/v1/completions", {"prompt": "x" * 60_000})
    assert found.status_code == 413
    assert found.json()["error"]["type"] == "invalid_request_error"
    unread = site.send("POST", "/v1/completions", content=b"{", headers=JSON)
    assert unread.status_code == 400 and unread.json()["error"]["code"] is None
    for path, field in (("/v1/completions", "prompt"), ("/v1/embeddings", "input")):
        half = b'{"model": "language-modelling", "%s": ["\\ud800"]}' % field.encode()
        refused = site.send("POST", path, content=half, headers=JSON)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, field)


def test_prompts_of_requests_with_other_limits_share_a_batch(engine, call):
    before = engine.metrics.batch_texts.count
    request = CompletionRequest(prompt="a", temperature=1.0)
    many = [Prompt((9, 10), 3 + n, n, ("k",) * (n % 2)) for n in range(24)]

    async def ask():
        asked = (engine.ask(LM, "complete", [one], request.options) for one in many)
        return await asyncio.gather(*asked)

    assert len(call(ask())) == 24
    assert engine.metrics.batch_texts.count - before < 12
