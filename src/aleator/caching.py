"""What was computed last, kept: `cache` and `lru_cache` as in `functools`, but typed for mypy, and `Kept` by key."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def cache(function: Callable[P, T]) -> Callable[P, T]:
    """Returns the function with what it returned kept, by its arguments."""
    return cast(Callable[P, T], functools.cache(function))


def lru_cache(*, maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Returns a decorator like `cache` that keeps what was asked for last."""
    return cast(Callable[[Callable[P, T]], Callable[P, T]], functools.lru_cache(maxsize=maxsize))


class Kept(Generic[T]):
    """The last few things that were computed, by key."""

    def __init__(self, most: int) -> None:
        self._found: OrderedDict[Hashable, T] = OrderedDict()
        self._most = most

    def find(self, key: Hashable) -> T | None:
        """Returns what a key stands for; None if it is not there."""
        try:
            self._found.move_to_end(key)
        except KeyError:  # not asked beforehand: another thread may drop it in between
            return None
        return self._found.get(key)

    def find_last(self, keys: Sequence[Hashable]) -> tuple[int, T] | None:
        """Returns the place of the last of some keys that is there, and what it stands for; the first is not asked."""
        for place in range(len(keys) - 1, 0, -1):
            if (entry := self.find(keys[place])) is not None:
                return place, entry
        return None

    def find_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns what a key stands for; what is not there is made, and kept."""
        found = self.find(key)
        return self.keep(key, make()) if found is None else found

    def keep(self, key: Hashable, made: T) -> T:
        """Returns what was made, and keeps it."""
        self._found[key] = made
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
        return made
