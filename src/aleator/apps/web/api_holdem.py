"""Routes of hold'em: ranges, spots, estimates, solves, and looking at solutions."""

from __future__ import annotations

import contextlib
import json
import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse

from aleator.apps.web.api_jobs import BUSY, NOT_FOUND, REFUSED, FoundJob, Server, file_name, raw
from aleator.apps.web.catalogue import presets
from aleator.apps.web.models import (
    Estimate,
    EstimateRequest,
    HandClass,
    Hands,
    Job,
    Node,
    NodeRanges,
    Path,
    Preset,
    RangeReport,
    RangeText,
    ResolveRequest,
    Runouts,
    SolveRequest,
    SpotModel,
    SpotText,
)
from aleator.apps.web.process import RefusedError, TooSlowError
from aleator.apps.web.queue import SOLVE
from aleator.apps.web.service import Service

router = APIRouter(prefix="/api", tags=["hold'em"])


@router.post("/holdem/range", response_model=RangeReport, responses=REFUSED)
async def read_range(service: Server, body: RangeText) -> Response:
    """A hand range from text: canonical text, number of hands, weight of each class."""
    return raw(await service.read("range", {"text": body.text}))


@router.get("/holdem/presets")
async def list_presets() -> list[Preset]:
    """Spots to begin with."""
    return presets()


@router.post("/holdem/spot/parse", response_model=SpotModel, responses=REFUSED)
async def read_spot(service: Server, body: SpotText) -> Response:
    """A spot from the text of a spot file."""
    return raw(await service.read("parse", {"toml": body.toml}))


@router.post("/holdem/spot/format", response_model=SpotText, responses=REFUSED)
async def write_spot(service: Server, body: SpotModel) -> Response:
    """A spot as the text of a spot file."""
    return raw(await service.read("format", {"spot": body.table()}))


@router.post("/holdem/estimate", response_model=Estimate, responses=REFUSED)
async def estimate(service: Server, body: EstimateRequest) -> Response:
    """What a solve would take: nodes, memory, seconds."""
    params = {
        "spot": body.spot.table(),
        "threads": body.threads,
        "bits": body.bits,
        "measure": body.measure,
        "memory_limit": service.config.memory_limit,
    }
    return raw(await service.ask(service.tools, "estimate", params))


@router.post("/jobs/solve", status_code=201, responses=REFUSED | BUSY)
async def solve(service: Server, body: SolveRequest) -> Job:
    """Puts a solve in the queue; the spot is checked first, unless that takes long: then the solve itself will tell."""
    spot = body.spot.table()
    with contextlib.suppress(TooSlowError):
        await service.read("check", {"spot": spot})
    request = {"spot": spot, "threads": body.threads, "bits": body.bits, "locks": []}
    return service.queue.submit(SOLVE, body.name, request)


async def find_solution(service: Server, job: FoundJob) -> Job:
    """Returns a job with a solution, or answers 404."""
    if job.kind != SOLVE or job.status != "done" or not service.queue.solution_file(job.id).exists():
        raise HTTPException(404, "this job has no solution")
    return job


Solved = Annotated[Job, Depends(find_solution)]
PathQuery = Annotated[Path, Query()]


def _file(service: Service, job: Job) -> str:
    return str(service.queue.solution_file(job.id))


@router.post("/solutions/{job_id}/resolve", status_code=201, responses=REFUSED | BUSY | NOT_FOUND)
async def resolve(service: Server, job: Solved, body: ResolveRequest) -> Job:
    """Puts in the queue a solve of the same spot around locked decisions."""
    before = service.store.request(job.id)
    locks = [lock.model_dump() for lock in body.locks]
    spot = (job.summary or {}).get("spot", before["spot"])
    return service.queue.submit(SOLVE, body.name, before | {"spot": spot, "locks": locks}, parent=job.id)


@router.get("/solutions/{job_id}/node", response_model=Node, responses=NOT_FOUND | REFUSED)
async def get_node(service: Server, job: Solved, path: PathQuery = "r", values: bool = True) -> Response:
    """A node of a solution, per hand class; without `values` EVs are left out, quicker at the start of a tree."""
    params = {"file": _file(service, job), "path": path, "values": values}
    return raw(await service.ask(service.browser, "node", params, keep=True))


@router.get("/solutions/{job_id}/hands", response_model=Hands, responses=NOT_FOUND | REFUSED)
async def get_hands(
    service: Server,
    job: Solved,
    hand_class: HandClass,
    path: PathQuery = "r",
    player: Annotated[int, Query(ge=0, le=1)] = 0,
) -> Response:
    """The single hands of a class at a node."""
    params = {"file": _file(service, job), "path": path, "hand_class": hand_class, "player": player}
    return raw(await service.ask(service.browser, "hands", params, keep=True))


@router.get("/solutions/{job_id}/ranges", response_model=NodeRanges, responses=NOT_FOUND | REFUSED)
async def get_ranges(service: Server, job: Solved, path: PathQuery = "r") -> Response:
    """The ranges that get to a node, as text."""
    params = {"file": _file(service, job), "path": path}
    return raw(await service.ask(service.browser, "ranges", params, keep=True))


@router.get("/solutions/{job_id}/runouts", response_model=Runouts, responses=NOT_FOUND | REFUSED)
async def get_runouts(service: Server, job: Solved, path: PathQuery) -> Response:
    """Every card that can come at a node, and what happens then."""
    return raw(await service.ask(service.tools, "runouts", {"file": _file(service, job), "path": path}, keep=True))


@router.get(
    "/solutions/{job_id}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        **NOT_FOUND,
    },
)
async def download(service: Server, job: Solved) -> FileResponse:
    """The file of a solution, as `aleator holdem show` reads it."""
    return FileResponse(
        _file(service, job), filename=file_name(job, ".solution"), media_type="application/octet-stream"
    )


@router.post(
    "/solutions/upload",
    status_code=201,
    responses=REFUSED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(service: Server, request: Request, name: Annotated[str, Query(max_length=100)] = "Loaded") -> Job:
    """Takes the file of a solution, which is checked."""
    temporary = service.config.data_dir / "solutions" / f"upload-{secrets.token_hex(8)}.tmp"
    try:
        taken = 0
        with temporary.open("wb") as file:
            async for chunk in request.stream():
                taken += len(chunk)
                if taken > service.config.max_upload:
                    raise RefusedError(f"the file is larger than {service.config.max_upload:,} bytes")
                file.write(chunk)
        summary = json.loads(await service.ask(service.tools, "import", {"path": str(temporary)}))
        request_made = {"spot": summary["spot"], "threads": 1, "bits": 32, "locks": []}
        job = service.store.add_job(SOLVE, name.strip() or "Loaded", request_made, status="loading")
        temporary.rename(service.queue.solution_file(job.id))
        service.store.end(job.id, "done", summary=summary)
    finally:
        temporary.unlink(missing_ok=True)
    return service.store.job(job.id) or job
