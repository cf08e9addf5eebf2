"""Refusals as OpenAI's API has them: their status, the names of fields, the shape."""

import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

from regard.serve.refusal import Refusal, describe_invalid

TYPES = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}
TEXTS = {"/v1/embeddings": "input", "/v1/rerank": "documents", "/classify": "input"}
"""What a path calls its texts, if not ``prompt``."""
CODES = {
    "not_found": "model_not_found",
    "unauthorized": "invalid_api_key",
    "invalid": None,
    "unfit": None,
    "too_long": None,
}


class ErrorBody(BaseModel):
    """Why a request is refused."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """A refusal."""

    error: ErrorBody


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": about}
    for status, about in {
        400: "The request, or a text, cannot be answered.",
        401: "An API key is needed.",
        404: "No such model.",
        413: "Too large.",
        422: "The answer takes longer than the deadline.",
        429: "The queue is full; see Retry-After.",
        503: "The server is stopping.",
    }.items()
}


class OpenAIRoute(APIRoute):
    """A route whose refusals have OpenAI's status and names of fields."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_renamed(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                raise _rename(describe_invalid(error.errors()), self.path) from None
            except Refusal as refusal:
                raise _rename(refusal, self.path) from refusal

        return handle_renamed


def _rename(refusal: Refusal, path: str) -> Refusal:
    """Give a refusal of the engine the field of this API; what is invalid is a 400."""
    if refusal.status == HTTPStatus.UNPROCESSABLE_ENTITY and refusal.kind in CODES:
        refusal.status = HTTPStatus.BAD_REQUEST
    if refusal.param is not None:
        field = re.split(r"[.\[]", refusal.param)[0]
        texts = TEXTS.get(path, "prompt")
        names = {"run": "model", "name": "model", "texts": texts, "inputs": texts}
        refusal.param = names.get(field, field)
    return refusal


def render(refusal: Refusal) -> dict[str, Any]:
    """Shape a refusal."""
    kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
    return {
        "error": {
            "message": refusal.message,
            "type": TYPES.get(refusal.status, kind),
            "param": refusal.param,
            "code": CODES.get(refusal.kind, refusal.kind),
        }
    }
