"""Text Embeddings Inference's API: vectors, labels, ranks.

POST /embed    POST /embed_all    POST /predict    POST /rerank    POST /similarity
GET /info      POST /decode       POST /tokenize   (with ``inputs``: the path is OpenAI's as well)
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from itertools import groupby
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from regard import __version__
from regard.serve.choice import UNFIT, choose
from regard.serve.completion_request import encode_texts
from regard.serve.dialect import Dialect, TheEngine, find_engine, json_response
from regard.serve.embedding import ENCODERS, embed, find_encoder, scale, shorten
from regard.serve.engine import Engine
from regard.serve.label_scores import (
    find_classifier,
    label,
    labels_pairs,
    labels_texts,
    list_labels,
)
from regard.serve.refusal import Refusal, describe_invalid
from regard.serve.rerank import find_reranker, logit, score_texts, scores_pairs
from regard.serve.served import Served
from regard.serve.text_embeddings_request import (
    DecodeRequest,
    EmbedAllRequest,
    EmbedRequest,
    PredictRequest,
    RerankRequest,
    SimilarityRequest,
    TokenizeRequest,
    check_some,
)
from regard.serve.truncation import TOO_LONG, fit_texts
from regard.text import special
from regard.text.tokenizer import Tokenizer


class ErrorAnswer(BaseModel):
    """A refusal."""

    error: str
    error_type: str


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": about}
    for status, about in {
        400: "There is no input.",
        401: "An API key is needed.",
        404: "No such model.",
        413: "Too many texts, or one that is too long.",
        422: "The request, or a text, cannot be answered.",
        424: "What is served here cannot do this.",
        429: "The queue is full; see Retry-After.",
        503: "The server is stopping.",
    }.items()
}
STATUSES = {
    UNFIT: HTTPStatus.FAILED_DEPENDENCY,
    TOO_LONG: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
}
TYPES = {400: "Empty", 424: "Backend", 429: "Overloaded", 503: "Unhealthy"}


class StatusRoute(APIRoute):
    """A route whose refusals have the statuses of this API."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_restated(request: Request) -> Response:
            try:
                return await handle(request)
            except Refusal as refusal:
                raise _restate(refusal) from refusal

        return handle_restated


def _restate(refusal: Refusal) -> Refusal:
    refusal.status = STATUSES.get(refusal.kind, refusal.status)
    return refusal


router = APIRouter(tags=["Text Embeddings Inference"], route_class=StatusRoute)


@router.post("/embed", responses=REFUSALS)
async def embed_texts(request: EmbedRequest, engine: TheEngine) -> Response:
    """Embed texts: a list of vectors."""
    texts, served = request.texts, find_encoder(engine, request.model)
    fitting, _ = await fit_texts(served, texts, param="inputs", **request.cut)
    vectors = shorten(await embed(engine, served, fitting), request.dimensions)
    return json_response((scale(vectors) if request.normalize else vectors).tolist())


@router.post("/embed_all", responses=REFUSALS)
async def embed_tokens(request: EmbedAllRequest, engine: TheEngine) -> Response:
    """Give the last state of each token of each text, special tokens included."""
    texts, served = request.texts, find_encoder(engine, request.model)
    fitting, _ = await fit_texts(served, texts, param="inputs", **request.cut)
    return json_response(await engine.ask(served.name, "embed_tokens", fitting))


@router.post("/predict", responses=REFUSALS)
async def predict(request: PredictRequest, engine: TheEngine) -> Response:
    """Give every label with its score, best first; a flat list of two texts is one pair."""
    asked = request.asked
    of_length = {len(one): find_classifier(engine, request.model, one) for one in asked}

    async def ask(length: int, served: Served) -> dict[int, Any]:
        places = [place for place, one in enumerate(asked) if len(one) == length]
        truncate = bool(request.truncate)
        answers = await label(engine, served, [asked[n] for n in places], truncate=truncate)
        return {
            place: list_labels(served, answer, raw=request.raw_scores)
            for place, answer in zip(places, answers, strict=True)
        }

    found: dict[int, Any] = {}
    for part in await asyncio.gather(*(ask(*one) for one in of_length.items())):
        found |= part
    return json_response([found[n] for n in range(len(asked))] if request.is_batch else found[0])


@router.post("/rerank", responses=REFUSALS)
async def rerank(request: RerankRequest, engine: TheEngine) -> Response:
    """Rank texts by their relevance to a query, best first."""
    if not request.texts:
        raise Refusal(400, "empty", "there are no texts. Give one.")
    served = find_reranker(engine, request.model)
    scores = await score_texts(
        engine, served, request.query, request.texts, truncate=bool(request.truncate)
    )
    if request.raw_scores and scores_pairs(served.facts):
        scores = [logit(score) for score in scores]
    ranked = [
        {"index": n, "score": scores[n], **({"text": text} if request.return_text else {})}
        for n, text in enumerate(request.texts)
    ]
    return json_response(sorted(ranked, key=lambda one: -one["score"]))


