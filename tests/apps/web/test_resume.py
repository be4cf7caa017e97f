"""Solves go on where they were: after an orderly end, after kills, and when a full disk has space again."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.web.worker import holdem
from aleator.apps.web.worker.holdem import solve
from aleator.solvers.holdem.solution import HoldemSolution
from tests.apps.web.running import LONG, RIVER, TURN, RunningServer, Silent

STEADY: dict[str, Any] = TURN | {"solve": {"target": 0, "max_iterations": 60}}


class Suspending(Silent):
    """A channel that suspends its call at an iteration."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def send(self, kind: str, value: Any) -> None:
        super().send(kind, value)
        self.suspended |= value.get("iteration", 0) >= self.at


def params_of(folder: Path, spot: dict[str, Any] = STEADY) -> dict[str, Any]:
    return {
        "spot": spot, "threads": 1, "bits": 32, "locks": [], "base": None, "memory_limit": 1 << 40,
        "output": str(folder / "x.solution"), "checkpoint": str(folder / "x.checkpoint"),
    }  # fmt: skip


def arrays(path: Path) -> dict[str, bytes]:
    solution = HoldemSolution.open(path)
    root = solution.start()
    return {token: solution.policy_at(solution.follow(root, token)).tobytes() for token in root.node.tokens}


