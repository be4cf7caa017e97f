"""Numba's `njit` with the project's options, typed so that `mypy --strict` sees through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[F], F]:
    """Returns a decorator that compiles a function to machine code at its first call, and keeps the result on disk.

    Defaults: the GIL is released, divisions do not raise, `a * b + c` may be fused; every other IEEE rule is kept,
    so results do not depend on the order in which a loop happens to be vectorised. Pass options to override.
    """
    settings: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    settings.update(options)

    def decorate(function: F) -> F:
        compiled: F = numba.njit(**settings)(function)
        return compiled

    return decorate


def kernel(**options: Any) -> Callable[[F], F]:
    """Returns `njit` for functions that allocate nothing: arrays they are given are not reference-counted.

    In loops over small rows the counting costs several times more than the arithmetic, and compiling it takes longer.
    """
    return njit(_nrt=False, **options)
