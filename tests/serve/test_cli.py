"""``regard serve`` as a program: it says where it listens, and loses nothing when it is stopped."""

import json
import os
import signal
import socket
import threading
import time

import httpx
import pytest

from regard.cli.main import main

from .conftest import RUNS


def test_the_first_line_says_where_and_what(program):
    _, line = program
    assert line["address"].startswith("http://127.0.0.1:")
    assert [run["name"] for run in line["runs"]] == ["translation", "classification"]
    assert line["workers"] == 1 and line["runs"][0]["predicted_texts_per_second"] > 0


def test_slow_headers_are_cut_off_and_others_are_served(program, monkeypatch):
    _, line = program
    host, port = line["address"].removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(50)]
    for one in slow:
        one.sendall(b"POST /api/predict HTTP/1.1\r\nHost: x\r\n")
    assert httpx.get(line["address"] + "/healthz").status_code == 200
    for one in slow:
        one.settimeout(30)
        assert one.recv(100) == b""
        one.close()


def test_malformed_bytes_do_no_harm(program):
    _, line = program
    host, port = line["address"].removeprefix("http://").split(":")
    for bad in (b"\x00\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 300_000, b"\x16\x03\x01"):
        with socket.create_connection((host, int(port))) as one:
            one.settimeout(30)
            try:
                one.sendall(bad)
                said = one.recv(4096)
            except ConnectionError:
                continue
            assert said == b"" or said.startswith(b"HTTP/1.1 400")
    assert httpx.get(line["address"] + "/healthz").status_code == 200


def test_a_stop_answers_what_was_accepted_and_ends_in_0(program):
    process, line = program
    body = {"run": "translation", "texts": ["a b c d e f g"] * 20}
    found, stop = [], threading.Event()

    def ask():
        with httpx.Client(timeout=20) as client:
            while not stop.is_set():
                try:
                    answer = client.post(line["address"] + "/api/predict", json=body)
                    found.append(answer.status_code)
                except httpx.ConnectError:
                    return

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGTERM)
    time.sleep(0.1)
    ready = httpx.get(line["address"] + "/readyz")
    assert ready.status_code == 503 and ready.json() == {"status": "stopping"}
    assert process.wait(20) == 0
    stop.set()
    for client in clients:
        client.join()
    assert len(found) > 4 and set(found) == {200}
    lines = [json.loads(one) for one in process.stderr.read().splitlines()]
    assert {one["outcome"] for one in lines if one["route"] == "/api/predict"} == {"2xx"}


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--api-keys", "nowhere.txt"], "nowhere.txt"),
        (["--host", "203.0.113.7"], "cannot be listened on"),
        (["--set", "model.width=3"], "[decoding]"),
    ],
)
def test_a_wrong_call_is_refused(capsys, more, word):
    assert main(["serve", str(RUNS[0]), "--port", "0", *more]) == 2
    assert word in capsys.readouterr().err


def test_without_the_extra_it_says_which_one(capsys, monkeypatch):
    monkeypatch.setattr("regard.cli.serve.find_spec", lambda name: None)
    assert main(["serve", str(RUNS[0])]) == 2
    assert 'pip install "regard[serve]"' in capsys.readouterr().err
