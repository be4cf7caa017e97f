"""Many clients at once: no error, no lost job, memory bounded."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

import pytest

from aleator.apps.benchmarking import load_benchmark
from tests.apps.web.running import RunningServer


def memory(server: RunningServer) -> dict[str, int]:
    """Returns the resident bytes of the server, and of its largest worker."""
    assert server.process is not None
    pids = [server.process.pid, *(pid for pid, _ in server.workers())]
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() for pid in pids]
    return {"server": pages[0], "worker": max(pages[1:], default=0)}


def check_load(server: RunningServer, *, clients: int, solves: int, seconds: float, iterations: int) -> None:
    bench = load_benchmark("web")
    before = memory(server)
    load, jobs = asyncio.run(
        bench.browse_while_solving(
            bench.Site(server.port, server.token),
            clients=clients,
            solves=solves,
            seconds=seconds,
            iterations=iterations,
        )
    )
    assert not load.problems
    assert len(load.seconds) >= clients, "everybody was answered"
    assert [job["status"] for job in jobs] == ["done"] * solves
    assert {job["summary"]["iterations"] for job in jobs} == {iterations}
    after = memory(server)
    assert after["server"] - before["server"] < 100 << 20
    assert after["worker"] < 1 << 30


def test_clients_browse_while_solves_run(server: RunningServer) -> None:
    check_load(server, clients=20, solves=2, seconds=4.0, iterations=100)


@pytest.mark.slow
def test_fifty_clients_and_five_solves_for_two_minutes(server: RunningServer) -> None:
    check_load(server, clients=50, solves=5, seconds=120.0, iterations=1_500)
