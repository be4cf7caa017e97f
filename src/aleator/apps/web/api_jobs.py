"""Routes of jobs: what is asked for, how far it is, stopping it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi import Path as UrlPath
from fastapi.responses import StreamingResponse

from aleator.apps.web.models import Job, JobDetail, Problem, Rename
from aleator.apps.web.queue import JobQueue
from aleator.apps.web.service import Service

SECONDS_BETWEEN_EVENTS = 0.1
SECONDS_BETWEEN_SIGNS = 10.0

NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": Problem}}
REFUSED: dict[int | str, dict[str, Any]] = {400: {"model": Problem}}
BUSY: dict[int | str, dict[str, Any]] = {429: {"model": Problem}}

router = APIRouter(prefix="/api", tags=["jobs"])


async def get_service(request: Request) -> Service:
    """Returns the running server."""
    service: Service = request.app.state.service
    return service


Server = Annotated[Service, Depends(get_service)]
AnyId = Annotated[str, UrlPath(max_length=64)]


async def find_job(service: Server, job_id: AnyId) -> Job:
    """Returns the job of an id, or answers 404."""
    job = service.store.job(job_id)
    if job is None:
        raise HTTPException(404, "there is no such job")
    return job


FoundJob = Annotated[Job, Depends(find_job)]


def file_name(job: Job, suffix: str) -> str:
    """Returns what a download of a job is called: by the job's name, as far as every system takes it."""
    return (re.sub(r"[^\w .,()+-]", "_", job.name, flags=re.ASCII).strip(" .") or job.id) + suffix


@router.get("/jobs")
async def list_jobs(service: Server, kind: Literal["solve", "race", "grade", "report"] | None = None) -> list[Job]:
    """Jobs, the newest first, without their curves."""
    jobs = service.store.jobs(kind)
    for job in jobs:
        if job.summary:
            job.summary = {
                name: value for name, value in job.summary.items() if name not in ("curve", "events", "decisions")
            }
    return jobs


@router.get("/jobs/{job_id}", responses=NOT_FOUND)
async def get_job(service: Server, job: FoundJob) -> JobDetail:
    """A job with what it was asked to do."""
    return JobDetail(**job.model_dump(), request=service.store.request(job.id))


@router.post("/jobs/{job_id}/stop", responses=NOT_FOUND)
async def stop_job(service: Server, job: FoundJob) -> Job:
    """Ends a job early; what has been found is kept."""
    service.queue.ask_to_stop(job)
    return service.store.job(job.id) or job


@router.patch("/jobs/{job_id}", responses=NOT_FOUND)
async def rename_job(service: Server, job: FoundJob, body: Rename) -> Job:
    """Gives a job another name."""
    service.store.rename(job.id, body.name)
    return service.store.job(job.id) or job


@router.delete("/jobs/{job_id}", status_code=204, responses=NOT_FOUND)
async def delete_job(service: Server, job: FoundJob) -> Response:
    """Ends a job at once and forgets it and its result."""
    await service.queue.delete(job)
    return Response(status_code=204)


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, **NOT_FOUND},
)
async def job_events(service: Server, job: FoundJob) -> StreamingResponse:
    """Server-sent events: progress while a job runs, then how it ended."""
    return StreamingResponse(_events(service.queue, job.id), media_type="text/event-stream")


async def _events(queue: JobQueue, job_id: str) -> AsyncIterator[bytes]:
    version, total, status, silent = -1, 0, "", 0.0
    while True:
        job, live = queue.store.job(job_id), queue.live.get(job_id)
        if job is None:
            yield _event("end", {"status": "deleted"})
            return
        if job.status not in ("queued", "running"):
            yield _event("end", job.model_dump())
            return
        if job.status != status or (live is not None and live.version != version):
            report = live.since(version, total) if live is not None else {"last": {}, "events": [], "policies": []}
            yield _event("progress", {"status": job.status, **report})
            status, silent = job.status, 0.0
            if live is not None:
                version, total = live.version, live.total
        elif silent >= SECONDS_BETWEEN_SIGNS:
            yield b": still here\n\n"
            silent = 0.0
        await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
        silent += SECONDS_BETWEEN_EVENTS


def _event(name: str, value: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode()


def raw(answer: bytes) -> Response:
    """Returns a worker's answer as it is; the tests hold that it fits the model of its route."""
    return Response(answer, media_type="application/json")
