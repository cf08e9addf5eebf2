"""The teaching views: chapters with controls, and the claims that measure them.

GET /api/chapters    GET /api/chapter    GET /api/claims    POST /api/claim
"""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from regard.serve.dialect import json_response
from regard.serve.refusal import Refusal
from regard.studio.state import TheStudio

router = APIRouter(prefix="/api")
MOST_CONTROLS = 20


class ClaimName(BaseModel):
    """Which claim to measure."""

    name: str = Field(max_length=100)


@router.get("/chapters")
async def chapters(studio: TheStudio) -> Response:
    """Describe all chapters."""
    return json_response(await studio.background.run("describe_chapters"))


@router.get("/chapter")
async def chapter(studio: TheStudio, request: Request) -> Response:
    """Compute the panels of a chapter; every other parameter is the value of a control."""
    given = dict(request.query_params)
    name = given.pop("chapter", "")
    if len(given) > MOST_CONTROLS or sum(map(len, given.values())) > 5000:
        raise Refusal(422, "invalid", "these are more values than a chapter has controls.")
    return json_response(await studio.background.run("show_chapter", name, given))


@router.get("/claims")
async def claims(studio: TheStudio) -> Response:
    """Describe all claims."""
    return json_response(await studio.background.run("describe_claims"))


@router.post("/claim")
async def claim(studio: TheStudio, asked: ClaimName) -> Response:
    """Measure a claim."""
    return json_response(await studio.background.run("measure_claim", asked.name))
