"""Walks that know when to stop: everything that goes through a game counts on a `Meter` while it goes.

A walk cannot know beforehand how big a game is, or whether it ends. So it counts what it meets, tells whoever watches
(`watch`) a few times a second how far it is, and gives up, with a `TooBigError` of one line, when there is more than is
allowed or when it has taken more than half of the memory that was free: what is done with the result takes memory, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import NamedTuple

from aleator.errors import TooBigError
from aleator.memory import available_memory, format_gib, process_memory

MAX_MOVES = 10_000  # in a row; a game with more never ends, as far as anybody can tell
_FIRST_LOOK = 64
_SHORT, _LONG = 0.02, 0.1  # seconds between two looks at the clock and the memory
_LEAST = 64 << 20  # bytes that are never refused: memory is freed late


@dataclass(frozen=True, slots=True)
class Walked:
    """How far a walk is.

    Attributes:
        task: what is being done, as "building the tree of leduc".
        count: what has been met.
        unit: of the count, as "public states".
        total: how many there will be; None if nobody knows.
        seconds: since the walk began.
        memory: bytes taken since then.
        done: the walk is over; told once, if anything was told before.
    """

    task: str
    count: int
    unit: str
    total: int | None
    seconds: float
    memory: int
    done: bool = False

    @property
    def share(self) -> float | None:
        """How much of the walk is done, from 0 to 1; None if nobody knows."""
        return min(self.count / self.total, 1.0) if self.total else None

    def __str__(self) -> str:
        memory = f", {format_gib(self.memory)}" if self.memory >= _LEAST else ""
        return f"{self.count:,} {self.unit}{memory}"


OnWalk = Callable[[Walked], None]


class _Watch(NamedTuple):
    on_walk: OnWalk | None
    most: int | None
    memory: int | None


_NOBODY = _Watch(None, None, None)
_watching: ContextVar[_Watch] = ContextVar("_watching", default=_NOBODY)


@contextmanager
def watch(on_walk: OnWalk | None = None, *, most: int | None = None, memory: int | None = None) -> Iterator[None]:
    """Watches all walks inside the block; limits of an outer block hold, too.

    Args:
        on_walk: called a few times a second while a walk lasts; what it raises ends the walk.
        most: no walk may count more than this, whatever it allows by itself.
        memory: bytes that a walk may take; by default half of what is free.
    """
    outer = _watching.get()
    token = _watching.set(_Watch(on_walk or outer.on_walk, _tighter(most, outer.most), _tighter(memory, outer.memory)))
    try:
        yield
    finally:
        _watching.reset(token)


def _tighter(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)


class Meter:
    """Counts one walk; a context manager, so that whoever watches learns when it is over.

    Args:
        name: of what is walked, as "leduc".
        task: what is being done, as "building the tree of leduc".
        unit: what is counted, in the plural.
        most: how many are allowed; None for no limit.
        total: how many there will be, if that is known.
        advice: what to do when it is too much.
    """

    def __init__(
        self,
        name: str,
        task: str,
        unit: str,
        *,
        most: int | None = None,
        total: int | None = None,
        advice: str = "choose a smaller game",
    ) -> None:
        self._watch = _watching.get()
        self.name, self.task, self.unit, self.total, self.advice = name, task, unit, total, advice
        self.most = _tighter(most, self._watch.most)
        self.count = 0
        self._next = _FIRST_LOOK if self.most is None else min(_FIRST_LOOK, self.most + 1)
        self._stride = _FIRST_LOOK
        self._started = self._looked = perf_counter()
        self._memory_before: int | None = None
        self._told = False

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._told and self._watch.on_walk:
            self._watch.on_walk(self._walked(0, done=True))

    def add(self, number: int = 1) -> None:
        """Counts some more; now and then looks whether it is too much.

        Raises:
            TooBigError: there are more than are allowed, or they take too much memory.
        """
        self.count += number
        if self.count >= self._next:
            self._look()

    def check_moves(self, moves: int) -> None:
        """Raises TooBigError if so many moves in a row are more than a game can have."""
        if moves > MAX_MOVES:
            raise TooBigError(
                f"{self.name} goes on after {MAX_MOVES:,} moves in a row, which is more than is allowed (does it "
                f"end?): {self.advice}"
            )

    def check_memory(self, more: int = 0) -> None:
        """Raises TooBigError if what was taken so far and so many bytes more are too much."""
        now = process_memory()
        if self._memory_before is None:
            self._memory_before = now
        taken = max(now - self._memory_before, 0)
        if taken + more <= _LEAST:
            return
        limit = self._watch.memory
        if limit is None:
            free = available_memory() + taken  # when the walk began, as far as other processes left it
            limit, words = free // 2, f"more than half of the {format_gib(free)} that were free"
        else:
            words = f"more than the {format_gib(limit)} that are allowed"
        if taken + more <= limit:
            return
        takes = (
            f"would take about {format_gib(taken + more)} of memory" if more else f"took {format_gib(taken)} of memory"
        )
        counted = f" for {self.count:,} {self.unit} so far" if self.count and not more else ""
        raise TooBigError(f"{self.task} {takes}{counted}, {words}: {self.advice}")

    def _look(self) -> None:
        if self.most is not None and self.count > self.most:
            raise TooBigError(
                f"{self.name} has more than the {self.most:,} {self.unit} that are allowed: {self.advice}"
            )
        self.check_memory()
        now = perf_counter()
        if now - self._looked < _SHORT:
            self._stride *= 2
        else:
            if now - self._looked > _LONG:
                self._stride = max(self._stride // 2, 1)
            if self._watch.on_walk:
                self._told = True
                self._watch.on_walk(self._walked(process_memory() - (self._memory_before or 0)))
        self._looked = now
        self._next = self.count + self._stride
        if self.most is not None:
            self._next = min(self._next, self.most + 1)

    def _walked(self, memory: int, *, done: bool = False) -> Walked:
        seconds = perf_counter() - self._started
        return Walked(self.task, self.count, self.unit, self.total, seconds, max(memory, 0), done)