@router.post("/similarity", responses=REFUSALS)
async def similarity(request: SimilarityRequest, engine: TheEngine) -> Response:
    """Compare a sentence with others by the cosine of their vectors."""
    sentences = check_some(request.inputs.sentences)
    served, how = find_encoder(engine, request.model), request.parameters
    texts, _ = await fit_texts(
        served,
        check_some([request.inputs.source_sentence, *sentences]),
        param="inputs",
        **(how.cut if how else {}),
    )
    source, others = await asyncio.gather(
        embed(engine, served, texts[:1]), embed(engine, served, texts[1:])
    )
    return json_response((scale(others) @ scale(source)[0]).tolist())


@router.get("/info", responses=REFUSALS)
async def info(engine: TheEngine, model: str | None = None) -> Response:
    """Describe a model and the limits of the server."""
    kinds = (scores_pairs, labels_pairs, labels_texts, *ENCODERS)
    served = choose(engine, model, kinds, "this API needs a run that embeds or labels texts")
    facts, most = served.facts, engine.settings
    return json_response(
        {
            "model_id": served.name,
            "model_sha": facts["fingerprint"],
            "model_dtype": "float32",
            "model_type": _describe_type(facts),
            "max_concurrent_requests": most.queue_texts,
            "max_input_length": facts["max_length"],
            "max_batch_tokens": most.batch_tokens,
            "max_batch_requests": most.batch_texts,
            "max_client_batch_size": most.request_texts,
            "auto_truncate": False,
            "tokenization_workers": 1,
            "version": __version__,
            "sha": None,
            "docker_label": None,
        }
    )


def _describe_type(facts: Mapping[str, Any]) -> dict[str, Any]:
    labels = facts["labels"] or ["score"]
    by_id = {str(number): label for number, label in enumerate(labels)}
    named = {"id2label": by_id, "label2id": {label: n for n, label in enumerate(labels)}}
    if scores_pairs(facts):
        return {"reranker": named}
    if labels_texts(facts) or labels_pairs(facts):
        return {"classifier": named}
    return {"embedding": {"pooling": facts["pooling"]}}


def wants_tokens(body: bytes) -> bool:
    """Whether a body to /tokenize is for this API, which calls the text ``inputs``."""
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(fields, dict) and "inputs" in fields and "prompt" not in fields


async def tokenize(request: Request) -> Response:
    """Answer a body for which :func:`wants_tokens` is true, refusals included."""
    try:
        asked = TokenizeRequest.model_validate_json(await request.body())
        return json_response(await _tokenize(asked, find_engine(request)))
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        refusal = describe_invalid(found)
    except Refusal as raised:
        refusal = _restate(raised)
    headers = {**refusal.headers, "x-refused": refusal.kind}
    return Response(DIALECT.refuse(refusal), refusal.status, headers, media_type="application/json")


async def _tokenize(request: TokenizeRequest, engine: Engine) -> list[list[dict[str, Any]]]:
    served = _find_tokenizer(engine, request.model)
    tokenizer = served.tokenizer
    assert tokenizer is not None
    before, after = _marks(served.facts) if request.add_special_tokens else ((), ())
    encoded = await asyncio.to_thread(encode_texts, request.texts, tokenizer, param="inputs")
    return [
        [*map(_mark, before), *_describe_tokens(tokenizer, ids), *map(_mark, after)]
        for ids in encoded
    ]


def _find_tokenizer(engine: Engine, name: str | None) -> Served:
    first = (*ENCODERS, lambda facts: "tokenizer" in facts)
    return choose(engine, name, first, "tokens need a run")


def _marks(facts: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the special tokens before and after a text that the model reads."""
    if not facts["writes"]:
        return (special.CLS,), (special.SEP,)
    return ((), (special.END,)) if facts["reads_source"] else ((special.END,), ())


def _mark(id: int) -> dict[str, Any]:
    return {"id": id, "text": special.SPECIAL[id], "special": True, "start": None, "stop": None}


def _describe_tokens(tokenizer: Tokenizer, ids: tuple[int, ...]) -> list[dict[str, Any]]:
    text = tokenizer.decode(ids)
    return [
        {"id": id, "text": text[begin:end], "special": False, "start": begin, "stop": end}
        for id, (begin, end) in zip(ids, tokenizer.spans(ids), strict=True)
    ]


@router.post("/decode", responses=REFUSALS)
async def decode(request: DecodeRequest, engine: TheEngine) -> Response:
    """Decode ids: a list of texts."""
    tokenizer = _find_tokenizer(engine, request.model).tokenizer
    assert tokenizer is not None
    rows = encode_texts(request.rows, tokenizer, param="ids")
    return json_response(
        [_decode(tokenizer, ids, skip=request.skip_special_tokens) for ids in rows]
    )


def _decode(tokenizer: Tokenizer, ids: tuple[int, ...], *, skip: bool) -> str:
    if skip:
        return tokenizer.decode(ids)
    return "".join(
        "".join(special.SPECIAL[id] for id in some) if marks else tokenizer.decode(list(some))
        for marks, some in groupby(ids, key=tokenizer.is_special)
    )


def render(refusal: Refusal) -> dict[str, Any]:
    """Shape a refusal."""
    kind = "Backend" if refusal.kind == "failed" else TYPES.get(refusal.status, "Validation")
    return {"error": refusal.message, "error_type": kind}


DIALECT = Dialect(router, render, statuses={500: 424})
