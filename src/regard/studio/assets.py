"""The studio's own files: the page, its modules, the style sheet; read once, served by a table.

No path is ever made of what a browser sends.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from regard.draw.page_style import PALETTE
from regard.draw.viewer import ATTENTION_SCRIPT

FOLDER = Path(__file__).with_name("static")
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}
PAGE = "index.html"


class Asset(NamedTuple):
    """A file as it is sent."""

    body: bytes
    media_type: str
    etag: str


def read_assets() -> Mapping[str, Asset]:
    """Read every file, by its path below ``static``."""
    return {name: _asset(name, body) for name, body in _read_all()}


def _read_all() -> Iterator[tuple[str, bytes]]:
    for file in sorted(FOLDER.rglob("*")):
        if file.suffix in TYPES:
            yield file.relative_to(FOLDER).as_posix(), file.read_bytes()
    yield "palette.css", PALETTE.encode()
    drawn = ATTENTION_SCRIPT.read_text(encoding="utf-8")
    yield "attention.js", f"{drawn}\nexport {{ drawAttention }};\n".encode()


def _asset(name: str, body: bytes) -> Asset:
    digest = hashlib.sha256(body).hexdigest()[:16]
    return Asset(body, f"{TYPES[Path(name).suffix]}; charset=utf-8", f'"{digest}"')
