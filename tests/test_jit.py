"""Compiled code on disk: what several processes do to it at the same time, and what a disk does."""

from __future__ import annotations

import errno
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import numba
import numpy as np
import pytest

import aleator
from aleator import jit
from tests.patience import patience

KERNEL = """
from aleator.jit import kernel


@kernel()
def double(row):
    for i in range(len(row)):
        row[i] = row[i] * 2
"""
DOUBLES, SINGLES = numba.float64[::1], numba.float32[::1]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Returns the kernel as a process of its own would have it: nothing is shared but the files."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # beside the source
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(KERNEL)

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("kernels_of_a_test", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load


def compiled(kernel: Any, types: Any) -> bool:
    """Compiles a kernel, or takes what is on disk; returns whether it was on disk. It must work."""
    kernel.compile((types,))
    assert kernel.signatures == [(types,)]
    row = np.ones(3, np.float64 if types is DOUBLES else np.float32)
    kernel(row)
    assert row.tolist() == [2.0] * 3
    return sum(kernel.stats.cache_hits.values()) > 0


def test_code_is_found_again(load: Callable[[], Any]) -> None:
    assert not compiled(load(), DOUBLES)
    assert not compiled(load(), SINGLES)
    assert compiled(load(), DOUBLES) and compiled(load(), SINGLES)


def test_two_who_write_at_the_same_time_do_not_mix_their_code(load: Callable[[], Any]) -> None:
    first, second = load(), load()
    file = first._cache._cache_file
    save_data = file._save_data
    second._cache._cache_file._load_index = dict  # it looked before the first had written

    def save_after_the_other(name: str, data: Any) -> None:
        second.compile((SINGLES,))
        save_data(name, data)

    file._save_data = save_after_the_other
    first.compile((DOUBLES,))
    for types in (DOUBLES, SINGLES):
        compiled(load(), types)
    assert compiled(load(), DOUBLES) and compiled(load(), SINGLES)


def test_damaged_code_is_compiled_again(load: Callable[[], Any], tmp_path: Path) -> None:
    compiled(load(), DOUBLES)
    files = [*tmp_path.rglob("*.nbc"), *tmp_path.rglob("*.nbi")]
    assert len(files) == 2
    for path in files:
        good = path.read_bytes()
        for bad in (b"", good[:-7], b"\x80" + good[::-1]):
            path.write_bytes(bad)
            assert not compiled(load(), DOUBLES)
            assert compiled(load(), DOUBLES)


def test_code_of_earlier_sources_is_removed(load: Callable[[], Any], tmp_path: Path) -> None:
    compiled(load(), DOUBLES)
    compiled(load(), SINGLES)
    source = tmp_path / "kernels_of_a_test.py"
    source.write_text(KERNEL + "\n")
    assert not compiled(load(), DOUBLES)
    assert len([*tmp_path.rglob("*.nbc")]) == 1


@pytest.mark.parametrize("name", ["_save_data", "_save_index"])
def test_code_runs_when_the_disk_is_full(load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kernel = load()
    monkeypatch.setattr(kernel._cache._cache_file, name, refuse)
    assert not compiled(kernel, DOUBLES)
    assert not compiled(load(), DOUBLES) and compiled(load(), DOUBLES), "it is kept when there is space again"


def test_caches_notice_edits_in_every_file_with_kernels() -> None:
    package = Path(aleator.__file__).parent
    stamped = {path for pattern in jit.KERNELS for path in package.glob(pattern)}
    with_kernels = {
        path
        for path in package.rglob("*.py")
        if re.search(r"^from aleator\.jit import", path.read_text(), re.MULTILINE)
    }
    assert with_kernels and with_kernels <= stamped
    for pattern in jit.KERNELS:
        assert list(package.glob(pattern)), f"{pattern} has no file"


PROCESS = """
import sys, time
from pathlib import Path
import numba, numpy as np
numba.config.CACHE_DIR = ""
sys.path.insert(0, sys.argv[1])
from kernels_of_a_test import double
Path(sys.argv[2]).touch()
while not (Path(sys.argv[1]) / "go").exists():
    time.sleep(0.01)
row = np.ones(3)
double(row)
assert row.tolist() == [2.0] * 3
print(sum(double.stats.cache_misses.values()))
"""


def test_processes_that_begin_at_once_compile_a_function_once(load: Callable[[], Any], tmp_path: Path) -> None:
    ready = [tmp_path / f"ready{number}" for number in range(3)]
    runs = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(tmp_path), str(file)], stdout=subprocess.PIPE, text=True)
        for file in ready
    ]
    with patience(30):
        while not all(file.exists() for file in ready):
            sleep(0.02)
        (tmp_path / "go").touch()
        misses = [int(run.communicate()[0]) for run in runs]
    assert sorted(misses) == [0, 0, 1] and all(run.returncode == 0 for run in runs)


def test_a_process_that_waits_too_long_compiles_too(
    load: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "_PATIENCE", 0.1)
    kernel = load()
    index = kernel._cache._cache_file
    hold = (
        "import fcntl, sys, os; f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); "
        "fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    )
    folder = Path(index._cache_path)
    folder.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(folder / "compiling.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        assert not compiled(kernel, DOUBLES)
        other.communicate("")
