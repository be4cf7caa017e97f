"""The queue of jobs: it outlives a full disk, ends what does not stop by itself, and forgets broken uploads."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.web import queue as module
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.models import Job
from aleator.apps.web.process import WorkerDiedError
from aleator.apps.web.queue import RACE, SOLVE, JobQueue
from aleator.apps.web.store import Store


class Worker:
    """Stands for a worker process: it answers at once, or, if it is deaf, only by being ended."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.deaf, self.asked, self.ended = deaf, asyncio.Event(), asyncio.Event()

    async def call(self, method: str, params: dict[str, Any], on_event: Any, *, seconds: float | None) -> bytes:
        self.asked.set()
        if self.deaf:
            await self.ended.wait()
            raise WorkerDiedError("the worker process was killed by SIGKILL")
        return b'{"found": 1}'

    def ask_to_stop(self) -> None:
        """It does not listen."""

    def end(self) -> None:
        self.ended.set()

    async def kill(self) -> None:
        self.ended.set()


class FullDisk(Store):
    """A store whose disk is full so many times when a job is looked for, and when its result is written."""

    looks = writes = 0

    def next_job(self, kind: str) -> Job | None:
        if self.looks:
            self.looks -= 1
            raise sqlite3.OperationalError("database or disk is full")
        return super().next_job(kind)

    def end(self, *arguments: Any, **options: Any) -> None:
        if self.writes:
            self.writes -= 1
            raise sqlite3.OperationalError("database or disk is full")
        super().end(*arguments, **options)


def run(folder: Path, worker: Callable[[], Worker], body: Callable[[JobQueue, Any], Awaitable[None]]) -> None:
    """Runs a queue with one worker for races, and stops it."""

    async def whole() -> None:
        config = ServerConfig(data_dir=folder)
        config.make_folders()
        store = FullDisk(config.database)
        queue, own = JobQueue(config, store), worker()
        queue.workers = [(RACE, own)]  # type: ignore[list-item]
        queue.start()
        try:
            async with asyncio.timeout(60):
                await body(queue, own)
        finally:
            await queue.stop()
            store.close()

    asyncio.run(whole())


async def ended(queue: JobQueue, job_id: str) -> Job:
    while True:
        job = queue.store.job(job_id)
        assert job is not None
        if job.status not in ("queued", "running"):
            return job
        await asyncio.sleep(0.001)


@pytest.mark.parametrize(("looks", "writes"), [(3, 0), (0, 3)])
def test_jobs_go_on_after_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: int, writes: int) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.001)

    async def body(queue: JobQueue, worker: Worker) -> None:
        assert isinstance(queue.store, FullDisk)
        for _ in range(2):
            queue.store.looks, queue.store.writes = looks, writes
            job = await ended(queue, queue.submit(RACE, "kuhn", {"seconds": 1.0}).id)
            assert job.status == "done" and job.summary is not None and job.summary["found"] == 1
            assert queue.store.looks == queue.store.writes == 0, "the disk was full"

    run(tmp_path, Worker, body)


def test_a_race_that_does_not_stop_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.001)

    async def body(queue: JobQueue, worker: Worker) -> None:
        job_id = queue.submit(RACE, "kuhn", {"seconds": 1.0}).id
        await worker.asked.wait()
        running = queue.store.job(job_id)
        assert running is not None and running.status == "running"
        queue.ask_to_stop(running)
        assert (await ended(queue, job_id)).status == "done", "what it has reported is its result"

    run(tmp_path, lambda: Worker(deaf=True), body)


def test_what_is_left_of_a_broken_upload_is_removed_at_the_start(tmp_path: Path) -> None:
    config = ServerConfig(data_dir=tmp_path)
    config.make_folders()
    store = Store(config.database)
    upload = store.add_job(SOLVE, "file", {}, status="loading").id
    store.close()
    left = tmp_path / "solutions" / f"{upload}.solution"
    left.write_bytes(b"half of it")

    async def body(queue: JobQueue, worker: Worker) -> None:
        assert queue.store.job(upload) is None and not left.exists()

    run(tmp_path, Worker, body)
