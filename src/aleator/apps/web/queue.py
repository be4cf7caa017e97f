"""Jobs in worker processes: they wait in the database, run one after the other, report, and end one way or another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from aleator.apps.web.config import ServerConfig
from aleator.apps.web.live import Live
from aleator.apps.web.models import Job
from aleator.apps.web.process import RefusedError, WorkerDiedError, WorkerFailedError, WorkerProcess
from aleator.apps.web.store import Store
from aleator.apps.web.system import log
from aleator.errors import AleatorError

SOLVE, RACE, GRADE, REPORT = "solve", "race", "grade", "report"
GO_ON = (SOLVE, REPORT)  # what is kept when the server ends, and goes on
SUSPEND_SECONDS = 30.0  # for a solve to be kept when the server ends
STOP_SECONDS = 10.0  # for a race to end when it is told to; then it is ended
RACE_SECONDS = 300.0  # for what a race does besides racing: compiling, a linear program
RETRY_SECONDS = 2.0  # until a disk that was full is tried again


class QueueFullError(AleatorError):
    """Too much is waiting already."""


class Outcome(NamedTuple):
    """How a job has ended; `queued` if it goes on later."""

    status: str
    summary: dict[str, Any] | None = None
    error: str | None = None


class JobQueue:
    """Runs jobs; solves, races, gradings and reports have processes of their own, so that none waits for another."""

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self.config, self.store = config, store
        self.live: dict[str, Live] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._wakes = {kind: asyncio.Event() for kind in (SOLVE, RACE, GRADE, REPORT)}
        self._running: dict[str, WorkerProcess] = {}
        self.workers = [(SOLVE, self._worker(10)) for _ in range(config.solvers)]
        self.workers += [(RACE, self._worker(5)), (GRADE, self._worker(8)), (REPORT, self._worker(12))]

    def _worker(self, niceness: int) -> WorkerProcess:
        log = self.config.data_dir / "worker.log"
        return WorkerProcess(memory_limit=self.config.memory_limit, niceness=niceness, log=log)

    def solution_file(self, job_id: str) -> Path:
        """Returns where the solution of a job lies; `job_id` is one that the store gave out."""
        return self.config.data_dir / "solutions" / f"{job_id}.solution"

    def checkpoint_file(self, job_id: str) -> Path:
        """Returns where a solve is kept while it runs, to go on from there."""
        return self.config.data_dir / "solutions" / f"{job_id}.checkpoint"

    def report_file(self, job_id: str) -> Path:
        """Returns where the flops of a report are kept as they are solved."""
        return self.config.data_dir / "solutions" / f"{job_id}.report"

    def start(self) -> None:
        """Takes up what an earlier server left, and goes to work."""
        for job_id in self.store.recover():
            self.forget(job_id)
        self._tasks = [asyncio.create_task(self._work(kind, worker)) for kind, worker in self.workers]

    async def stop(self) -> None:
        """Ends all processes; a solve that runs is kept first, and goes on from there when the server runs again."""
        self._stopping = True
        for wake in self._wakes.values():
            wake.set()
        solving = [task for task, (kind, worker) in zip(self._tasks, self.workers, strict=True)
                   if kind in GO_ON and worker in self._running.values()]  # fmt: skip
        if solving:
            log.say("Keeping what is being solved, to go on with at the next start ...")
            for worker in self._running.values():
                worker.ask_to_suspend()
            await asyncio.wait(solving, timeout=SUSPEND_SECONDS)
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
        worker = self._running.get(job.id)
        if job.status == "queued":
            self.store.end(job.id, "cancelled")
        elif worker is not None:
            worker.ask_to_stop()
            if job.kind == RACE:
                asyncio.get_running_loop().call_later(STOP_SECONDS, self._end_race, job.id)

    def _end_race(self, job_id: str) -> None:
        """Ends a race that does not stop by itself: one iteration of an algorithm can be made to take years."""
        worker, live = self._running.get(job_id), self.live.get(job_id)
        if worker is not None and live is not None:
            live.ended = True
            worker.end()

    async def delete(self, job: Job) -> None:
        """Ends a job at once and forgets it, and its result."""
        if job.id in self.live:
            self.live[job.id].cancelled = True
        while job.id in self._running:  # its process may be about to start
            await self._running[job.id].kill()
            await asyncio.sleep(0.01)
        self.forget(job.id)

    def forget(self, job_id: str) -> None:
        """Removes a job that does not run."""
        self.store.delete(job_id)
        self.live.pop(job_id, None)
        self.solution_file(job_id).unlink(missing_ok=True)
        self.checkpoint_file(job_id).unlink(missing_ok=True)
        self.report_file(job_id).unlink(missing_ok=True)

    async def _work(self, kind: str, worker: WorkerProcess) -> None:
        """Runs jobs one after the other; nothing that happens to one ends this."""
        wake = self._wakes[kind]
        while not self._stopping:
            try:
                job = self.store.next_job(kind)
                if job is not None:
                    await self._run(job, worker)
                    continue
                wake.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), 5.0)
            except (sqlite3.Error, OSError) as error:
                log.say_seldom(f"Jobs wait: {error}")
                await asyncio.sleep(RETRY_SECONDS)

    async def _run(self, job: Job, worker: WorkerProcess) -> None:
        self.store.begin(job.id)
        live = self.live[job.id] = Live()
        self._running[job.id] = worker
        try:
            outcome = await self._outcome(job, worker, live)
        finally:
            del self._running[job.id]
        while not live.cancelled:
            try:
                self._record(job, outcome)
                break
            except sqlite3.OperationalError as error:
                live.add({"stage": "waiting", "problem": f"the result cannot be kept: {error}"})
                await asyncio.sleep(RETRY_SECONDS)
        live.version += 1
        self.live.pop(job.id, None)

    async def _outcome(self, job: Job, worker: WorkerProcess, live: Live) -> Outcome:
        """Returns how a job has ended, whatever happens."""
        try:
            params = self._params(job)
            seconds = params["seconds"] + RACE_SECONDS if job.kind == RACE else None
            result: dict[str, Any] = json.loads(await worker.call(job.kind, params, live.add, seconds=seconds))
        except RefusedError as refusal:
            return Outcome("failed", error=str(refusal))
        except WorkerDiedError as death:
            if live.ended:
                return Outcome("done", {"game": job.name, "results": live.last_points(), "events": live.events})
            return Outcome("failed", error=f"{death}; other jobs go on")
        except WorkerFailedError as failure:
            return Outcome("failed", error=f"an error in the worker: {failure}")
        except OSError as error:  # the process cannot be started now
            log.say_seldom(f"Jobs wait: {error}")
            await asyncio.sleep(RETRY_SECONDS)
            return Outcome("queued")
        except Exception as error:
            traceback.print_exc()
            return Outcome("failed", error=f"an error in the server: {type(error).__name__}")
        if result.get("suspended"):
            return Outcome("queued")
        if job.kind == RACE:
            result["events"] = live.events
        return Outcome("done", result)

    def _record(self, job: Job, outcome: Outcome) -> None:
        if outcome.status == "queued":
            self.store.put_back(job.id)
            return
        self.store.end(job.id, outcome.status, summary=outcome.summary, error=outcome.error)
        self.checkpoint_file(job.id).unlink(missing_ok=True)

    def _params(self, job: Job) -> dict[str, Any]:
        request = self.store.request(job.id)
        if job.kind == GRADE:
            return request | {"processes": os.cpu_count() or 1}
        if job.kind == REPORT:
            return request | {"output": str(self.report_file(job.id)), "memory_limit": self.config.memory_limit}
        if job.kind != SOLVE:
            return request
        return request | {
            "output": str(self.solution_file(job.id)),
            "checkpoint": str(self.checkpoint_file(job.id)),
            "base": str(self.solution_file(job.parent)) if job.parent else None,
            "memory_limit": self.config.memory_limit,
        }
