"""A dialect: routes that speak one API's language, and the shape of its errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request, Response

from regard.serve.engine import Engine
from regard.serve.keys import Keys
from regard.serve.refusal import Refusal


@dataclass(frozen=True)
class Dialect:
    """One file of :mod:`regard.serve.routes`."""

    router: APIRouter
    render: Callable[[Refusal], dict[str, Any]]
    """The body of an answer that refuses."""
    checks_keys: bool = False
    """Whether its routes look for the API key themselves, with :func:`find_keys`, because clients
    of this API send it elsewhere than in a header."""

    statuses: Mapping[int, int] = field(default_factory=dict)
    """Statuses of refusals that this API has others for."""
    headers: Callable[[], Mapping[str, str]] = dict
    """Headers of every answer, refusals included."""

    def status(self, refusal: Refusal) -> int:
        """Return the status of an answer that refuses."""
        return self.statuses.get(refusal.status, int(refusal.status))

    def refuse(self, refusal: Refusal) -> bytes:
        """Return the body of an answer that refuses, as JSON."""
        return orjson.dumps(self.render(refusal))

    def owns(self, path: str) -> bool:
        """Whether a path is one of its routes."""
        scope = {"type": "http", "path": path, "method": "GET", "headers": []}
        return any(route.matches(scope)[0].value for route in self.router.routes)


def find_engine(request: Request) -> Engine:
    """Return the engine of the application."""
    return request.app.state.engine


def find_keys(request: Request) -> Keys:
    """Return the API keys of the application."""
    return request.app.state.keys


TheEngine = Annotated[Engine, Depends(find_engine)]
"""The parameter of a route that needs the engine."""


def json_response(value: Any, status: int = 200) -> Response:  # noqa: ANN401 - whatever JSON has
    """Answer with JSON; numbers that are NaN or infinite become null."""
    body = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    return Response(body, status, media_type="application/json")
