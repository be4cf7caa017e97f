"""What benchmarks share: results, finding the benchmark modules, timing, the memory roofline of the run."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

import aleator
from aleator.errors import AleatorError, check_known

Progress = Callable[[float | None, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A benchmark's table: rows are dictionaries with the same keys; None stands for 'not measured'."""

    title: str
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)


def _folder() -> Path:
    """Returns where the benchmarks are: beside the sources in a checkout, inside an installed package."""
    package = Path(aleator.__file__).parent
    installed = package / "benchmarks"
    return installed if installed.is_dir() else package.parents[1] / "benchmarks"


def _file(name: str) -> Path:
    return _folder() / f"{name.replace('-', '_')}.py"


def benchmark_names() -> list[str]:
    """Returns the names of the benchmarks."""
    return sorted(path.stem.replace("_", "-") for path in _folder().glob("[a-z]*.py"))


def benchmark_summaries() -> dict[str, str]:
    """Returns one line about each benchmark, read from its source: nothing that it needs has to be installed."""
    summaries = {}
    for name in benchmark_names():
        for line in ast.parse(_file(name).read_text(encoding="utf-8")).body:
            match line:
                case ast.Assign(targets=[ast.Name("SUMMARY")], value=ast.Constant(str(summary))):
                    summaries[name] = summary
    return summaries


def load_benchmark(name: str) -> ModuleType:
    """Returns a benchmark's module."""
    check_known(name, benchmark_names(), "benchmark", AleatorError)
    spec = importlib.util.spec_from_file_location(f"aleator_benchmark_{name}", _file(name))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best_seconds(call: Callable[[], Any], *, repeats: int = 5, at_most: float = 5.0) -> float:
    """Returns the shortest time of a few calls; stops repeating when `at_most` seconds have been spent."""
    best, started = float("inf"), perf_counter()
    for _ in range(repeats):
        before = perf_counter()
        call()
        best = min(best, perf_counter() - before)
        if perf_counter() - started > at_most:
            break
    return best


def memory_bandwidth() -> float:
    """Returns the bytes per second that one thread moves now: a = b + s * c over arrays far larger than the caches."""
    from aleator.jit import njit

    @njit(cache=False, fastmath=True)
    def triad(a: Any, b: Any, c: Any) -> None:
        for i in range(len(a)):
            a[i] = b[i] + np.float32(0.5) * c[i]

    arrays = [np.ones(24_000_000, np.float32) for _ in range(3)]
    triad(*arrays)
    return 3 * arrays[0].nbytes / best_seconds(lambda: triad(*arrays), repeats=7)
