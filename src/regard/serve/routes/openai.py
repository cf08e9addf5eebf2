"""OpenAI's API: models, completions and embeddings; the tokenizer as vLLM serves it.

GET /v1/models    POST /v1/completions    POST /v1/embeddings
POST /tokenize    POST /detokenize        GET /tokenizer_info
"""

import asyncio
import time
import uuid
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from regard.serve.completion_request import CompletionRequest, Ids, Prompts, encode_texts
from regard.serve.dialect import Dialect, TheEngine, json_response
from regard.serve.embedding import embed, find_encoder, scale, shorten
from regard.serve.engine import Engine, TakePart
from regard.serve.event_stream import DONE, GrowingChoices, event
from regard.serve.openai_refusal import REFUSALS, OpenAIRoute, render
from regard.serve.refusal import Refusal
from regard.serve.routes import text_embeddings
from regard.serve.served import Served
from regard.serve.truncation import fit_texts
from regard.text import special
from regard.text.tokenizer import Tokenizer

LANGUAGE_MODELLING = "language-modelling"
END, PAD = special.SPECIAL[special.END], special.SPECIAL[special.PAD]
Model = Annotated[
    StrictStr | None, Field(description="Which run; may be left out if only one fits.")
]


router = APIRouter(tags=["OpenAI"], route_class=OpenAIRoute)


class EmbeddingRequest(BaseModel):
    """Texts to embed. Fields that are not listed are ignored."""

    model: Model = None
    input: Annotated[
        Prompts, Field(description="A text, several, the ids of a text, or those of several.")
    ]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[
        StrictInt | None, Field(ge=1, description="Keep only so many, scaled to length 1.")
    ] = None


class TokenizeRequest(BaseModel):
    """A text to encode."""

    model: Model = None
    prompt: StrictStr
    add_special_tokens: Annotated[
        StrictBool, Field(description="Begin with the token that a language model begins with.")
    ] = True


class DetokenizeRequest(BaseModel):
    """Ids to decode."""

    model: Model = None
    tokens: Ids


@router.get("/v1/models")
async def models(engine: TheEngine) -> Response:
    """List the runs."""
    data = [_describe(one) for one in engine.served.values() if one.facts["kind"] == "run"]
    return json_response({"object": "list", "data": data})


@router.get("/v1/models/{name}", responses=REFUSALS)
async def model(name: str, engine: TheEngine) -> Response:
    """Describe a run."""
    return json_response(_describe(engine.find(name)))


STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/json": {}, "text/event-stream": {}},
        "description": "The choices, or with `stream` an event for each part of them.",
    }
}


@router.post("/v1/completions", responses=STREAMED | REFUSALS)
async def complete(request: CompletionRequest, engine: TheEngine) -> Response:
    """Continue prompts with a language model; with ``stream``, send events while texts grow."""
    served = _find_language_model(engine, request.model)
    request.refuse_unsupported(engine.settings)
    encoded = await asyncio.to_thread(
        encode_texts, request.texts, _tokenizer(served), param="prompt"
    )
    prompts = request.make_prompts(encoded)
    head = {
        "id": f"cmpl-{uuid.uuid4().hex}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": served.name,
        "system_fingerprint": served.facts["fingerprint"][:16],
    }

    async def ask(take_part: TakePart | None = None) -> list[Any]:
        return await engine.ask(
            served.name, "complete", prompts, request.options, take_part=take_part
        )

    def count(choices: Sequence[dict[str, Any]]) -> dict[str, int]:
        read, written = sum(map(len, encoded)), sum(choice["written"] for choice in choices)
        engine.metrics.tokens.add(written, direction="out")
        return _usage(read, written)

    if not request.stream:
        choices = await ask()
        shaped = [_shape(place, choice) for place, choice in enumerate(choices)]
        return json_response({**head, "choices": shaped, "usage": count(choices)})

    growing = GrowingChoices(ask, len(prompts))
    await growing.begin()

    async def send() -> AsyncIterator[bytes]:
        try:
            async for place, part in growing.parts():
                yield event({**head, "choices": [_shape(place, part)]})
            usage = count(growing.whole())
            if request.stream_options is not None and request.stream_options.include_usage:
                yield event({**head, "choices": [], "usage": usage})
            yield DONE
        except Refusal as refusal:
            yield event(render(refusal))
        finally:
            growing.cancel()

    return StreamingResponse(
        send(), media_type="text/event-stream", headers={"cache-control": "no-cache"}
    )


@router.post("/v1/chat/completions", responses=REFUSALS)
async def chat() -> Response:
    """Refuse: a base model has no chat template."""
    message = (
        "chat needs a model that was trained on chats, with a template. The runs served here have "
        "none; send the text as prompt to /v1/completions."
    )
    raise Refusal(400, "unsupported", message, param="messages")


