"""Every command under thousands of command lines: no traceback, no hang, no error that is not one short line."""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path

import pytest

from tests.fuzz import commands
from tests.fuzz.doors import DOORS
from tests.fuzz.judge import LONG_PATIENCE, PATIENCE, fault_of

FEW, MANY = 150, 20_000
PLAIN = (
    "games kuhn", "solve kuhn --iterations 2", "evaluate kuhn.solution", "agents", "bench",
    "paper", "play kuhn --you first --agent uniform", "match kuhn first last --deals 2",
    "holdem show small.solution r:0", "games --json", "evaluate kuhn --agent uniform", "holdem estimate small.toml",
)  # fmt: skip
HOLDEM = (
    "solve holdem:small.toml --iterations 2 --dtype float32", "solve holdem:small.toml --iterations 2 --dtype float16",
    "match hunl tight-aggressive always-call --hands 2", "lbr hunl always-call --hands 2",
)  # fmt: skip


def _try(count: int, seed: int, *, quick: bool = False) -> None:
    algorithms = [] if quick else DOORS["algorithms"].samples
    kernels = [
        f"solve kuhn --algorithm {name} --dtype {dtype}" for name in algorithms for dtype in ("float64", "float32")
    ]
    for line in (*PLAIN, *kernels, *(() if quick else HOLDEM)):  # kernels are compiled before the clock ticks
        commands.run(shlex.split(line))
    lines = commands.Commands(seed, quick=quick)
    for number in range(count):
        arguments = lines.next()
        fault = fault_of(partial(commands.run, arguments), PATIENCE if count == MANY else LONG_PATIENCE)
        assert fault is None, f"command {number} of seed {seed}, {[word[:200] for word in arguments]}: {fault}"


def test_a_few_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands.prepare(tmp_path, monkeypatch)
    _try(FEW, seed=0, quick=True)


@pytest.mark.slow
def test_many_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands.prepare(tmp_path, monkeypatch)
    _try(MANY, seed=int(os.environ.get("ALEATOR_FUZZ_SEED", "1")))
