"""Every command under thousands of command lines: no traceback, no hang, no error that is not one short line."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from tests.fuzz import commands
from tests.fuzz.judge import LONG_PATIENCE, PATIENCE, fault_of

FEW, MANY = 150, 20_000


def _try(count: int, seed: int, *, quick: bool = False) -> None:
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
