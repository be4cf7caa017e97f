"""The seam between what is to be done and who does it.

`Workers` are whoever is there: a count. `Workers.hire` makes a `Crew` of them that stays until a `with` block ends: it
is given tasks, and what it was given is taken when it has ended. `Workers.run` does a list of tasks.

    with workers.hire(prepare) as crew:
        crew.publish(parameters)        # tasks that are given from now on are done with these
        crew.give(0, task)
        for done in crew.take():        # waits for one of them
            use(done.result)
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, TypeVar

from aleator.errors import AleatorError
from aleator.workers.publications import Arrays, Publications, parts_between, read_part

Task = TypeVar("Task")
Result = TypeVar("Result")
Prepare = Callable[[], Callable[[Task], Result]]
"""Makes what does tasks: called once in each worker, so that agents and networks are loaded there and stay.

A function of a module, or a partial of one: it is sent to other processes. What it returns has a method `receive` if
something is published, and a method `amend` if changes of that are: they are called before the first task that is to
be done with what they bring.
"""

MOST_IN_A_ROW, MOST_AT_A_TASK = 3, 10  # of workers that die at the same task: while nothing is done, and in all
AHEAD = 2  # tasks of a worker that are there before it has ended one


class WorkerError(AleatorError):
    """Workers that cannot be had or go on dying; the message says what to do."""


class Done(NamedTuple):
    """A task that has ended.

    Attributes:
        number: which one.
        result: what it returned.
        worker: who did it, in words.
        seconds: what it took there.
    """

    number: int
    result: Any
    worker: str
    seconds: float


class Crew(Protocol):
    """Workers that are prepared for one kind of task.

    Attributes:
        replaced: how many died so far; what they were doing is done again by others.
    """

    replaced: int

    @property
    def count(self) -> int:
        """How many tasks are done at a time."""

    @property
    def given(self) -> int:
        """How many tasks were given and not taken."""

    @property
    def hungry(self) -> bool:
        """Whether to give another task now, so that nobody has to wait for one."""

    def publish(self, shared: Arrays) -> None:
        """Says what tasks that are given from now on are done with; those given before keep what they had.

        The arrays are copied as they are now; who receives them does not write into them.
        """

    def amend(self, changes: Arrays, whole: Callable[[], Arrays]) -> None:
        """Says what changes in what was published, for tasks that are given from now on.

        Who has what was published reads the changes alone.

        Args:
            changes: as arrays, which only who does tasks understands.
            whole: returns all that would have to be published now; it is asked for now and then, for who begins late.
        """

    def give(self, number: int, task: Any) -> None:
        """Gives a task, a value that can be sent to other processes, and its number, which only comes back."""

    def take(self, *, wait: bool = True) -> list[Done]:
        """Returns what has ended since the last time; waits until something has if `wait` and there is any task."""


class Workers(ABC):
    """Whoever does tasks, several at a time.

    Attributes:
        replaced: how many died and were replaced so far, in all crews that were dismissed.
    """

    replaced = 0

    @property
    @abstractmethod
    def count(self) -> int:
        """How many tasks are done at a time."""

    @abstractmethod
    def hire(self, prepare: Prepare[Any, Any], *, most: int | None = None) -> AbstractContextManager[Crew]:
        """Returns workers that are prepared for tasks, for a `with` block; at most so many."""

    def run(self, prepare: Prepare[Task, Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yields the number of a task and its result as they end, every task once; what is left is dropped with it."""
        if not tasks:
            return
        with self.hire(prepare, most=len(tasks)) as crew:
            given = ended = 0
            while ended < len(tasks):
                while given < len(tasks) and crew.hungry:
                    crew.give(given, tasks[given])
                    given += 1
                for done in crew.take():
                    ended += 1
                    yield done.number, done.result


class Here(Workers):
    """This process, one task after the other."""

    count = 1

    def hire(self, prepare: Prepare[Any, Any], *, most: int | None = None) -> AbstractContextManager[Crew]:
        """Returns this process, which does a task when its result is asked for."""
        return nullcontext(_HereCrew(prepare))


class _HereCrew:
    """This process as a crew."""

    replaced, count = 0, 1

    def __init__(self, prepare: Prepare[Any, Any]) -> None:
        self._do: Any = prepare()
        self._published = Publications(lambda shared: {name: array.copy() for name, array in shared.items()})
        self._received = 0
        self._tasks: list[tuple[int, Any, int]] = []

    @property
    def given(self) -> int:
        return len(self._tasks)

    @property
    def hungry(self) -> bool:
        return not self._tasks

    def publish(self, shared: Arrays) -> None:
        self._published.publish(shared)

    def amend(self, changes: Arrays, whole: Callable[[], Arrays]) -> None:
        self._published.amend(changes, whole)

    def give(self, number: int, task: Any) -> None:
        self._tasks.append((number, task, self._published.version))

    def take(self, *, wait: bool = True) -> list[Done]:
        if not (wait and self._tasks):
            return []
        number, task, version = self._tasks.pop(0)
        begin = time.perf_counter()
        for part in parts_between(self._published.editions, self._received, version):
            read_part(self._do, part.content, is_whole=part.is_whole)
        self._published.forget(version)
        self._received = version
        return [Done(number, self._do(task), "this process", time.perf_counter() - begin)]


class Deaths:
    """Workers that died, by what they were at: accidents are few, or other things are done in between."""

    def __init__(self) -> None:
        self._at: Counter[Hashable] = Counter()
        self._in_a_row: Counter[Hashable] = Counter()

    def note(self, task: Hashable, why: str) -> None:
        """Counts a worker that died at a task.

        Raises:
            WorkerError: it is no accident any more.
        """
        self._at[task] += 1
        self._in_a_row[task] += 1
        if self._in_a_row[task] >= MOST_IN_A_ROW or self._at[task] >= MOST_AT_A_TASK:
            raise WorkerError(
                f"{self._at[task]} workers died one after the other ({why}): most likely memory ran out; use fewer "
                "processes"
            )

    def end(self, task: Hashable) -> None:
        """Notes that a task is done."""
        del self._at[task]
        self._in_a_row.clear()
