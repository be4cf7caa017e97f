"""Numba's `njit` with the project's options, typed so that `mypy --strict` sees through it.

Compiled code is kept on disk beside the sources (or in the user's cache directory if those cannot be written), so that
only the first run compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from aleator.caching import cache

F = TypeVar("F", bound=Callable[..., Any])


@cache
def _stamp_of_kernels() -> tuple[tuple[str, int, int], ...]:
    """Returns what changes when any source file with kernels does: Numba itself looks only at a function's own file."""
    package = Path(__file__).parent
    files = [
        Path(__file__),
        *package.glob("kernels/*.py"),
        *package.glob("solvers/engines/**/*.py"),
        *package.glob("abstraction/**/*.py"),
        *(
            package / "games" / "holdem" / f"{name}.py"
            for name in ("evaluator", "equity", "hand_kernels", "preflop_table")
        ),
        *package.glob("arena/whole_hands/deals.py"),
        *package.glob("learning/value_network/numba_kernels.py"),
    ]
    return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(files))


def _harden(index: Any) -> None:
    """Makes Numba's disk cache notice edits in any kernel, and survive files that another version wrote."""
    if not (hasattr(index, "_source_stamp") and hasattr(index, "_load_index")):
        return
    index._source_stamp = (index._source_stamp, _stamp_of_kernels())
    load = index._load_index

    def load_or_forget() -> Any:
        try:
            return load()
        except Exception:  # whatever it is, compiling again mends it
            return {}

    index._load_index = load_or_forget


def njit(**options: Any) -> Callable[[F], F]:
    """Returns a decorator that compiles a function to machine code at its first call, and keeps the result on disk.

    Defaults: the GIL is released, divisions do not raise, `a * b + c` may be fused; every other IEEE rule is kept,
    so results do not depend on the order in which a loop happens to be vectorised. Pass options to override.
    """
    settings: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    settings.update(options)

    def decorate(function: F) -> F:
        compiled: F = numba.njit(**settings)(function)
        _harden(getattr(getattr(compiled, "_cache", None), "_cache_file", None))
        return compiled

    return decorate


def kernel(**options: Any) -> Callable[[F], F]:
    """Returns `njit` for functions that allocate nothing: arrays they are given are not reference-counted.

    In loops over small rows the counting costs several times more than the arithmetic, and compiling it takes longer.
    So does an entry from C, which nobody uses.
    """
    return njit(_nrt=False, no_cfunc_wrapper=True, **options)


def inner_kernel(**options: Any) -> Callable[[F], F]:
    """Returns `kernel` for functions that only other kernels call: without an entry from Python they compile faster."""
    return kernel(no_cpython_wrapper=True, **options)
