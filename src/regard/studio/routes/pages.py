"""The page itself, the same for every view, and its files.

A view is a path here, a module in ``static/views`` and a row in ``static/app.js``.
"""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from regard.serve.refusal import Refusal
from regard.studio.assets import PAGE, Asset, read_assets
from regard.studio.guard import PARTS

VIEWS = ("/", "/run", "/compare", "/ask", "/explain", "/mechanisms", "/claims")
ASSETS: Mapping[str, Asset] = read_assets()

router = APIRouter()


async def _show_page() -> Response:
    page = ASSETS[PAGE]
    return Response(page.body, media_type=page.media_type)


for _view in VIEWS:
    router.add_api_route(_view, _show_page, methods=["GET", "HEAD"])


@router.get("/static/{name:path}")
async def static(name: str, request: Request) -> Response:
    """Send a file of the table."""
    asset = ASSETS.get(name)
    if asset is None:
        raise Refusal(404, "not_found", "there is no such file.")
    headers = {"etag": asset.etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)


async def show_missing(path: str) -> Response | None:
    """Send the page, which says that it is not there, for any path that is no part of one."""
    if path.startswith(PARTS):
        return None
    page = await _show_page()
    page.status_code = 404
    return page
