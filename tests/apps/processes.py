"""The command line in processes of its own, which are told to end, or killed, at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from aleator.solvers.solution import Solution, open_solution

COMMAND = [sys.executable, "-m", "aleator.apps.cli.main"]
PATIENCE = 600.0  # seconds; machines that run tests may be busy


def start(*arguments: str, **settings: object) -> subprocess.Popen[str]:
    """Returns a process that runs a command."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen([*COMMAND, *arguments], **(pipes | settings))  # type: ignore[call-overload,no-any-return]


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits until something is so, which it must be before the process ends."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        if time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"it hangs: {process.args}")
        time.sleep(0.005)


def newer(file: Path) -> Callable[[], bool]:
    """Returns a question: has the file been replaced since now?"""
    before = file.stat().st_ino if file.exists() else None
    return lambda: file.exists() and file.stat().st_ino != before


def kinds_of_end(kills: int, rng: random.Random) -> list[signal.Signals]:
    """Returns so many kills and a quarter as many requests to end, in any order."""
    kinds = [signal.SIGKILL] * kills + [signal.SIGTERM] * (kills // 4)
    rng.shuffle(kinds)
    return kinds


def kill_at_random(command: tuple[str, ...], file: Path, kills: int, seed: int) -> Solution:
    """Returns the solution of a solve whose process was ended at random moments and resumed each time.

    Whatever the moment, the file is whole, and nothing that was in it is lost.

    Args:
        command: the solve, without a number of iterations.
        file: where it is saved.
        kills: how many; a quarter as many more are told to end.
        seed: of the moments.
    """
    rng, iterations = random.Random(seed), 0
    command = (*command, "--out", str(file), "--json")
    start(*command, "--iterations", "2").communicate()  # compiles, while nobody waits
    file.unlink()
    for kind in kinds_of_end(kills, rng):
        resume = ("--resume", str(file)) if file.exists() else ()
        process = start(*command, "--checkpoint-every", "0", "--iterations", "1000000000", *resume)
        wait_for(newer(file), process)
        time.sleep(rng.random() * 0.5)
        assert process.poll() is None, process.communicate()
        process.send_signal(kind)
        _, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == (-signal.SIGKILL if kind == signal.SIGKILL else 128 + kind), error
        saved = open_solution(file)
        saved.verify()
        assert saved.summary.iterations > iterations, "what was saved before was resumed"
        iterations = saved.summary.iterations
    process = start(*command, "--resume", str(file), "--iterations", str(iterations + 100))
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    assert [path.name for path in file.parent.iterdir()] == [file.name], "nothing is left behind"
    return open_solution(file)
