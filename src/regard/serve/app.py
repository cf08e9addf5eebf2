"""The application: dialects behind the gate.

    app = make_app(engine)        engine.start() is awaited by whoever runs the server

A new dialect is a file in ``routes`` with a :class:`~regard.serve.dialect.Dialect`, and a row here.
"""

from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from regard import __version__
from regard.serve.dialect import Dialect
from regard.serve.engine import Engine
from regard.serve.gate import Gate, GateSettings
from regard.serve.keys import Keys
from regard.serve.refusal import Refusal, describe_invalid
from regard.serve.routes import (
    libretranslate,
    openai,
    operations,
    own,
    pooling,
    text_embeddings,
)

DIALECTS: tuple[Dialect, ...] = (
    own.DIALECT,
    openai.DIALECT,
    pooling.DIALECT,
    text_embeddings.DIALECT,
    libretranslate.DIALECT,
    operations.DIALECT,
)
"""The first one also answers for paths that nobody owns."""


@dataclass(frozen=True)
class ServeSettings:
    """What the application adds to the engine."""

    gate: GateSettings = field(default_factory=GateSettings)
    keys: Keys = field(default_factory=Keys)


def make_app(engine: Engine, settings: ServeSettings | None = None) -> Gate:
    """Make the ASGI application."""
    settings = settings or ServeSettings()
    app = FastAPI(
        title="regard", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.engine, app.state.keys = engine, settings.keys
    for dialect in DIALECTS:
        app.include_router(dialect.router)

    async def refuse(request: Request, error: Exception) -> Response:
        refusal = _refusal(error)
        dialect = find_dialect(request.url.path)
        headers = {**refusal.headers, "x-refused": refusal.kind}
        if isinstance(error, HTTPException) and error.headers:
            headers |= error.headers  # such as Allow
        body, status = dialect.refuse(refusal), dialect.status(refusal)
        return Response(body, status, headers, media_type="application/json")

    for kind in (Refusal, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refuse)
    return Gate(app, engine, settings.keys, find_dialect, settings.gate)


def find_dialect(path: str) -> Dialect:
    """Find the dialect that a path belongs to."""
    return next((one for one in DIALECTS if one.owns(path)), DIALECTS[0])


def _refusal(error: Exception) -> Refusal:
    """Say what is wrong with a request, whoever has found it."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        return describe_invalid(error.errors())
    assert isinstance(error, HTTPException)
    kind = {404: "not_found", 405: "method"}.get(error.status_code, "invalid")
    return Refusal(error.status_code, kind, f"{error.detail}.")
