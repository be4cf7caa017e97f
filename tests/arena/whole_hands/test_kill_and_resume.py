"""A match that is killed at random moments loses no finished hand and ends as if it had never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest


def command(path: Path, hands: int) -> list[str]:
    return [
        sys.executable, "-m", "aleator", "match", "hunl", "tight-aggressive", "half-call-half-raise", "--hands",
        str(hands), "--seed", "5", "--out", str(path), "--json", "--processes", "1",
    ]  # fmt: skip


def whole_lines(path: Path) -> list[str]:
    return path.read_text().rpartition("\n")[0].splitlines()[1:] if path.exists() else []


@pytest.mark.slow
def test_ten_kills(tmp_path: Path) -> None:
    straight, killed = tmp_path / "straight.jsonl", tmp_path / "killed.jsonl"
    began = time.monotonic()
    expected = json.loads(subprocess.run(command(straight, 10_000), capture_output=True, check=True).stdout)
    length = time.monotonic() - began
    rng, kills, before = np.random.default_rng(1), 0, list[str]()
    while kills < 10:
        process = subprocess.Popen(command(killed, 10_000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(float(rng.uniform(0.1, 0.5)) * length)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        now = whole_lines(killed)
        assert now[: len(before)] == before  # what was finished stays
        before = now
    found = json.loads(subprocess.run(command(killed, 10_000), capture_output=True, check=True).stdout)
    for name in ("hands", "mbb_per_hand", "ci95", "raw"):
        assert found[name] == expected[name]
    assert sorted(whole_lines(killed), key=lambda line: json.loads(line)["hand"]) == sorted(
        whole_lines(straight), key=lambda line: json.loads(line)["hand"]
    )
