"""Questions to one run: an answer, one that grows token by token, a search, a whole table.

GET /api/asking    POST /api/ask    POST /api/complete    POST /api/search    POST /api/table
"""

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from regard.serve.completion_request import CompletionRequest, encode_texts
from regard.serve.dialect import json_response
from regard.serve.event_stream import DONE, GrowingChoices, event
from regard.serve.refusal import Refusal
from regard.serve.routes.own import render
from regard.studio.state import Studio, TheStudio

router = APIRouter(prefix="/api")
Name = Annotated[str, Field(max_length=1000)]
CANDIDATES = 5
SHOWN = ("kind", "task", "labels", "languages", "max_length", "writes", "documents", "by")
EXAMPLES = 8


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")
    run: Name


class Question(_Request):
    """A text to answer."""

    text: str
    best: Annotated[int, Field(ge=1, le=10, description="How many answers of a translator.")] = 5


class Prompt(_Request):
    """A text to continue."""

    text: str
    tokens: Annotated[int, Field(ge=1, le=2000)] = 100
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.8
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: int | None = None


class SearchQuery(_Request):
    """A query to an index."""

    text: str
    k: Annotated[int, Field(ge=1, le=100)] = 10


class Table(_Request):
    """A file whose rows, or lines, are to be answered."""

    name: Annotated[str, Field(max_length=300)]
    content: str


@router.get("/asking")
async def asking(
    studio: TheStudio, name: Annotated[str, Query(alias="run", max_length=1000)]
) -> Response:
    """Say what a run can be asked, with a few texts that it was measured on."""
    async with studio.engines.use(studio.library.find(name)) as (engine, served):
        facts = engine.find(served).facts
    found = {part: facts[part] for part in SHOWN if part in facts}
    examples = [asked for asked, _ in facts.get("samples", ())[:EXAMPLES]]
    return json_response({"run": name, **found, "examples": examples})


@router.post("/ask")
async def ask(question: Question, studio: TheStudio) -> Response:
    """Answer a text; a translator gives its best answers, each with its probability."""
    async with studio.engines.use(studio.library.find(question.run)) as (engine, name):
        facts = engine.find(name).facts
        (answer,) = await engine.ask(name, "predict", [question.text], {"truncate": True})
        answer.pop("ids", None)
        alternatives = []
        if facts.get("task") == "translation" and question.best > 1 and question.text.strip():
            options = {"best": question.best}
            (alternatives,) = await engine.ask(name, "rank", [question.text], options)
    found = {"run": question.run, "task": facts.get("task"), "answer": answer}
    return json_response({**found, "alternatives": alternatives})


@router.post("/complete")
async def complete(prompt: Prompt, studio: TheStudio) -> Response:
    """Continue a text; send each token with the likeliest ones in its place."""
    request = CompletionRequest(
        prompt=prompt.text,
        max_tokens=prompt.tokens,
        temperature=prompt.temperature,
        top_p=prompt.top_p,
        seed=prompt.seed,
        logprobs=CANDIDATES,
        stream=True,
    )
    stack = AsyncExitStack()
    try:
        growing = await _begin(studio, prompt, request, stack)
    except BaseException:
        await stack.aclose()
        raise

    async def send() -> AsyncIterator[bytes]:
        try:
            async for _, part in growing.parts():
                yield event({"text": part["text"], "tokens": _list_tokens(part["logprobs"])})
            yield event({"finish": growing.whole()[0]["finish_reason"]})
            yield DONE
        except Refusal as refusal:
            yield event(render(refusal))
        finally:
            growing.cancel()
            await stack.aclose()

    return StreamingResponse(send(), media_type="text/event-stream")


async def _begin(
    studio: Studio, prompt: Prompt, request: CompletionRequest, stack: AsyncExitStack
) -> GrowingChoices:
    """Open the run and wait for the first token; raise the refusal if there is none."""
    use = studio.engines.use(studio.library.find(prompt.run))
    engine, name = await stack.enter_async_context(use)
    tokenizer = engine.find(name).tokenizer
    if tokenizer is None:
        raise Refusal(422, "invalid", "an index continues no text. Name a run.", param="run")
    prompts = request.make_prompts(encode_texts([prompt.text], tokenizer, param="text"))
    growing = GrowingChoices(
        lambda take: engine.ask(name, "complete", prompts, request.options, take_part=take), 1
    )
    await growing.begin()
    return growing


def _list_tokens(listed: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return each token with its probability, and the candidates in its place."""
    if listed is None:
        return []
    columns = (listed["tokens"], listed["token_logprobs"], listed["top_logprobs"])
    return [
        {
            "token": token,
            "probability": None if score is None else math.exp(score),
            "candidates": [[other, math.exp(log_p)] for other, log_p in (top or {}).items()],
        }
        for token, score, top in zip(*columns, strict=True)
    ]


@router.post("/search")
async def search(query: SearchQuery, studio: TheStudio) -> Response:
    """Find the documents of an index that answer a query, best first."""
    async with studio.engines.use(studio.library.find(query.run)) as (engine, name):
        if engine.find(name).facts["kind"] != "index":
            raise Refusal(422, "invalid", "only an index is searched.", param="run")
        (hits,) = await engine.ask(name, "search", [query.text], {"k": query.k})
    return json_response({"run": query.run, "results": hits})


@router.post("/table")
async def table(given: Table, studio: TheStudio) -> Response:
    """Answer every row of a csv, tsv or jsonl file, or every line of a text."""
    folder = studio.library.find(given.run)
    return json_response(await studio.tables.run("answer_table", folder, given.name, given.content))
