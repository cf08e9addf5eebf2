"""One engine for all tests, on stored runs; it lives in an event loop of its own thread."""

import asyncio
import itertools
import json
import random
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import uvicorn

from regard.cli.main import main
from regard.serve.app import ServeSettings, make_app
from regard.serve.engine import Engine
from regard.serve.gate import GateSettings
from regard.serve.settings import EngineSettings

KEEPSAKES = Path(__file__).parents[1] / "keepsakes" / "0.1.0-a"
WORDS = ["soup", "bread", "salt", "boat", "wind", "sail", "song", "drum", "choir"]
MODEL = (
    "[model]\nwidth = 12\ndepth = 1\nfeed_forward = 13\nmixer = { kind = 'attention', heads = 2 }\n"
)
BUDGET = "[training]\nbudget = '6 steps'\nbatch_tokens = 200\nevaluations = 1\nthreads = 1\n"
RECIPES = {
    "search": f"""task = "retrieval"
data = {{ train = ["documents.jsonl"], holdout = 0.3 }}
text = {{ vocabulary = 290, max_length = 40, overlong = "head" }}
{MODEL}[retrieval]
query_length = [2, 4]
document_length = [4, 12]
{BUDGET}""",
    "pairs": f"""task = "sentence-pair"
data = {{ train = ["pairs.tsv"], scores = true, holdout = 0.3 }}
text = {{ vocabulary = 290, max_length = 24, overlong = "head" }}
{MODEL}{BUDGET}""",
    "scenes": f"""task = "translation"
data = {{ train = ["scenes.de", "scenes.en"], holdout = 0.3 }}
text = {{ vocabulary = 290, max_length = 32 }}
decoding = {{ beam = 3, max_length = 8 }}
{MODEL}{BUDGET}""",
}
RUNS = [KEEPSAKES / name for name in ("translation", "classification", "language-modelling")]


@pytest.fixture(scope="session")
def call():
    """Return a function that runs a coroutine in the loop of the engine."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Train small runs of retrieval, sentence pairs and translation; index some documents."""
    folder, rng = tmp_path_factory.mktemp("trained"), random.Random(5)
    texts = [" ".join(rng.choices(WORDS, k=7)) for _ in range(40)]
    rows = [{"_id": str(n), "title": text[:9], "text": text} for n, text in enumerate(texts)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = [
        f"{a}\t{b}\t{1 + 4 * len({*a.split()} & {*b.split()}) / 9:.2f}\n"
        for a, b in itertools.pairwise(texts)
    ]
    (folder / "pairs.tsv").write_text("".join(pairs))
    for code in ("de", "en"):
        (folder / f"scenes.{code}").write_text("\n".join(texts) + "\n")
    for name, recipe in RECIPES.items():
        (folder / f"{name}.toml").write_text(recipe)
        run = str(folder / "runs" / name)
        assert main(["train", str(folder / f"{name}.toml"), "--run", run]) == 0
    index = ["index", str(folder / "runs" / "search"), str(folder / "documents.jsonl")]
    assert main([*index, "--output", str(folder / "indexes" / "indexed")]) == 0
    return folder


@pytest.fixture(scope="session")
def engine(call):
    """Return an engine of two workers."""
    engine = Engine(RUNS, EngineSettings(workers=2, batch_texts=32, queue_seconds=60.0))
    call(engine.start())
    yield engine
    call(engine.stop())


@pytest.fixture
def log():
    return []


@pytest.fixture
def site(engine, call, log):
    """Return a client of the application: ``site.post(path, body)``, ``site.get(path)``."""
    site = make_site(engine, call, ServeSettings(GateSettings(body=50_000, log=log.append)))
    site.lines = lambda: [json.loads(line) for line in log]
    return site


def make_site(engine, call, settings):
    app = make_app(engine, settings)

    async def send(method, path, **more):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, **more)

    return SimpleNamespace(
        app=app,
        get=lambda path, **more: call(send("GET", path, **more)),
        post=lambda path, body, **more: call(send("POST", path, json=body, **more)),
        send=lambda *given, **more: call(send(*given, **more)),
    )


@contextmanager
def listen(app, call):
    """Serve an application on a free port, in the loop of its engine; give the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)

    async def start():
        task = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        return task

    async def stop(task):
        server.should_exit = True
        await task

    task = call(start())
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        call(stop(task))


@pytest.fixture(scope="module")
def program():
    """Start a server; return its process and its first line."""
    command = [sys.executable, "-m", "regard", "serve", *map(str, RUNS[:2])]
    process = subprocess.Popen(
        [*command, "--port", "0", "--workers", "1", "--json", "--grace", "0.3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    yield process, json.loads(line)
    if process.poll() is None:
        process.kill()
        process.wait()
    process.stdout.close()
    process.stderr.close()