@router.post("/v1/embeddings", responses=REFUSALS)
async def embeddings(request: EmbeddingRequest, engine: TheEngine) -> Response:
    """Embed texts: vectors of length 1, the shorter ones of ``dimensions`` too."""
    served = find_encoder(engine, request.model)
    given: Any = request.input
    single = isinstance(given, str) or (given and isinstance(given[0], int))
    texts = [given] if single else given
    if not texts:
        raise Refusal(400, "invalid", "there is no input. Give one.", param="input")
    fitting, read = await fit_texts(served, texts, param="input")
    vectors = scale(shorten(await embed(engine, served, fitting), request.dimensions))
    data = [
        {"object": "embedding", "index": place, "embedding": _write(vector, request)}
        for place, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": read, "total_tokens": read}
    return json_response({"object": "list", "model": served.name, "data": data, "usage": usage})


async def tokenize(request: TokenizeRequest, engine: TheEngine) -> Response:
    """Encode a text; the spelling of a special token gives the id of this token.

    With ``inputs`` in place of ``prompt``, it answers as Text Embeddings Inference does.
    """
    served = _find_tokenizer(engine, request.model)
    if request.prompt in special.SPECIAL:
        ids = [special.SPECIAL.index(request.prompt)]
    else:
        (encoded,) = await asyncio.to_thread(
            encode_texts, [request.prompt], _tokenizer(served), param="prompt"
        )
        begins = request.add_special_tokens and served.facts["task"] == LANGUAGE_MODELLING
        ids = [special.END] * begins + list(encoded)
    most = served.facts["max_length"]
    return json_response({"count": len(ids), "max_model_len": most, "tokens": ids})


class TokenizeRoute(OpenAIRoute):
    """A route that leaves bodies to the other API that has its path."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_either(request: Request) -> Response:
            if text_embeddings.wants_tokens(await request.body()):
                return await text_embeddings.tokenize(request)
            return await handle(request)

        return handle_either


router.add_api_route(
    "/tokenize",
    tokenize,
    methods=["POST"],
    responses=REFUSALS,
    route_class_override=TokenizeRoute,
)


@router.post("/detokenize", responses=REFUSALS)
async def detokenize(request: DetokenizeRequest, engine: TheEngine) -> Response:
    """Decode ids; special ones are left out."""
    tokenizer = _tokenizer(_find_tokenizer(engine, request.model))
    ids = encode_texts([request.tokens], tokenizer, param="tokens")[0] if request.tokens else ()
    return json_response({"prompt": tokenizer.decode(ids)})


@router.get("/tokenizer_info", responses=REFUSALS)
async def tokenizer_info(engine: TheEngine, model: str | None = None) -> Response:
    """Describe the tokenizer; the token that ends a text also begins the next."""
    served = _find_tokenizer(engine, model)
    tokenizer = _tokenizer(served)
    return json_response(
        {
            "tokenizer_class": tokenizer.kind,
            "vocab_size": tokenizer.size,
            "bos_token": END,
            "eos_token": END,
            "pad_token": PAD,
            "chat_template": None,
            "max_model_len": served.facts["max_length"],
        }
    )


def _find_language_model(engine: Engine, name: str | None) -> Served:
    """Find a run that continues texts."""
    served = engine.find(name, task=LANGUAGE_MODELLING)
    task = served.facts.get("task")
    if task != LANGUAGE_MODELLING or served.facts["kind"] != "run":
        message = (
            f"completions need a run of {LANGUAGE_MODELLING}. {served.name} is "
            f"{'an index' if task is None else f'a run of {task}'}; use POST /api/predict."
        )
        raise Refusal(400, "invalid", message, param="model")
    return served


def _find_tokenizer(engine: Engine, name: str | None) -> Served:
    """Find a run with a tokenizer; without a name, the only language model or the only run."""
    runs = [one for one in engine.served.values() if one.facts["kind"] == "run"]
    task = LANGUAGE_MODELLING if name is None and len(runs) > 1 else None
    return engine.find(name, task=task)


def _tokenizer(served: Served) -> Tokenizer:
    if served.tokenizer is None:
        message = f"{served.name} was indexed by words alone: it has no run. Name a run."
        raise Refusal(400, "invalid", message, param="model")
    return served.tokenizer


def _describe(served: Served) -> dict[str, Any]:
    return {
        "id": served.name,
        "object": "model",
        "created": int(served.folder.stat().st_mtime),
        "owned_by": "regard",
        "max_model_len": served.facts.get("max_length"),
    }


def _shape(place: int, choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice, or a part of one, as clients read it."""
    return {"index": place, **{name: choice[name] for name in CHOICE}}


CHOICE = ("text", "logprobs", "finish_reason")


def _usage(read: int, written: int) -> dict[str, int]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _write(vector: np.ndarray, request: EmbeddingRequest) -> str | list[float]:
    if request.encoding_format == "base64":
        return b64encode(vector.tobytes()).decode()
    return vector.tolist()


DIALECT = Dialect(router, render)
