"""The page of the API: every route with its fields, made from the schema; no script, no network."""

import hashlib
import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222;
background:#fff}
code,pre{font:14px/1.5 ui-monospace,monospace}
pre{background:#f4f4f4;padding:.75rem;overflow:auto}
h2{margin-top:2.5rem;font-size:1.1rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-top:1px solid #ddd}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#262626}
a{color:#9cf}td,th{border-color:#444}}
"""


def api_page(schema: Mapping[str, Any]) -> str:
    """Write the page."""
    title = html.escape(f"{schema['info']['title']} {schema['info']['version']}")
    parts = "".join(_operations(schema))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>{title}</h1><p>The same as <a href="openapi.json">openapi.json</a>.</p>{parts}</html>'
    )


def policy(page: str) -> str:
    """Return the content security policy that allows the page's own style and nothing else."""
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _operations(schema: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
            yield f"<p>{html.escape(operation.get('description', ''))}</p>"
            content = operation.get("requestBody", {}).get("content", {})
            for media, body in content.items():
                yield _fields(schema, media, body["schema"])
            yield _answers(operation.get("responses", {}))


def _fields(schema: Mapping[str, Any], media: str, body: Mapping[str, Any]) -> str:
    """Write the fields of a body as a table."""
    model = _resolve(schema, body)
    required = model.get("required", ())
    rows = [
        f"<tr><td><code>{html.escape(name)}</code>{' *' if name in required else ''}</td>"
        f"<td>{html.escape(_describe_type(schema, field))}</td>"
        f"<td>{html.escape(field.get('description', ''))}</td>"
        f"<td>{html.escape(_default(field))}</td></tr>"
        for name, field in model.get("properties", {}).items()
    ]
    head = "<tr><th>Field (* required)<th>Type<th>Meaning<th>Default</tr>"
    return f"<p>{html.escape(media)}</p><table>{head}{''.join(rows)}</table>"


def _answers(responses: Mapping[str, Any]) -> str:
    listed = (f"{status}: {answer.get('description', '')}" for status, answer in responses.items())
    return f"<pre>{html.escape(chr(10).join(listed))}</pre>"


def _resolve(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in part:
        return part
    return schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[-1]]


def _describe_type(schema: Mapping[str, Any], field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_describe_type(schema, one) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(json.dumps(value) for value in field["enum"])
    if field.get("type") == "array":
        return f"list of {_describe_type(schema, field.get('items', {}))}"
    return str(field.get("type", _resolve(schema, field).get("title", "any")))


def _default(field: Mapping[str, Any]) -> str:
    return json.dumps(field["default"]) if "default" in field else ""
