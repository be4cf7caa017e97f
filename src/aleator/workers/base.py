"""The seam between what is to be done and who does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from aleator.errors import AleatorError

Task = TypeVar("Task")
Result = TypeVar("Result")
Prepare = Callable[[], Callable[[Task], Result]]
"""Makes what does tasks: called once in each worker, so that agents and networks are loaded there and stay."""

MOST_DEATHS = 3  # of workers, one after the other, without a result between them


class WorkerError(AleatorError):
    """Workers that cannot be had or go on dying; the message says what to do."""


class Workers(Protocol):
    """Does tasks, several at a time.

    Attributes:
        replaced: how many workers died and were replaced so far.
    """

    replaced: int

    @property
    def count(self) -> int:
        """How many tasks are done at a time."""

    def run(self, prepare: Prepare[Task, Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yields the number of a task and its result as they end, every task once; what is left is dropped with it.

        Args:
            prepare: a function of a module, or a partial of one: it is sent to other processes.
            tasks: values that can be sent there.
        """


class Here:
    """This process, one task after the other."""

    replaced = 0
    count = 1

    def run(self, prepare: Prepare[Task, Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yields results in the order of the tasks; see `Workers`."""
        if tasks:
            do = prepare()
            for number, task in enumerate(tasks):
                yield number, do(task)


def check_deaths(deaths: int, why: str) -> None:
    """Raises WorkerError if so many workers have died without a result between them that it is no accident."""
    if deaths >= MOST_DEATHS:
        raise WorkerError(
            f"{deaths} workers died one after the other ({why}): most likely memory ran out; use fewer processes"
        )
