"""Routes of reports over flops, of two solutions side by side, and of charts before the flop."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Response

from aleator.apps.web.api_holdem import PathQuery, find_solution
from aleator.apps.web.api_jobs import BUSY, NOT_FOUND, REFUSED, FoundJob, Server, file_name, find_job, raw
from aleator.apps.web.models import Job, Progress, SpotModel
from aleator.apps.web.models_reports import (
    ChartsInfo,
    ComparedNode,
    PreflopNode,
    Report,
    ReportEstimate,
    ReportNode,
    ReportRequest,
    Stacks,
)
from aleator.apps.web.process import TooSlowError
from aleator.apps.web.queue import REPORT

router = APIRouter(prefix="/api", tags=["reports"])


@router.post("/reports/estimate", response_model=ReportEstimate, responses=REFUSED)
async def estimate(service: Server, body: ReportRequest) -> Response:
    """What a report will take: memory and seconds, measured for about a second."""
    params = _params(body) | {"memory_limit": service.config.memory_limit}
    return raw(await service.ask(service.tools, "estimate-report", params))


def _params(body: ReportRequest) -> dict[str, object]:
    return body.model_dump(exclude={"name", "spot"}) | {"spot": body.spot.table()}


@router.post("/reports/nodes", response_model=list[ReportNode], responses=REFUSED)
async def nodes(service: Server, body: SpotModel) -> Response:
    """The decisions on the flop that a report of a spot can look at."""
    return raw(await service.read("report-nodes", {"spot": body.table()}))


@router.post("/jobs/report", status_code=201, responses=REFUSED | BUSY)
async def report(service: Server, body: ReportRequest) -> Job:
    """Puts a report in the queue; what it is of is checked first, unless that takes long: then the job will tell."""
    params = _params(body)
    with contextlib.suppress(TooSlowError):
        await service.read("check-report", params)
    return service.queue.submit(REPORT, body.name, params)


async def find_report(service: Server, job: FoundJob) -> Job:
    """Returns a job with a report, as far as it is, or answers 404."""
    if job.kind != REPORT or not service.queue.report_file(job.id).exists():
        raise HTTPException(404, "this job has no report")
    return job


FoundReport = Annotated[Job, Depends(find_report)]


@router.get("/reports/{job_id}", response_model=Report, responses=NOT_FOUND | REFUSED)
async def get_report(service: Server, job: FoundReport) -> Response:
    """A report as far as it is: means and all flops."""
    return raw(await service.ask(service.browser, "report-table", {"file": str(service.queue.report_file(job.id))}))


@router.get(
    "/reports/{job_id}/csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **NOT_FOUND, **REFUSED},
)
async def get_csv(service: Server, job: FoundReport) -> Response:
    """A report as a table for spreadsheets."""
    answer = await service.ask(service.browser, "report-csv", {"file": str(service.queue.report_file(job.id))})
    headers = {"content-disposition": f'attachment; filename="{file_name(job, ".csv")}"'}
    return Response(json.loads(answer)["csv"], media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/compare", response_model=ComparedNode, responses=NOT_FOUND | REFUSED)
async def compare(
    service: Server,
    first: Annotated[str, Query(max_length=64)],
    second: Annotated[str, Query(max_length=64)],
    path: PathQuery = "r",
) -> Response:
    """A node of two solutions of one board, and the decisions from there on where play differs most."""
    jobs = [await find_solution(service, await find_job(service, job_id)) for job_id in (first, second)]
    files = [str(service.queue.solution_file(job.id)) for job in jobs]
    params = {"first": files[0], "second": files[1], "path": path}
    return raw(await service.ask(service.tools, "compare", params, keep=True))


@router.get("/preflop", response_model=PreflopNode, responses=NOT_FOUND | REFUSED)
async def preflop(
    service: Server,
    path: PathQuery = "r:0",
    stack: Stacks = Stacks.BB100,
    blueprint: Annotated[int | None, Query(ge=1, le=1000)] = None,
) -> Response:
    """A chart before the flop: of a blueprint, or heads-up with stacks of so many big blinds, solved at first."""
    files = service.config.known_blueprints
    if blueprint is not None and blueprint > len(files):
        raise HTTPException(404, f"there is no blueprint {blueprint}: there are {len(files)}")
    file = None if blueprint is None else str(files[blueprint - 1])
    params = {"game": f"hunl:{stack.value}bb", "blueprint": file, "path": path}
    name = _charts_name(stack)

    def note(event: dict[str, Any]) -> None:
        service.progress[name] = event["done"]

    try:
        return raw(await service.ask(service.tools, "preflop", params, keep=True, on_event=note))
    finally:
        service.progress.pop(name, None)


def _charts_name(stack: Stacks) -> str:
    return f"preflop {stack.value}"


@router.get("/preflop/progress")
async def preflop_progress(service: Server, stack: Stacks = Stacks.BB100) -> Progress:
    """How far the solve of a chart has come that a page waits for."""
    return Progress(done=service.progress.get(_charts_name(stack)))


@router.get("/preflop/blueprints", response_model=list[ChartsInfo])
async def preflop_blueprints(service: Server) -> Response:
    """The blueprints that have charts before the flop."""
    params = {"blueprints": [str(file) for file in service.config.known_blueprints]}
    return raw(await service.read("preflop-blueprints", params))
