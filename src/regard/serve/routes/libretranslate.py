"""LibreTranslate's API, for the translators that are served.

POST /translate    GET /languages    POST /detect    GET /frontend/settings    GET /health
GET /spec

Bodies are JSON, urlencoded forms or query strings; an API key may be in ``api_key``. Any web page
may ask (CORS). /suggest and /translate_file are refused: nothing is stored and no file is kept.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl

import orjson
from fastapi import APIRouter, Depends, Request, Response

from regard.serve.dialect import Dialect, TheEngine, find_engine, find_keys, json_response
from regard.serve.engine import Engine
from regard.serve.languages import find_name
from regard.serve.pairs import Pairs
from regard.serve.refusal import Refusal
from regard.serve.translate import Translator

router = APIRouter(tags=["libretranslate"])
CHARACTERS = 100_000
"""The most characters of a request."""
TEXTS = 1000
"""The most texts of a request."""
FIELDS = 32
AUTO = "auto"
CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "Authorization, Content-Type",
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-max-age": "86400",
}


def find_pairs(request: Request) -> Pairs:
    """Return the pairs of the application."""
    state = request.app.state
    if not hasattr(state, "pairs"):
        state.pairs = Pairs(find_engine(request).served)
    return state.pairs


async def read_fields(request: Request) -> dict[str, Any]:
    """Read JSON, a urlencoded form or a query string, and check the API key."""
    fields = _parse(request, await request.body())
    keys = find_keys(request)
    if keys and not keys.accept(str(fields.get("api_key") or "")):
        try:
            keys.check(request.headers.raw)
        except Refusal:
            wrong = "Invalid API key" if fields.get("api_key") else NO_KEY
            raise Refusal(403, "unauthorized", wrong) from None
    return fields


NO_KEY = "Please contact the server operator to get an API key"
ThePairs = Annotated[Pairs, Depends(find_pairs)]
Fields = Annotated[dict[str, Any], Depends(read_fields)]


def _parse(request: Request, body: bytes) -> dict[str, Any]:
    content = request.headers.get("content-type", "").lower()
    if "json" in content:
        try:
            fields = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise Refusal(400, "invalid", "Invalid JSON format") from None
        if not isinstance(fields, dict):
            raise _missing("q")
        return fields
    form = "" if content.startswith("multipart/") else body.decode("utf-8", "replace")
    found: dict[str, Any] = {}
    for text in (request.url.query, form):
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError:
            raise Refusal(400, "invalid", f"Invalid request: more than {FIELDS} fields") from None
        found |= {name: "\n".join(value.splitlines()) for name, value in pairs}
    return found


def _missing(name: str) -> Refusal:
    return Refusal(400, "invalid", f"Invalid request: missing {name} parameter", param=name)


def _body(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """Describe a body for the schema."""
    described = {"type": "object", "properties": properties, "required": list(required)}
    media = ("application/json", "application/x-www-form-urlencoded")
    content = {one: {"schema": described} for one in media}
    return {"requestBody": {"content": content, "required": True}}


TEXT = {"type": "string"}
KEY = {"type": "string", "description": "The API key, unless it is in a header."}
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "A field is missing or wrong, or the language is not supported."},
    403: {"description": "An API key is needed, or the feature is not there."},
    413: {"description": "Too large."},
    429: {"description": "The queue is full; see Retry-After."},
    503: {"description": "The server is stopping."},
}
TRANSLATE = _body(
    {
        "q": {
            "anyOf": [TEXT, {"type": "array", "items": TEXT}],
            "description": "A text; in JSON also several.",
        },
        "source": {"type": "string", "description": "A language, or auto."},
        "target": TEXT,
        "format": {"enum": ["text", "html"], "default": "text"},
        "alternatives": {"type": "integer", "default": 0, "description": "Further translations."},
        "api_key": KEY,
    },
    ["q", "source", "target"],
)


@router.post("/translate", responses=REFUSALS, openapi_extra=TRANSLATE)
async def translate(fields: Fields, pairs: ThePairs, engine: TheEngine) -> Response:
    """Translate texts or HTML; placeholders, URLs and tags are kept."""
    texts, several = _read_texts(fields)
    source, target = (_read_text(fields, name) for name in ("source", "target"))
    for code in (source, target):
        if code not in pairs.languages and (code, code) != (source, AUTO):
            raise Refusal(400, "invalid", f"{code} is not supported")
    form = fields.get("format") or "text"
    if form not in ("text", "html"):
        raise Refusal(400, "invalid", f"{form} format is not supported", param="format")
    alternatives = _read_number(fields)
    detected = [(source, 0.0)] * len(texts)
    if source == AUTO:
        detected = [pairs.detect(text, target)[0] for text in texts]
    sources = [code for code, _ in detected]
    found = await _translate(engine, pairs, texts, sources, target, form, alternatives)
    answer: dict[str, Any] = {"translatedText": [best for best, *_ in found]}
    if source == AUTO:
        answer["detectedLanguage"] = [
            {"confidence": confidence, "language": code} for code, confidence in detected
        ]
    if alternatives:
        answer["alternatives"] = [others for _, *others in found]
    return json_response(answer if several else {name: one[0] for name, one in answer.items()})


async def _translate(
    engine: Engine,
    pairs: Pairs,
    texts: Sequence[str],
    sources: Sequence[str],
    target: str,
    form: str,
    alternatives: int,
) -> list[list[str]]:
    """Translate texts, each from its language; return the answer and the alternatives of each."""
    found = [[text] for text in texts]
    for source in dict.fromkeys(sources):
        if source == target:
            continue
        translator = Translator(engine, pairs.find(source, target, alternatives))
        places = [place for place, code in enumerate(sources) if code == source]
        chosen = [texts[place] for place in places]
        if form == "html":
            answers = [[one] for one in await translator.translate_html(chosen)]
        else:
            answers = await translator.translate(chosen, alternatives)
        for place, answer in zip(places, answers, strict=True):
            found[place] = answer
    return found


def _read_texts(fields: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return the texts, and whether there is a list of them."""
    given = fields.get("q")
    if not given:
        raise _missing("q")
    several = isinstance(given, list)
    texts = given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "invalid", "Invalid request: q must be a text or a list of texts")
    for size, most in ((len(texts), TEXTS), (sum(map(len, texts)), CHARACTERS)):
        if size > most:
            message = f"Invalid request: request ({size}) exceeds text limit ({most})"
            raise Refusal(400, "invalid", message, param="q")
    return texts, several


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    given = fields.get(name)
    if not given:
        raise _missing(name)
    return str(given)


