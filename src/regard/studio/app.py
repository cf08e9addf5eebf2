"""The studio's application: the routes of every view behind the guard.

A new view is a file in ``routes`` with a ``router``, listed here; what its page consists of is said
in :mod:`regard.studio.routes.pages`.
"""

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from regard.errors import RegardError
from regard.serve.dialect import json_response
from regard.serve.refusal import Refusal, describe_invalid
from regard.serve.routes.own import render
from regard.studio.guard import Guard, GuardSettings
from regard.studio.routes import ask, explain, pages, runs, teaching
from regard.studio.state import Studio

ROUTERS = (pages.router, runs.router, ask.router, explain.router, teaching.router)


def make_app(
    studio: Studio, settings: GuardSettings, log: Callable[[str], object] | None = None
) -> Guard:
    """Make the ASGI application."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.state.studio = studio
    for router in ROUTERS:
        app.include_router(router)

    async def refuse(request: Request, error: Exception) -> Response:
        refusal = _refusal(error)
        missing = refusal.status == HTTPStatus.NOT_FOUND
        if missing and (page := await pages.show_missing(request.url.path)):
            return page
        answer = json_response(render(refusal), int(refusal.status))
        answer.headers.update(refusal.headers)
        return answer

    for kind in (Refusal, RegardError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refuse)
    return Guard(app, settings, log)


def _refusal(error: Exception) -> Refusal:
    """Say what is wrong with a request, whoever has found it."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RegardError):
        return Refusal(422, "invalid", f"{error.problem} {error.remedy}")
    if isinstance(error, RequestValidationError):
        return describe_invalid(error.errors())
    assert isinstance(error, HTTPException)
    kind = {404: "not_found", 405: "method"}.get(error.status_code, "invalid")
    return Refusal(error.status_code, kind, f"{error.detail}.")
