"""Operations: is it alive, is it ready, what does it count, what can it be asked.

GET /healthz    GET /readyz    GET /metrics    GET /docs
"""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from regard.serve.canary import check_canaries
from regard.serve.dialect import Dialect, TheEngine, json_response
from regard.serve.metrics import CONTENT_TYPE
from regard.serve.page import api_page, policy
from regard.serve.routes.own import render

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> Response:
    """Say that the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses={503: {"description": "Starting, stopping, or answering wrong."}})
async def readyz(engine: TheEngine) -> Response:
    """Say whether requests should come: every run answers its canary as it should."""
    found = await check_canaries(engine)
    return json_response(found, 200 if found["status"] == "ready" else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(engine: TheEngine) -> Response:
    """Give the metrics in Prometheus' text format."""
    return Response(engine.metrics.render(), headers={"content-type": CONTENT_TYPE})


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Show the API as a page that needs nothing from elsewhere."""
    schema: dict[str, Any] = request.app.openapi()
    page = api_page(schema)
    return HTMLResponse(page, headers={"content-security-policy": policy(page)})


DIALECT = Dialect(router, render)
