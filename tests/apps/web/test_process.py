"""Worker processes as the server sees them: a stop is heard whenever it comes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.web.process import WorkerProcess
from tests.apps.web.running import LONG, SECONDS


def _solve(folder: Path) -> dict[str, Any]:
    """Returns what to ask for: a solve that nobody waits for."""
    files = {"output": str(folder / "out.solution"), "checkpoint": str(folder / "out.checkpoint")}
    return {"spot": LONG, "locks": [], "base": None, "threads": 1, "bits": 32, "memory_limit": 1 << 32} | files


@pytest.mark.parametrize(("wish", "answer"), [("ask_to_stop", "stopped"), ("ask_to_suspend", "suspended")])
def test_a_stop_before_the_process_has_begun_is_heard(tmp_path: Path, wish: str, answer: str) -> None:
    async def stopped_at_once() -> dict[str, Any]:
        worker = WorkerProcess(memory_limit=1 << 33, niceness=0, log=tmp_path / "worker.log")
        call = asyncio.create_task(worker.call("solve", _solve(tmp_path)))
        await asyncio.sleep(0)  # the call begins, and waits for its process
        assert worker.pid is None and not call.done()
        getattr(worker, wish)()
        try:
            found: dict[str, Any] = json.loads(await asyncio.wait_for(call, SECONDS))
        finally:
            await worker.kill()
        return found

    assert asyncio.run(stopped_at_once())[answer]


def test_a_stop_when_nothing_is_called_stops_nothing_later(tmp_path: Path) -> None:
    async def race_after_a_stop() -> dict[str, Any]:
        worker = WorkerProcess(memory_limit=1 << 33, niceness=0, log=tmp_path / "worker.log")
        worker.ask_to_stop()
        try:
            asked = {"game": "kuhn", "algorithms": ["cfr"], "seconds": SECONDS, "target": 0.1, "seed": 0}
            call = worker.call("race", asked)
            found: dict[str, Any] = json.loads(await asyncio.wait_for(call, SECONDS))
        finally:
            await worker.kill()
        return found

    (point,) = asyncio.run(race_after_a_stop())["results"]
    assert point["exploitability"] <= 0.1
