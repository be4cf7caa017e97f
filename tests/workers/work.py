"""Tasks for workers, as functions of a module."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt


def squares() -> Callable[[int], int]:
    return lambda number: number * number


def who() -> Callable[[int], int]:
    return lambda _: os.getpid()


def refuse() -> Callable[[int], int]:
    def do(number: int) -> int:
        raise ValueError(f"no {number}")

    return do


def die_once(folder: Path, deadly: frozenset[int]) -> Callable[[int], int]:
    """Returns what kills its process the first time that it is given one of some tasks."""

    def do(number: int) -> int:
        mark = folder / str(number)
        if number in deadly and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    return do


def always_die() -> Callable[[int], int]:
    def do(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return do


def hang(folder: Path) -> Callable[[int], int]:
    """Returns what does task 0 at once and any other never; who hangs leaves its process id in the folder."""

    def do(number: int) -> int:
        if number:
            (folder / str(os.getpid())).touch()
            while True:
                signal.pause()
        return number

    return do


class Sum:
    """Returns what was published, and dies the first time that it is given one of some tasks."""

    def __init__(self, folder: Path, deadly: frozenset[int]) -> None:
        self._die, self._total = die_once(folder, deadly), 0

    def receive(self, shared: Mapping[str, npt.NDArray[np.int64]]) -> None:
        self._total = int(shared["total"][0])

    def amend(self, changes: Mapping[str, npt.NDArray[np.int64]]) -> None:
        self._total += int(changes["more"][0])

    def __call__(self, number: int) -> int:
        self._die(number)
        return self._total
