"""Why a run answers as it does: attention, attributions with their tests, words left out.

POST /api/explain/attention    POST /api/explain/attribution    POST /api/explain/erase
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from regard.serve.dialect import json_response
from regard.studio.state import Studio, TheStudio

router = APIRouter(prefix="/api/explain")
Attribution = Literal["weights", "rollout", "gradient", "integrated-gradients", "occlusion"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")
    run: Annotated[str, Field(max_length=1000)]
    text: str
    target: Annotated[str | None, Field(description="Explain this answer instead.")] = None
    label: Annotated[str | None, Field(description="Explain this label instead.")] = None
    continue_text: Annotated[bool, Field(description="Let a language model go on first.")] = False


class AttentionQuestion(_Request):
    """An answer whose attention is shown."""

    pieces: Annotated[bool, Field(description="Tokens instead of words.")] = False
    sinks: Literal["keep", "hide", "renormalise"] = "keep"


class AttributionQuestion(_Request):
    """An answer that is attributed to the words of its text."""

    attribution: Attribution


class ErasureQuestion(_Request):
    """An answer, and words that are left out of its text."""

    erased: Annotated[list[int], Field(max_length=10_000)] = []


@router.post("/attention")
async def attention(question: AttentionQuestion, studio: TheStudio) -> Response:
    """Answer a text; give every attention map, packed."""
    return json_response(await _ask(studio, "view", question))


@router.post("/attribution")
async def attribution(question: AttributionQuestion, studio: TheStudio) -> Response:
    """Attribute the answer to words by one method; say how faithful that is."""
    return json_response(await _ask(studio, "attribute", question))


@router.post("/erase")
async def erase(question: ErasureQuestion, studio: TheStudio) -> Response:
    """Leave out words; say what becomes of the answer."""
    return json_response(await _ask(studio, "erase", question))


async def _ask(studio: Studio, kind: str, question: _Request) -> Any:  # noqa: ANN401 - as JSON has it
    options = question.model_dump(exclude={"run", "text"}, exclude_none=True)
    options = {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}
    async with studio.engines.use(studio.library.find(question.run)) as (engine, name):
        (found,) = await engine.ask(name, kind, [question.text], options)
    return found
