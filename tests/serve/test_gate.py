"""The gate: bodies, keys, clients that leave, logs."""

import asyncio

import pytest

from regard.serve.app import ServeSettings
from regard.serve.gate import GateSettings
from regard.serve.in_flight import InFlight
from regard.serve.keys import Keys

from .conftest import make_site

KEY = "a-key-of-enough-characters"


def request(site, call, messages, *, path="/api/predict", headers=()):
    """Play a client that sends these messages, slowly where one is a number of seconds."""
    queue, sent = list(messages), []

    async def receive():
        while queue and isinstance(queue[0], float):
            await asyncio.sleep(queue.pop(0))
        if queue:
            return queue.pop(0)
        return await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": list(headers),
        "http_version": "1.1",
        "scheme": "http",
        "server": ("here", 80),
    }
    call(site.app(scope, receive, send))
    return sent


def chunk(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_is_counted_while_it_is_read(site, call):
    sent = request(site, call, [chunk(b"x" * 30_000), chunk(b"x" * 30_000, more=False)])
    assert sent[0]["status"] == 413
    endless = [chunk(b"x" * 30_000)] * 1000
    assert request(site, call, endless)[0]["status"] == 413


def test_a_declared_size_is_refused_before_anything_is_read(site, call):
    sent = request(site, call, [], headers=[(b"content-length", b"999999999")])
    assert sent[0]["status"] == 413
    assert dict(sent[0]["headers"])[b"connection"] == b"close"


def test_a_slow_body_is_cut_off(engine, call):
    slow = make_site(engine, call, ServeSettings(GateSettings(read_timeout=0.05)))
    sent = request(slow, call, [chunk(b"{"), 0.2, chunk(b"}", more=False)])
    assert sent[0]["status"] == 408


def test_a_client_that_leaves_takes_its_work_along(site, engine, call, monkeypatch):
    waiting = []
    monkeypatch.setattr(engine, "_dispatch", lambda: waiting.append(engine.queues.texts))
    texts = ",".join('"a b c"' for _ in range(60)).encode()
    body = b'{"run":"language-modelling","texts":[' + texts + b"]}"
    headers = [(b"content-type", b"application/json")]
    gone = {"type": "http.disconnect"}
    sent = request(site, call, [chunk(body, more=False), 0.2, gone], headers=headers)
    assert sent == []
    assert waiting == [60] and engine.queues.texts == 0
    assert site.lines()[-1]["outcome"] == "disconnected"


def test_a_client_that_leaves_while_it_sends_is_noted(site, call):
    assert request(site, call, [chunk(b"{"), {"type": "http.disconnect"}]) == []
    assert site.lines()[-1]["outcome"] == "disconnected"


def test_the_log_has_no_text(site):
    site.post("/api/predict", {"run": "classification", "texts": ["secretword"]})
    site.post("/api/predict", {"run": "secretrun", "texts": ["secretword"]})
    site.post("/api/predict", {"secretfield": "secretword"})
    site.get("/secretpath?secretquery")
    lines = site.lines()
    assert "secret" not in str(lines)
    assert [line["status"] for line in lines] == [200, 404, 422, 404]
    assert lines[0]["route"] == "/api/predict" and lines[0]["tokens"] > 0
    assert lines[3]["route"] == "unmatched"


def test_an_unexpected_error_is_answered_and_logged_by_its_place(site, engine, monkeypatch):
    async def broken(*_given, **_more):
        raise RuntimeError("secretword")

    monkeypatch.setattr(engine, "ask", broken)
    answer = site.post("/api/predict", {"run": "classification", "texts": ["a"]})
    assert answer.status_code == 500 and "secretword" not in answer.text
    (line,) = site.lines()
    assert line["error"][0] == "RuntimeError" and "test_gate.py" in line["error"][-1]
    assert "secretword" not in str(line)


def test_keys_are_asked_for_but_not_by_health(engine, call, tmp_path):
    file = tmp_path / "keys.txt"
    file.write_text(f"# of the team\n{KEY}\nanother-key-of-enough-characters\n")
    site = make_site(engine, call, ServeSettings(GateSettings(), Keys.read(file)))
    assert site.get("/healthz").status_code == 200 and site.get("/readyz").status_code == 200
    for headers in ({}, {"authorization": f"Bearer {KEY}x"}, {"authorization": f"Basic {KEY}"}):
        for path in ("/api/runs", "/metrics", "/docs", "/nothing"):
            refused = site.get(path, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
    good = {"authorization": f"Bearer {KEY}"}
    assert site.get("/api/runs", headers=good).status_code == 200


@pytest.mark.parametrize("content", ["", "# nothing\n", "short\n"])
def test_a_file_without_good_keys_is_refused(tmp_path, content):
    file = tmp_path / "keys.txt"
    file.write_text(content)
    with pytest.raises(Exception, match="16 characters"):
        Keys.read(file)


def test_a_full_queue_refuses_before_the_body_is_read(site, engine, call, monkeypatch):
    monkeypatch.setattr(engine.queues, "texts", engine.settings.queue_texts)
    sent = request(site, call, [], headers=[(b"content-length", b"100")])
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 429 and headers[b"retry-after"] == b"1"
    assert b"connection" not in headers
    assert site.get("/healthz").status_code == 200
    assert site.lines()[0]["outcome"] == "4xx"


def test_the_wait_is_known_while_the_server_is_busy():
    now = [100.0]
    flow = InFlight(lambda: now[0])
    for _ in range(200):
        flow.begin()
    for _ in range(30):  # ten answers per second
        assert flow.wait == 0.0 or flow.count <= 200 - 16
        now[0] += 0.1
        flow.end()
    assert flow.count == 170 and flow.wait == pytest.approx(17, rel=0.05)
    now[0] += 3.0  # the longer nothing is answered, the longer it takes
    assert flow.wait > 30
    while flow.count >= 64:
        flow.end()
    assert flow.wait == 0.0
    for _ in range(100):  # a burst after a pause: the old rate says nothing
        flow.begin()
    now[0] += 1000.0
    flow.end()
    assert flow.wait == 0.0


def test_a_front_with_too_much_to_do_refuses_at_once(site):
    flow = site.app.in_flight
    for _ in range(site.app.engine.settings.queue_texts):
        flow.begin()
    refused = site.post("/api/predict", {"run": "classification", "texts": ["a"]})
    assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
    assert site.get("/healthz").status_code == 200
    flow.end()
    assert site.post("/api/predict", {"run": "classification", "texts": ["a"]}).status_code == 200
    assert flow.count == site.app.engine.settings.queue_texts - 1