def _read_number(fields: Mapping[str, Any]) -> int:
    try:
        number = int(fields.get("alternatives") or 0)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        message = "Invalid request: alternatives parameter is not a number"
        raise Refusal(400, "invalid", message, param="alternatives")
    return number


@router.post("/detect", responses=REFUSALS, openapi_extra=_body({"q": TEXT, "api_key": KEY}, ["q"]))
async def detect(fields: Fields, pairs: ThePairs) -> Response:
    """Detect the language of a text, among those of the served translators."""
    texts, _ = _read_texts(fields)
    found = pairs.detect("\n".join(texts))
    return json_response([{"confidence": score, "language": code} for code, score in found])


@router.get("/languages")
async def languages(pairs: ThePairs) -> Response:
    """List languages, and what each is translated to."""
    return json_response(
        [
            {"code": code, "name": find_name(code), "targets": pairs.targets(code)}
            for code in pairs.languages
        ]
    )


@router.get("/frontend/settings")
async def frontend_settings(request: Request, pairs: ThePairs) -> Response:
    """Say what a front end should offer."""
    protected = bool(find_keys(request))
    first = next(iter(pairs.by_pair), None)
    source, target = first or ("", "")
    return json_response(
        {
            "apiKeys": protected,
            "charLimit": CHARACTERS,
            "filesTranslation": False,
            "frontendTimeout": 500,
            "keyRequired": protected,
            "language": {
                "source": {"code": AUTO, "name": "Auto Detect"}
                if not source
                else {"code": source, "name": find_name(source)},
                "target": {"code": target, "name": find_name(target)},
            },
            "suggestions": False,
            "supportedFilesFormat": [],
        }
    )


@router.get("/health")
async def health() -> Response:
    """Say that the process answers."""
    return json_response({"status": "ok"})


@router.get("/spec", include_in_schema=False)
async def spec(request: Request) -> Response:
    """Return the schema of all routes."""
    return json_response(request.app.openapi())


@router.post("/suggest", include_in_schema=False)
async def suggest() -> Response:
    """Refuse: nothing that clients send is stored."""
    raise Refusal(403, "invalid", "Suggestions are disabled on this server.")


@router.post("/translate_file", include_in_schema=False)
async def translate_file() -> Response:
    """Refuse: files are neither read nor kept."""
    raise Refusal(403, "invalid", "Files translation are disabled on this server.")


async def preflight() -> Response:
    """Let web pages ask."""
    return Response(status_code=204)


for _path in [route.path for route in router.routes]:  # type: ignore[attr-defined]
    router.add_api_route(_path, preflight, methods=["OPTIONS"], include_in_schema=False)


def render(refusal: Refusal) -> dict[str, Any]:
    """Shape a refusal."""
    slow = "Slowdown: " if refusal.status == 429 else ""
    return {"error": slow + refusal.message}


DIALECT = Dialect(
    router,
    render,
    checks_keys=True,
    statuses={401: 403, 422: 400},
    headers=lambda: CORS,
)
