"""A server in a process of its own, as a user starts it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from aleator.apps.web.worker.channel import Channel

SECONDS = 300.0  # machines that run tests may be busy

RIVER: dict[str, Any] = {
    "board": "Qs Jh 2h 8c 3d",
    "pot": 100,
    "stack": 300,
    "oop": "66+,A8s+,AJo+,K9s+,QTs+",
    "ip": "QQ-22,AQs-A2s,ATo+,KJo+,JTs",
    "river": {
        "oop": {"bet": ["75%"], "raise": ["all-in"]},
        "ip": {"bet": ["75%"], "raise": ["all-in"]},
    },
}
TURN: dict[str, Any] = RIVER | {
    "board": "Qs Jh 2h 8c",
    "turn": RIVER["river"],
}
LONG: dict[str, Any] = TURN | {"solve": {"target": 0, "max_iterations": 1_000_000}}
"""A spot that nobody waits for: it is there to be stopped."""


def free_port() -> int:
    """Returns a port that nobody listens on, from below those that the system gives to others meanwhile."""
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class RunningProcess(NamedTuple):
    """A process of this machine: its command line, and the seconds that it and its ended children have computed."""

    pid: int
    parent: int
    line: list[bytes]
    seconds: float


def running_processes() -> list[RunningProcess]:
    """Returns the processes of this machine."""
    found, tick = [], os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes().split(b"\0")
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                seconds = sum(map(int, fields[11:15])) / tick
                found.append(RunningProcess(int(entry.name), int(fields[1]), line, seconds))
    return found


class RunningServer:
    """`aleator serve` with a data directory of its own."""

    def __init__(self, data_dir: Path, *arguments: str, **settings: Any) -> None:
        self.data_dir, self.arguments, self.port = data_dir, arguments, free_port()
        self.settings = settings
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx.Client(base_url=self.url, timeout=SECONDS)

    @property
    def token(self) -> str:
        """What a request needs."""
        return (self.data_dir / "token").read_text().strip()

    def start(self) -> RunningServer:
        """Starts the server and waits until it answers."""
        command = [sys.executable, "-m", "aleator.apps.cli.main", "serve"]
        command += ["--port", str(self.port), "--data-dir", str(self.data_dir), "--no-warm-up", *self.arguments]
        self.process = subprocess.Popen(command, start_new_session=True, **self.settings)
        self.wait(self._answers, "the server did not start")
        return self

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "the server ended at once"
        try:
            self.client.headers["authorization"] = f"Bearer {self.token}"
            return self.client.get("/api/about").is_success
        except (httpx.TransportError, FileNotFoundError):
            return False

    def stop(self, how: int = signal.SIGINT) -> None:
        """Ends the server."""
        assert self.process is not None
        self.client.close()
        self.process.send_signal(how)
        self.process.wait(timeout=SECONDS)

    @staticmethod
    def wait(done: Any, reason: str, seconds: float = SECONDS) -> Any:
        """Returns what `done` returns once that is true."""
        end = time.monotonic() + seconds
        while not (found := done()):
            assert time.monotonic() < end, reason
            time.sleep(0.05)
        return found

    def job(self, job_id: str) -> dict[str, Any]:
        """Returns a job."""
        found: dict[str, Any] = self.client.get(f"/api/jobs/{job_id}").raise_for_status().json()
        return found

    def solve(self, spot: dict[str, Any], **settings: Any) -> str:
        """Returns the id of a new solve."""
        answer = self.client.post("/api/jobs/solve", json={"spot": spot, **settings})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def ended(self, job_id: str) -> dict[str, Any]:
        """Returns a job once it has ended."""
        found: dict[str, Any] = self.wait(
            lambda: (job := self.job(job_id))["status"] not in ("queued", "running") and job,
            f"job {job_id} did not end",
        )
        return found

    def running(self, job_id: str) -> None:
        """Waits until a solve iterates."""

        def iterates() -> bool:
            with self.client.stream("GET", f"/api/jobs/{job_id}/events") as events:
                return any('"stage": "solving"' in line or "event: end" in line for line in events.iter_lines())

        self.wait(iterates, f"job {job_id} did not begin")

    def workers(self) -> list[tuple[int, int]]:
        """Returns the worker processes and the niceness that they are told to add; the solver's is 10."""
        assert self.process is not None
        return [
            (running.pid, int(running.line[-2]))
            for running in running_processes()
            if b"aleator.apps.web.worker" in running.line and running.parent == self.process.pid
        ]

    def computed(self) -> float:
        """Returns the seconds that the server and all processes below it have computed."""
        assert self.process is not None
        everything = running_processes()
        family, count = {self.process.pid}, 0
        while count < len(family):
            count = len(family)
            family |= {running.pid for running in everything if running.parent in family}
        return sum(running.seconds for running in everything if running.pid in family)

    def wait_computing(self, done: Callable[[], bool], reason: str, seconds: float) -> None:
        """Waits until something is done, as long as the server computes, and that no longer than some seconds."""
        last = begin = self.computed()
        moved = time.monotonic()
        while not done():
            now = self.computed()
            if now > last + 1.0:
                last, moved = now, time.monotonic()
            assert now - begin < seconds and time.monotonic() < moved + SECONDS, reason
            time.sleep(0.5)

    def kill_solver(self) -> None:
        """Kills the process that solves, as the system does when memory runs out."""
        (solver,) = [pid for pid, niceness in self.workers() if niceness == 10]
        os.kill(solver, signal.SIGKILL)


class Silent(Channel):
    """A channel that keeps what is reported."""

    def __init__(self) -> None:
        self.stopped = self.suspended = False
        self.events: list[dict[str, Any]] = []

    def send(self, kind: str, value: Any) -> None:
        """Keeps an event."""
        self.events.append(value)
