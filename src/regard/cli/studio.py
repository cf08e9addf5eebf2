"""``regard studio``: runs in a browser."""

import asyncio
import socket
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson
from regard.cli.screen import print_json, print_rows, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.studio.state import Studio

EXTRA = ("fastapi", "uvicorn", "httptools", "orjson")
HOST = "127.0.0.1"


def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of runs and indexes.")
    ] = Path("runs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8010,
    allow_host: Annotated[
        list[str],
        typer.Option(metavar="HOST:PORT", help="Another address it is reached by (a tunnel)."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show runs in a browser: their curves while they train, comparisons, answers, explanations.

    It listens on 127.0.0.1 only. Open the address that it prints: it holds a token, without which
    nothing can be asked. To reach it from elsewhere, forward the port with ssh; if its number
    changes on the way, name the address with --allow-host. --json prints one line when it listens.

    Examples:
        regard studio
        regard studio runs --port 0 --open
        ssh -L 9000:127.0.0.1:8010 host      and there   regard studio --allow-host localhost:9000

    """
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the studio needs the extra studio. {', '.join(missing)} cannot be imported.",
            'Install it: pip install "regard[studio]"',
        )
    _check_folder(folder)
    from regard.serve.server import bind
    from regard.studio.library import Library
    from regard.studio.state import Studio
    from regard.studio.token import read_token

    token, listening = read_token(folder), bind(HOST, port)
    address = f"http://{HOST}:{listening.getsockname()[1]}/"
    opened = f"{address}#token={token}"
    if as_json:
        print_json({"address": address, "token": token, "open": opened})
    else:
        print_rows([("runs", str(folder)), ("open", opened)])
        print_text("Ctrl-C ends it; trainings go on.")
    sys.stdout.flush()
    if open_browser:
        webbrowser.open(opened)
    asyncio.run(_run(Studio(Library(folder)), listening, token, allow_host))


def _check_folder(folder: Path) -> None:
    if folder == Path("runs"):
        folder.mkdir(exist_ok=True)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.", "Name the folder that has your runs.")


async def _run(studio: "Studio", listening: socket.socket, token: str, allowed: list[str]) -> None:
    """Serve until a signal."""
    from regard.studio.app import make_app
    from regard.studio.guard import GuardSettings
    from regard.studio.server import run_server

    port = listening.getsockname()[1]
    hosts = frozenset({f"{HOST}:{port}", f"localhost:{port}", *allowed})
    settings = GuardSettings(hosts, token)
    app = make_app(studio, settings, lambda line: print_text(line, to=sys.stderr))
    studio.background.warm()
    try:
        await run_server(app, listening)
    finally:
        await studio.stop()
