"""Ranks and labels as vLLM, Jina and Cohere serve them next to OpenAI's API.

POST /v1/rerank    POST /classify
"""

import time
import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from regard.serve.dialect import Dialect, TheEngine, json_response
from regard.serve.label_scores import find_classifier, label
from regard.serve.openai_refusal import REFUSALS, OpenAIRoute, render
from regard.serve.refusal import Refusal
from regard.serve.rerank import find_reranker, score_texts
from regard.serve.settings import USAGE

router = APIRouter(tags=["ranks and labels"], route_class=OpenAIRoute)
Model = Annotated[
    StrictStr | None, Field(description="Which run; may be left out if only one fits.")
]


class Document(BaseModel):
    """A document, as some clients write it."""

    text: StrictStr


class RerankRequest(BaseModel):
    """Documents to rank by their relevance to a query. Fields that are not listed are ignored."""

    model: Model = None
    query: StrictStr
    documents: list[StrictStr | Document]
    top_n: Annotated[StrictInt | None, Field(ge=0, description="Only so many; 0 is all.")] = None
    return_documents: StrictBool | None = True


class ClassifyRequest(BaseModel):
    """Texts to label. Fields that are not listed are ignored."""

    model: Model = None
    input: Annotated[
        StrictStr | list[StrictStr],
        Field(description="A text or several; the two of a pair are separated by a tab."),
    ]


@router.post("/v1/rerank", responses=REFUSALS)
async def rerank(request: RerankRequest, engine: TheEngine) -> Response:
    """Rank documents by their relevance to a query, best first."""
    if not request.documents:
        raise Refusal(400, "invalid", "there are no documents. Give one.", param="documents")
    served = find_reranker(engine, request.model)
    texts = [one if isinstance(one, str) else one.text for one in request.documents]
    scores = await score_texts(engine, served, request.query, texts)
    best = sorted(range(len(texts)), key=lambda n: -scores[n])[: request.top_n or None]
    shown = request.return_documents is not False
    return json_response(
        {
            "id": f"rerank-{uuid.uuid4().hex}",
            "model": served.name,
            "usage": {"total_tokens": _tokens()},
            "results": [
                {
                    "index": n,
                    "relevance_score": scores[n],
                    **({"document": {"text": texts[n]}} if shown else {}),
                }
                for n in best
            ],
        }
    )


@router.post("/classify", responses=REFUSALS)
async def classify(request: ClassifyRequest, engine: TheEngine) -> Response:
    """Label texts, with the probability of every label."""
    texts = [request.input] if isinstance(request.input, str) else request.input
    asked = [tuple(text.split("\t")) for text in texts]
    if not texts or not all(part.strip() for one in asked for part in one):
        raise Refusal(400, "invalid", "no input may be missing or blank. Give one.", param="input")
    served = find_classifier(engine, request.model, asked[0])
    answers = await label(engine, served, asked, truncate=False)
    read = _tokens()
    return json_response(
        {
            "id": f"classify-{uuid.uuid4().hex}",
            "object": "list",
            "created": int(time.time()),
            "model": served.name,
            "data": [_describe(place, answer) for place, answer in enumerate(answers)],
            "usage": {
                "prompt_tokens": read,
                "total_tokens": read,
                "completion_tokens": 0,
            },
        }
    )


def _describe(place: int, answer: dict[str, Any]) -> dict[str, Any]:
    probabilities = list(answer.get("probabilities", {}).values())
    return {
        "index": place,
        "label": answer["text"],
        "probs": probabilities,
        "num_classes": len(probabilities),
    }


def _tokens() -> int:
    usage = USAGE.get()
    return usage.tokens if usage is not None else 0


DIALECT = Dialect(router, render)
