"""`functools.cache` and `lru_cache` whose functions keep the types of their arguments, which mypy then checks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def cache(function: Callable[P, T]) -> Callable[P, T]:
    """Returns the function with what it returned kept, by its arguments."""
    return cast(Callable[P, T], functools.cache(function))


def lru_cache(*, maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Returns a decorator like `cache` that keeps what was asked for last."""
    return cast(Callable[[Callable[P, T]], Callable[P, T]], functools.lru_cache(maxsize=maxsize))
