"""Processes of this machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from aleator.workers.base import AHEAD, Crew, Deaths, Done, Here, Prepare, Workers
from aleator.workers.publications import Arrays, Edition, Publications, parts_between, read_part

_ANY = "any"  # task: a pool does not say at which a process died


def local_workers(processes: int) -> Workers:
    """Returns so many workers on this machine: with one it is this process."""
    return Here() if processes <= 1 else Processes(processes)


class Processes(Workers):
    """Some processes that are started for a crew and end with it, or with this process; one that dies is replaced."""

    def __init__(self, count: int) -> None:
        self._count = count

    @property
    def count(self) -> int:
        """How many."""
        return self._count

    @contextmanager
    def hire(self, prepare: Prepare[Any, Any], *, most: int | None = None) -> Iterator[Crew]:
        """Yields processes that are prepared when they get their first task."""
        with TemporaryDirectory(prefix="aleator-") as folder:
            crew = _ProcessCrew(min(self._count, most or self._count), prepare, Path(folder))
            try:
                yield crew
            finally:
                self.replaced += crew.replaced
                crew.dismiss()


class _Given(NamedTuple):
    """A task as a process gets it: with the version of what was published, and the files that lead there."""

    number: int
    task: Any
    version: int
    editions: tuple[Edition, ...]


class _ProcessCrew:
    """A pool of processes, and another one when one of them has died, since the pool then ends the others."""

    def __init__(self, count: int, prepare: Prepare[Any, Any], folder: Path) -> None:
        self.count, self.replaced = count, 0
        self._prepare, self._folder = prepare, folder
        self._published, self._files = Publications(self._keep), 0
        self._waiting: dict[Future[Done], _Given] = {}
        self._deaths = Deaths()
        self._pool = self._start()

    @property
    def given(self) -> int:
        return len(self._waiting)

    @property
    def hungry(self) -> bool:
        return self.given < AHEAD * self.count

    def publish(self, shared: Arrays) -> None:
        self._published.publish(shared)
        self._forget()

    def amend(self, changes: Arrays, whole: Callable[[], Arrays]) -> None:
        self._published.amend(changes, whole)
        self._forget()

    def give(self, number: int, task: Any) -> None:
        self._submit(_Given(number, task, self._published.version, self._published.editions))

    def take(self, *, wait: bool = True) -> list[Done]:
        while self._waiting:
            ended: list[Done] = []
            broken: BrokenProcessPool | None = None
            for future in _ended(self._waiting, wait=wait):
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    broken = error
                    continue
                del self._waiting[future]
                ended.append(future.result())
            if ended:
                self._deaths.end(_ANY)
            if broken:
                self._replace(broken)
            if ended or not wait:
                return ended
        return []

    def dismiss(self) -> None:
        """Ends all processes at once, whatever they are doing."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for end in self._pipe:
            end.close()

    def _keep(self, shared: Arrays) -> Path:
        """Writes arrays to a file, and returns which."""
        self._files += 1
        path = self._folder / f"{self._files}.npz"
        np.savez(path, **shared)  # type: ignore[arg-type]
        return path

    def _forget(self) -> None:
        """Removes files that no process needs."""
        waiting = self._waiting.values()
        self._published.forget(min((given.version for given in waiting), default=self._published.version))
        used = [*self._published.editions, *(edition for given in waiting for edition in given.editions)]
        for path in set(self._folder.iterdir()) - {path for _, *paths in used for path in paths}:
            path.unlink()

    def _start(self) -> ProcessPoolExecutor:
        context = get_context("spawn")
        self._pipe = context.Pipe(duplex=False)  # nothing is sent: processes end when our end is closed
        return ProcessPoolExecutor(self.count, context, _begin, (self._prepare, self._pipe[0]))

    def _submit(self, given: _Given) -> None:
        try:
            self._waiting[self._pool.submit(_do, given)] = given
        except BrokenProcessPool as error:  # one died while nobody looked
            self._replace(error)
            self._waiting[self._pool.submit(_do, given)] = given

    def _replace(self, error: BrokenProcessPool) -> None:
        """Starts other processes and gives them all that the old ones had."""
        self.replaced += 1
        self._deaths.note(_ANY, str(error))
        self.dismiss()
        self._pool = self._start()
        again, self._waiting = self._waiting, {}
        for future, given in again.items():
            if future.done() and not isinstance(future.exception(), BrokenProcessPool):
                self._waiting[future] = given
            else:
                self._submit(given)


def _ended(waiting: dict[Future[Done], _Given], *, wait: bool) -> list[Future[Done]]:
    """Returns the tasks that have ended, in the order in which they were given."""
    timeout = None if wait else 0
    ended = futures.wait(waiting, timeout=timeout, return_when=futures.FIRST_COMPLETED).done
    return [future for future in waiting if future in ended]


class _State:
    """What a process of a pool does with tasks, once it has been prepared."""

    prepare: Prepare[Any, Any]
    do: Any = None
    version = 0


def _begin(prepare: Prepare[Any, Any], crew: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects
    sys.stdout = sys.stderr  # standard output is for what comes of it all, whatever somebody's agent prints
    threading.Thread(target=_end_with, args=(crew,), daemon=True).start()
    _State.prepare = prepare


def _end_with(crew: Connection) -> None:
    """Ends this process when the crew was dismissed, or the process that hired it is gone."""
    try:
        crew.recv_bytes()
    except (EOFError, OSError):
        os._exit(0)


def _do(given: _Given) -> Done:
    _State.do = _State.do or _State.prepare()
    begin = time.perf_counter()
    for part in parts_between(given.editions, _State.version, given.version):
        with np.load(part.content, allow_pickle=False) as arrays:
            read_part(_State.do, dict(arrays), is_whole=part.is_whole)
    _State.version = given.version
    result = _State.do(given.task)
    return Done(given.number, result, f"process {os.getpid()}", time.perf_counter() - begin)
