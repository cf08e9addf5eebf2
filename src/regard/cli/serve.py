"""``regard serve``: runs and indexes behind HTTP."""

import asyncio
import ipaddress
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import AsJson, Decoding
from regard.cli.screen import print_json, print_rows, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.serve.engine import Engine

EXTRA = ("fastapi", "uvicorn", "httptools", "orjson")


def serve(  # noqa: PLR0913, PLR0917 - one for each option
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN_OR_INDEX...", help="Run and index folders.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; measured if left out.")
    ] = None,
    deadline: Annotated[
        float, typer.Option(min=0.1, help="Seconds a request may take, waiting included.")
    ] = 30.0,
    queue: Annotated[int, typer.Option(min=1, help="The most texts that wait.")] = 1024,
    api_keys: Annotated[
        Path | None, typer.Option("--api-keys", help="A file with an API key on each line.")
    ] = None,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds from SIGTERM to the end of accepting.")
    ] = 1.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line of log per request.")] = False,
    changes: Decoding = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Serve trained runs and indexes over HTTP; /docs of the server shows what can be asked.

    Requests of all clients are computed in common batches by worker processes. A translator is kept
    from endless repetition (decoding.no_repeat and max_length_ratio, unless they are set). The log
    goes to stderr, a line of JSON per request, and never holds a text. SIGTERM finishes what was
    accepted. --json prints one line when the server listens.

    Examples:
        regard serve runs/scenes
        regard serve runs/reviews runs/names indexes/cranfield --port 8080 --workers 2
        regard serve runs/scenes --host 0.0.0.0 --api-keys keys.txt

    """
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"serving needs the extra serve. {', '.join(missing)} cannot be imported.",
            'Install it: pip install "regard[serve]"',
        )
    from regard.recipe.decoding_overrides import parse_overrides
    from regard.serve.app import ServeSettings, make_app
    from regard.serve.engine import Engine
    from regard.serve.gate import GateSettings
    from regard.serve.keys import Keys
    from regard.serve.server import bind, run_server
    from regard.serve.settings import EngineSettings

    settings = EngineSettings(
        workers=workers, deadline=deadline, queue_texts=queue, decoding=parse_overrides(changes)
    )
    keys = Keys.read(api_keys) if api_keys else Keys()
    listening = bind(host, port)

    async def run() -> None:
        engine = Engine(folders, settings)
        try:
            await engine.start()
            gate = GateSettings(log=None if quiet else _log)
            app = make_app(engine, ServeSettings(gate, keys))
            _announce(engine, listening, as_json=as_json, protected=bool(keys))
            await run_server(app, engine, listening, grace=grace)
        finally:
            await engine.stop()

    asyncio.run(run())


def _log(line: str) -> None:
    print_text(line, to=sys.stderr)
    sys.stderr.flush()


def _announce(
    engine: "Engine", listening: socket.socket, *, as_json: bool, protected: bool
) -> None:
    """Say where the server listens, what it serves and how fast it should be."""
    host, port = listening.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    runs = [_describe(served.name, served.facts) for served in engine.served.values()]
    if as_json:
        print_json(
            {
                "address": address,
                "runs": runs,
                "workers": len(engine.workers),
                "threads": engine.threads,
                "texts_per_second": engine.throughput,
            }
        )
    else:
        print_rows([("address", address), ("docs", f"{address}/docs")])
        print_rows([(run["name"], run["task"] or run["kind"]) for run in runs])
        print_text(_describe_workers(engine))
    if not ipaddress.ip_address(host).is_loopback:
        print_text(_describe_public(host, protected=protected), to=sys.stderr)
    sys.stdout.flush()


def _describe(name: str, facts: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "name": name,
        "kind": facts["kind"],
        "task": facts.get("task"),
        "predicted_texts_per_second": facts.get("predicted"),
    }


def _describe_workers(engine: "Engine") -> str:
    said = f"{len(engine.workers)} workers of {engine.threads} threads"
    if engine.measured is None or engine.throughput is None:
        return f"{said}, as asked for"
    predicted = engine.measured.facts.get("predicted")
    allowed = len(engine.workers) * engine.threads * predicted if predicted else None
    bound = f"; its operations alone would allow {allowed:,.0f}" if allowed else ""
    return f"{said}: {engine.measured.name} answers {engine.throughput:,.0f} texts/s{bound}"


def _describe_public(host: str, *, protected: bool) -> str:
    """Say what a public address means."""
    who = "whoever has an API key" if protected else "everybody"
    return (
        f"{host} can be reached from other machines: {who} there can ask the models, and texts "
        "travel unencrypted. Put a proxy with TLS in front"
        + ("." if protected else ", and let only keys in with --api-keys.")
    )
