"""Jobs in worker processes: they wait in the database, run one after the other, report, and end one way or another."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

from aleator.apps.web.config import ServerConfig
from aleator.apps.web.models import Job
from aleator.apps.web.process import RefusedError, WorkerDiedError, WorkerFailedError, WorkerProcess
from aleator.apps.web.store import Store
from aleator.errors import AleatorError

MAX_EVENTS = 2000
SOLVE, RACE = "solve", "race"


class QueueFullError(AleatorError):
    """Too much is waiting already."""


class Live:
    """What a running job has reported.

    Attributes:
        last: the last report, without policies.
        events: reports that make up its curves; beyond `MAX_EVENTS` every second one is dropped.
        total: how many there have been.
        policies: the last policy of each algorithm, with the version at which it came.
        version: counts changes.
        cancelled: whether its result is not wanted any more.
    """

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.total = 0
        self.policies: dict[str, tuple[int, dict[str, Any]]] = {}
        self.version = 0
        self.cancelled = False

    def add(self, event: dict[str, Any]) -> None:
        """Takes a report."""
        self.version += 1
        if "policy" in event:
            self.policies[event["algorithm"]] = (self.version, dict(event))
            event = {name: value for name, value in event.items() if name != "policy"}
        seen = self.last.get("exploitability")
        self.last = self.last | event
        if event.get("exploitability") is not None and ("algorithm" in event or event["exploitability"] != seen):
            self.total += 1
            self.events.append(event)
            if len(self.events) > MAX_EVENTS:
                self.events = self.events[::2]

    def since(self, version: int, total: int) -> dict[str, Any]:
        """Returns what is new since a version and a number of events."""
        new = min(self.total - total, len(self.events))
        return {
            "last": self.last,
            "events": self.events[len(self.events) - new :],
            "policies": [policy for at, policy in self.policies.values() if at > version],
        }


class JobQueue:
    """Runs jobs; solves and races have processes of their own, so that neither waits for the other."""

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self.config, self.store = config, store
        self.live: dict[str, Live] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._wakes = {SOLVE: asyncio.Event(), RACE: asyncio.Event()}
        self._running: dict[str, WorkerProcess] = {}
        self.workers = [(SOLVE, self._worker(10)) for _ in range(config.solvers)] + [(RACE, self._worker(5))]

    def _worker(self, niceness: int) -> WorkerProcess:
        log = self.config.data_dir / "worker.log"
        return WorkerProcess(memory_limit=self.config.memory_limit, niceness=niceness, log=log)

    def solution_file(self, job_id: str) -> Path:
        """Returns where the solution of a job lies; `job_id` is one that the store gave out."""
        return self.config.data_dir / "solutions" / f"{job_id}.solution"

    def start(self) -> None:
        """Takes up what an earlier server left, and goes to work."""
        self.store.recover()
        self._tasks = [asyncio.create_task(self._work(kind, worker)) for kind, worker in self.workers]

    async def stop(self) -> None:
        """Ends all processes; what runs now will run again when the server does."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for _, worker in self.workers:
            await worker.kill()

    def submit(self, kind: str, name: str, request: dict[str, Any], *, parent: str | None = None) -> Job:
        """Returns a new job that waits for its turn.

        Raises:
            QueueFullError: as many as may wait do so already.
        """
        if self.store.count("queued") >= self.config.max_queued:
            raise QueueFullError(f"{self.config.max_queued} jobs are waiting already: try again when some are done")
        for old in self.store.oldest_ended(self.config.max_kept):
            self.forget(old)
        job = self.store.add_job(kind, name, request, parent=parent)
        self._wakes[kind].set()
        return job

    def ask_to_stop(self, job: Job) -> None:
        """Ends a job early: what runs keeps its result, what waits is cancelled."""
        if job.status == "queued":
            self.store.end(job.id, "cancelled")
        elif job.id in self._running:
            self._running[job.id].ask_to_stop()

    async def delete(self, job: Job) -> None:
        """Ends a job at once and forgets it, and its result."""
        if job.id in self._running:
            self.live[job.id].cancelled = True
            await self._running[job.id].kill()
        self.forget(job.id)

    def forget(self, job_id: str) -> None:
        """Removes a job that does not run."""
        self.store.delete(job_id)
        self.live.pop(job_id, None)
        self.solution_file(job_id).unlink(missing_ok=True)

    async def _work(self, kind: str, worker: WorkerProcess) -> None:
        wake = self._wakes[kind]
        while True:
            job = self.store.next_job(kind)
            if job is None:
                wake.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), 5.0)
                continue
            await self._run(job, worker)

    async def _run(self, job: Job, worker: WorkerProcess) -> None:
        live = self.live[job.id] = Live()
        self._running[job.id] = worker
        self.store.begin(job.id)
        status, summary, error = "failed", None, None
        try:
            result = await worker.call(job.kind, self._params(job), live.add)
            status, summary = "done", json.loads(result)
        except RefusedError as refusal:
            error = str(refusal)
        except WorkerDiedError as death:
            error = f"{death}; other jobs go on"
        except WorkerFailedError as failure:
            error = f"an error in the worker: {failure}"
        finally:
            del self._running[job.id]
        if not live.cancelled:
            if summary is not None and live.events and job.kind == RACE:
                summary["events"] = live.events
            self.store.end(job.id, status, summary=summary, error=error)
        live.version += 1
        self.live.pop(job.id, None)

    def _params(self, job: Job) -> dict[str, Any]:
        request = self.store.request(job.id)
        if job.kind == RACE:
            return request
        return request | {
            "output": str(self.solution_file(job.id)),
            "base": str(self.solution_file(job.parent)) if job.parent else None,
            "memory_limit": self.config.memory_limit,
        }
