"""Processes of this machine."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from aleator.workers.base import Here, Prepare, Result, Task, Workers, check_deaths

_AHEAD = 2  # tasks of a process that are there before it has ended one


def local_workers(processes: int) -> Workers:
    """Returns so many workers on this machine: with one it is this process."""
    return Here() if processes <= 1 else Processes(processes)


class Processes:
    """Some processes that are started for a run and end with it; one that dies is replaced.

    Attributes:
        count: how many.
        replaced: how many died.
    """

    def __init__(self, count: int) -> None:
        self.count, self.replaced = count, 0

    def run(self, prepare: Prepare[Task, Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yields results as they end; see `Workers`."""
        left, deaths = list(reversed(range(len(tasks)))), 0
        while left:
            waiting: dict[Future[Result], int] = {}
            pool = ProcessPoolExecutor(min(self.count, len(left)), get_context("spawn"), _begin, (prepare,))
            try:
                while left or waiting:
                    while left and len(waiting) < _AHEAD * self.count:
                        number = left.pop()
                        waiting[pool.submit(_do, tasks[number])] = number
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        result, deaths = future.result(), 0
                        yield waiting.pop(future), result
            except BrokenProcessPool as error:  # one has died, and the pool ends the others
                self.replaced, deaths = self.replaced + 1, deaths + 1
                check_deaths(deaths, str(error))
                left += sorted(waiting.values(), reverse=True)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


_DO: list[Callable[[Any], Any]] = []  # what a process of a pool does with tasks


def _begin(prepare: Prepare[Any, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects
    _DO[:] = [prepare()]


def _do(task: Any) -> Any:
    return _DO[0](task)