def test_a_solve_that_is_suspended_again_and_again_ends_as_if_it_never_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    expected = solve(params_of(whole), Silent())
    monkeypatch.setattr(holdem, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    seen = []
    for at in (5, 20, 40):
        channel = Suspending(at)
        assert solve(params_of(parts), channel) == {"suspended": True}
        seen.append([event["iteration"] for event in channel.events if event.get("stage") == "solving"])
        assert (parts / "x.checkpoint").exists() and not (parts / "x.solution").exists()
    assert seen[0][0] <= seen[0][-1] < seen[1][0] <= seen[1][-1] < seen[2][0], "it goes on, not back"
    found = solve(params_of(parts), Silent())
    assert found["iterations"] == expected["iterations"] == 60
    assert found["exploitability"] == pytest.approx(expected["exploitability"], rel=1e-12)
    assert arrays(parts / "x.solution") == arrays(whole / "x.solution")
    assert not HoldemSolution.open(parts / "x.solution").state, "the result is without the state"


def test_a_solve_that_is_stopped_keeps_what_it_has_without_the_state(tmp_path: Path) -> None:
    channel = Suspending(20)
    channel.stopped = True
    found = solve(params_of(tmp_path), channel)
    assert found["stopped"] and found["iterations"] < 60
    assert not HoldemSolution.open(tmp_path / "x.solution").state


@pytest.mark.parametrize("damage", ["cut", "other spot", "text"])
def test_a_checkpoint_that_cannot_be_used_is_as_good_as_none(tmp_path: Path, damage: str) -> None:
    params = params_of(tmp_path)
    assert solve(params, Suspending(20)) == {"suspended": True}
    file = tmp_path / "x.checkpoint"
    if damage == "cut":
        os.truncate(file, file.stat().st_size // 2)
    elif damage == "text":
        file.write_text("nothing")
    else:
        params["spot"] = STEADY | {"pot": 120}
    channel = Silent()
    assert solve(params, channel)["iterations"] == 60
    assert min(event["iteration"] for event in channel.events if "iteration" in event) < 20


def test_an_orderly_restart_goes_on_with_what_runs(empty: Path) -> None:
    """Also the third time: an end in good order is no attempt that failed."""
    job_id, last = "", 0
    for _ in range(3):
        server = RunningServer(empty).start()
        job_id = job_id or server.solve(LONG)
        last = advance(server, job_id, last + 1)
        server.stop(signal.SIGTERM)
        assert (empty / "solutions" / f"{job_id}.checkpoint").exists()
    server = RunningServer(empty).start()
    try:
        assert advance(server, job_id, last + 1) > last
        assert server.job(job_id)["attempts"] == 1
        server.client.post(f"/api/jobs/{job_id}/stop")
        job = server.ended(job_id)
        assert job["status"] == "done" and job["summary"]["iterations"] > last
        assert [path.name for path in (empty / "solutions").iterdir()] == [f"{job_id}.solution"]
    finally:
        server.stop()


def advance(server: RunningServer, job_id: str, beyond: int) -> int:
    """Returns the iteration a solve has got to, once it is at least `beyond`; it must not begin anew."""
    with server.client.stream("GET", f"/api/jobs/{job_id}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data:"):
                iteration = json.loads(line[5:])["last"].get("iteration")
                if iteration is not None:
                    assert iteration >= beyond, "it began anew"
                    return int(iteration)
    raise AssertionError("the solve has ended")


def check_kills(folder: Path, kills: int, seed: int) -> None:
    """Kills the server at random moments while it solves, races, and plays; then everything is there, and ends well."""
    rng = random.Random(seed)
    spots = [STEADY | {"pot": 100 + number, "solve": {"target": 0, "max_iterations": 200}} for number in range(3)]
    jobs: list[str] = []
    done: dict[str, Any] = {}
    session: dict[str, Any] | None = None
    server = RunningServer(folder).start()
    for number in range(kills):
        if number < len(spots):
            jobs.append(server.solve(spots[number], name=f"spot {number}"))
            body = {"game": "kuhn", "algorithms": ["cfr"], "seconds": 0.5}
            jobs.append(server.client.post("/api/jobs/race", json=body).json()["id"])
        if session is None:
            session = server.client.post("/api/play/sessions", json={"game": "kuhn"}).json()
        else:
            path = f"/api/play/sessions/{session['id']}"
            assert server.client.get(path).json() == session
            move = "deal" if session["deal"]["over"] else session["deal"]["options"][0]["label"]
            session = server.client.post(f"{path}/move", json={"move": move}).json()
        time.sleep(rng.uniform(0.0, 5.0))
        done |= {job_id: job for job_id in jobs if (job := server.job(job_id))["status"] == "done"}
        workers = [pid for pid, _ in server.workers()]
        server.stop(signal.SIGKILL)
        server.wait(lambda left=workers: not any(map(is_alive, left)), "workers outlive their server")
        server = RunningServer(folder).start()
        for job_id in jobs:
            job = server.job(job_id)
            assert job["status"] in ("queued", "running", "done"), job
            assert job_id not in done or job == done[job_id], "what is done stays as it is"
    try:
        for job_id in jobs:
            job = server.ended(job_id)
            assert job["status"] == "done", job["error"]
            if job["kind"] == "solve":
                assert job["summary"]["iterations"] == 200
                assert server.client.get(f"/api/solutions/{job_id}/node").is_success
        left = {path.name for path in (folder / "solutions").iterdir()}
        assert left == {f"{job_id}.solution" for job_id in jobs if server.job(job_id)["kind"] == "solve"}
    finally:
        server.stop()


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.slow
def test_twenty_kills_lose_nothing(empty: Path) -> None:
    check_kills(empty, kills=20, seed=2)


class SmallDisk:
    """A data directory whose disk can be filled and emptied again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ballast = folder, folder / "ballast"

    def fill(self) -> None:
        with self.ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def empty(self) -> None:
        self.ballast.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 24 MB in memory, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk; the test with a limit on files runs everywhere")
    yield SmallDisk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_waited_for_and_nothing_is_lost(small_disk: SmallDisk) -> None:
    """Jobs that end while the disk is full, and those that wait behind them, end well when there is space again."""
    server = RunningServer(small_disk.folder / "data").start()
    try:
        first = server.solve(LONG)
        second = server.solve(RIVER, name="behind")
        race = server.client.post("/api/jobs/race", json={"game": "kuhn", "algorithms": ["cfr"], "seconds": 1}).json()
        session = server.client.post("/api/play/sessions", json={"game": "kuhn"}).json()
        server.running(first)

        def refusal() -> str | None:  # a checkpoint that is given up leaves some space
            small_disk.fill()
            answer = server.client.post("/api/jobs/solve", json={"spot": RIVER | {"oop": "AA," * 5_000 + "KK"}})
            return answer.json()["detail"] if answer.status_code == 507 else None

        assert "disk is full" in server.wait(refusal, "the disk was never full")
        upload = server.client.post("/api/solutions/upload", content=b"x" * (1 << 20))
        assert upload.status_code == 507 and "No space left" in upload.json()["detail"]
        server.client.post(f"/api/jobs/{first}/stop")
        with server.client.stream("GET", f"/api/jobs/{first}/events") as events:
            assert any('"stage": "waiting"' in line for line in events.iter_lines())
        jobs = {one["id"]: one["status"] for one in server.client.get("/api/jobs").json()}
        assert set(jobs.values()) <= {"running", "queued", "done"}
        assert server.client.get(f"/api/play/sessions/{session['id']}").json() == session
        small_disk.empty()
        for job_id in (first, second, race["id"]):
            job = server.ended(job_id)
            assert job["status"] == "done", job["error"]
        assert server.client.get(f"/api/solutions/{first}/node").is_success
        assert server.ended(server.solve(RIVER))["status"] == "done"
    finally:
        server.stop()


def test_a_limit_on_files_is_waited_for_and_nothing_is_lost(empty: Path) -> None:
    """The same where no disk can be mounted: files may not grow beyond a size, and then they may again."""
    server = RunningServer(empty).start()
    assert server.process is not None
    try:
        race = server.client.post("/api/jobs/race", json={"game": "kuhn", "algorithms": ["cfr"], "seconds": 0.5}).json()
        assert server.ended(race["id"])["status"] == "done"
        limit_files(server.process.pid, 4096)
        refused = server.client.post("/api/jobs/solve", json={"spot": RIVER})
        assert refused.status_code == 507 and "cannot be kept" in refused.json()["detail"]
        limit_files(server.process.pid, resource.RLIM_INFINITY)
        job_id = server.solve(LONG)
        server.running(job_id)
        for pid in [server.process.pid, *(pid for pid, _ in server.workers())]:
            limit_files(pid, 4096)
        server.client.post(f"/api/jobs/{job_id}/stop")  # it ends now and not before: however fast the machine is
        with server.client.stream("GET", f"/api/jobs/{job_id}/events") as events:
            waits = next(line for line in events.iter_lines() if '"stage": "waiting"' in line)
        assert "File too large" in waits or "cannot be kept" in waits
        assert server.job(job_id)["status"] == "running"
        for pid in [server.process.pid, *(pid for pid, _ in server.workers())]:
            limit_files(pid, resource.RLIM_INFINITY)
        job = server.ended(job_id)
        assert job["status"] == "done" and server.client.get(f"/api/solutions/{job_id}/node").is_success
    finally:
        server.stop()


def limit_files(pid: int, size: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
