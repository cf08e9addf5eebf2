"""The own API: what is served, answers with evidence, explanations, search.

POST /api/predict    POST /api/explain    POST /api/search    GET /api/runs
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from regard.serve.dialect import Dialect, TheEngine, json_response
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.served import Served
from regard.serve.settings import USAGE

router = APIRouter(prefix="/api", tags=["regard"])
Attribution = Literal["weights", "rollout", "gradient", "integrated-gradients", "occlusion"]
Name = Annotated[str | None, Field(description="Which run; may be left out if only one fits.")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PredictRequest(_Request):
    """Texts to answer."""

    texts: Annotated[str | list[str], Field(description="A text, or several.")]
    run: Name = None
    truncate: Annotated[bool, Field(description="Cut texts that are too long.")] = False
    explain: Annotated[bool, Field(description="Add the evidence for each answer.")] = False
    attribution: Annotated[
        Attribution | None, Field(description="How words are scored; else what suits the task.")
    ] = None


class ExplainRequest(_Request):
    """A text whose answer is to be explained."""

    text: str
    run: Name = None
    target: Annotated[str | None, Field(description="Explain this answer instead.")] = None
    label: Annotated[str | None, Field(description="Explain this label instead.")] = None
    attribution: Attribution | None = None
    head: Annotated[str | None, Field(description="The map to show, such as 2.3 or mean.")] = None
    sinks: Literal["keep", "hide", "renormalise"] = "keep"
    pieces: Annotated[bool, Field(description="Tokens instead of words.")] = False
    continue_text: Annotated[bool, Field(description="Let a language model go on first.")] = False


class SearchRequest(_Request):
    """A query."""

    query: str
    index: Name = None
    k: Annotated[int, Field(ge=1, le=1000, description="How many documents.")] = 10
    by: Literal["", "dense", "bm25", "hybrid"] = ""
    share: Annotated[float | None, Field(ge=0, le=1, description="Share of the vectors.")] = None


class ErrorBody(BaseModel):
    """Why a request is refused."""

    message: str
    kind: str
    param: str | None


class ErrorAnswer(BaseModel):
    """A refusal."""

    error: ErrorBody


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": about}
    for status, about in {
        400: "The body cannot be read.",
        401: "An API key is needed.",
        404: "Nothing of that name is served.",
        413: "Too large.",
        422: "The request, or a text, cannot be answered.",
        429: "The queue is full; see Retry-After.",
        503: "The server is stopping.",
    }.items()
}


@router.post("/predict", responses=REFUSALS)
async def predict(request: PredictRequest, engine: TheEngine) -> Response:
    """Answer texts with a run; with ``explain``, say which words each answer comes from."""
    served = engine.find(request.run)
    texts = [request.texts] if isinstance(request.texts, str) else request.texts
    answers = await engine.ask(served.name, "predict", texts, {"truncate": request.truncate})
    found = [{name: part for name, part in one.items() if name != "ids"} for one in answers]
    if request.explain:
        options = {"attribution": request.attribution}
        evidence = await engine.ask(served.name, "evidence", texts, options)
        found = [{**one, "evidence": why} for one, why in zip(found, evidence, strict=True)]
    usage = USAGE.get()
    return json_response(
        {
            "run": served.name,
            "task": served.facts.get("task"),
            "answers": found,
            "usage": {"texts": len(texts), "tokens": usage.tokens if usage else 0},
        }
    )


@router.post("/explain", responses=REFUSALS)
async def explain(request: ExplainRequest, engine: TheEngine) -> Response:
    """Answer a text; give every attention map, an attribution and its faithfulness."""
    served = engine.find(request.run)
    options = request.model_dump(exclude={"text", "run"})
    (found,) = await engine.ask(served.name, "explain", [request.text], options)
    return json_response({"run": served.name, **found})


@router.post("/search", responses=REFUSALS)
async def search(request: SearchRequest, engine: TheEngine) -> Response:
    """Find the documents of an index that answer a query, best first."""
    served = engine.find(request.index, kind="index")
    options = {"k": request.k, "by": request.by, "share": request.share}
    (hits,) = await engine.ask(served.name, "search", [request.query], options)
    by = request.by or served.facts.get("by")
    return json_response({"index": served.name, "by": by, "results": hits})


@router.get("/runs")
async def runs(engine: TheEngine) -> Response:
    """List what is served, with scores and costs."""
    return json_response({"runs": [_describe(one) for one in engine.served.values()]})


@router.get("/runs/{name}", responses=REFUSALS)
async def run(name: str, engine: TheEngine) -> Response:
    """Describe what is served under a name, with its model card."""
    served = _find(engine, name)
    return json_response({**_describe(served), "card": served.facts.get("card", "")})


def _find(engine: Engine, name: str) -> Served:
    if name not in engine.served:
        raise Refusal(404, "not_found", "nothing of that name is served.", param="name")
    return engine.served[name]


SHOWN: Sequence[str] = (
    *("kind", "task", "fingerprint", "parameters", "max_length", "labels", "languages"),
    *("scores", "cost", "decoding", "documents", "by"),
)


def _describe(served: Served) -> dict[str, Any]:
    facts = {name: served.facts[name] for name in SHOWN if name in served.facts}
    return {"name": served.name, **facts}


def render(refusal: Refusal) -> dict[str, Any]:
    """Shape a refusal."""
    error = {"message": refusal.message, "kind": refusal.kind, "param": refusal.param}
    return {"error": error}


DIALECT = Dialect(router, render)
