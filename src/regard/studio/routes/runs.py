"""The runs: their table, their curves while they train, and what several have in common.

GET /api/runs    GET /api/curves    GET /api/run    GET /api/compare    GET /api/answers
GET /api/report
"""

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from regard.run_files import REPORT
from regard.serve.dialect import json_response
from regard.serve.refusal import Refusal
from regard.studio.curves import read_curves
from regard.studio.state import TheStudio
from regard.studio.summary import find_state, read_locks

router = APIRouter(prefix="/api")
Run = Annotated[str, Query(max_length=1000)]
Runs = Annotated[list[Run], Query(alias="run", min_length=1, max_length=100)]
FRAMED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The policy of a report, which comes from a run folder: no script, no request, nobody's origin."""


@router.get("/runs")
async def runs(studio: TheStudio, since: int = 0) -> Response:
    """List the runs and indexes that changed after a version of the list."""
    return json_response(await asyncio.to_thread(studio.library.listing, since))


@router.get("/curves")
async def curves(
    studio: TheStudio,
    names: Runs,
    cursor: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006
    smoothing: Annotated[float, Query(ge=0, le=0.999)] = 0.0,
) -> Response:
    """Give the curves of runs, each from its cursor on."""
    cursors = [*cursor, *[""] * len(names)]

    def read() -> list[dict[str, object]]:
        locks = read_locks()
        return [
            {
                "run": name,
                "state": find_state(studio.library.find(name), locks),
                **read_curves(studio.library.follow(name), at, smoothing),
            }
            for name, at in zip(names, cursors, strict=False)
        ]

    return json_response({"runs": await asyncio.to_thread(read)})


@router.get("/run")
async def run(studio: TheStudio, name: Annotated[Run, Query(alias="run")]) -> Response:
    """Describe a finished run: scores, recipe, cost, samples."""
    folder = studio.library.find(name)
    return json_response(await studio.background.run("describe_run", folder))


@router.get("/compare")
async def compare(studio: TheStudio, names: Runs) -> Response:
    """Compare runs: what sets them apart, scores by group, and what may be chance."""
    differences = await asyncio.to_thread(studio.library.differences, names)
    folders = [studio.library.find(name) for name in names]
    try:
        found = await studio.background.run("compare_runs", folders, names)
    except Refusal as refusal:
        if refusal.kind != "invalid":
            raise
        found = {"problem": refusal.message}
    return json_response({"runs": names, "differences": differences, **found})


@router.get("/answers")
async def answers(
    studio: TheStudio,
    names: Annotated[list[Run], Query(alias="run", min_length=2, max_length=2)],
    begin: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """List the answers in which two runs differ."""
    folders: Sequence[object] = [studio.library.find(name) for name in names]
    return json_response(await studio.background.run("differing_answers", *folders, begin))


@router.get("/report")
async def report(studio: TheStudio, name: Annotated[Run, Query(alias="run")]) -> Response:
    """Send the report of a run; as it comes from a folder, nothing in it may act."""
    file = studio.library.find(name) / REPORT
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        raise Refusal(404, "not_found", "this run has no report.", param="run") from None
    with os.fdopen(handle, "rb") as opened:
        body = await asyncio.to_thread(opened.read)
    return Response(body, media_type="text/html", headers={"content-security-policy": FRAMED})
