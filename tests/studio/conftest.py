"""A studio on stored runs, asked without a socket; and one in a browser, where there is Chromium."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

from regard.studio.app import make_app
from regard.studio.guard import GuardSettings
from regard.studio.library import Library
from regard.studio.state import Studio

KEEPSAKES = Path(__file__).parents[1] / "keepsakes" / "0.1.0-a"
HOST, TOKEN = "127.0.0.1:8010", "T" * 43
GUARD = GuardSettings(frozenset({HOST, "localhost:8010"}), TOKEN, body=100_000)


async def ask(app, method, path, headers=(), query="", body=b""):
    """Ask an ASGI application exactly this, as no client would."""
    sent, given = [], False

    async def receive():
        nonlocal given
        if given:
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        **{"type": "http", "http_version": "1.1", "scheme": "http", "root_path": ""},
        **{
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
        },
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    await app(scope, receive, send)
    start = sent[0]
    return SimpleNamespace(
        status=start["status"],
        headers={name.decode(): value.decode() for name, value in start["headers"]},
        body=b"".join(message.get("body", b"") for message in sent[1:]),
    )


@pytest.fixture(scope="session")
def call():
    """Return a function that runs a coroutine in a loop of its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(100)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def copy_runs(folder, *names):
    for name in names:
        shutil.copytree(KEEPSAKES / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def studio(call, tmp_path_factory):
    """Return a studio on four stored runs: ``get(path, **query)``, ``post(path, body)``."""
    root = tmp_path_factory.mktemp("studio") / "runs"
    names = ("translation", "classification", "ensemble", "language-modelling")
    state = Studio(Library(copy_runs(root, *names)))
    app = make_app(state, GUARD)
    own = [("host", HOST), ("sec-fetch-site", "same-origin")]
    written = [*own, ("x-studio-token", TOKEN), ("content-type", "application/json")]

    def get(path, **query):
        return call(ask(app, "GET", path, own, urlencode(query, doseq=True)))

    def post(path, body):
        return call(ask(app, "POST", path, written, body=json.dumps(body).encode()))

    yield SimpleNamespace(app=app, root=root, get=get, post=post, state=state)
    call(state.stop())


@pytest.fixture(scope="session")
def chromium():
    """Return a browser; the stories are skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def start_program(root, port=0):
    """Start the studio as its users do; return its process and its first line."""
    command = [sys.executable, "-m", "regard", "studio", str(root), "--port", str(port), "--json"]
    cache = {**os.environ, "REGARD_CACHE": str(root.parent / "cache")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=cache)
    return process, json.loads(process.stdout.readline())


def stop_program(process):
    process.terminate()
    assert process.wait(20) == 0
    process.stdout.close()


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Return a running studio: ``address``, ``token``, ``open``, ``root``."""
    root = tmp_path_factory.mktemp("program") / "runs"
    copy_runs(root, "translation", "classification", "ensemble", "language-modelling")
    process, line = start_program(root)
    yield SimpleNamespace(root=root, **line)
    stop_program(process)


@pytest.fixture
def page(chromium, program):
    """Return a page of the studio that fails the test if a script of it fails."""
    context = chromium.new_context(viewport={"width": 1200, "height": 800}, reduced_motion="reduce")
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_default_timeout(30_000)
    page.goto(program.open)
    page.wait_for_selector("table.runs")
    page.visit = lambda path: page.goto(program.address.rstrip("/") + path)
    yield page
    context.close()
    assert faults == []
