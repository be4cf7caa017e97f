"""A Ray cluster (https://docs.ray.io): machines that somebody has started and that trust each other.

An actor per core is prepared once and given one task at a time and one ahead. An actor that dies, alone or with its
node, is replaced by another and its tasks are done again; results are taken once. Actors whose code is not that of this
process are refused.
"""

from __future__ import annotations

import hashlib
import logging
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aleator.caching import cache
from aleator.errors import MissingExtraError
from aleator.workers.base import Prepare, Result, Task, WorkerError, check_deaths

_AHEAD = 2
_SECONDS_TO_JOIN = 60.0  # that the first worker of a cluster may take
_SECONDS_TO_CONNECT = 5.0


@cache
def code_fingerprint() -> str:
    """Returns a hash of all code of this package."""
    digest, folder = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(path for suffix in ("py", "cu") for path in folder.rglob(f"*.{suffix}")):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Hello(NamedTuple):
    """What a worker says of itself when it begins."""

    host: str
    code: str


class _Worker:
    """What runs elsewhere."""

    def __init__(self, prepare: Prepare[Any, Any]) -> None:
        self._prepare = prepare

    def hello(self) -> Hello:
        """Says where it runs, and what."""
        return Hello(socket.gethostname(), code_fingerprint())

    def prepare(self) -> None:
        """Loads what tasks need."""
        self._do = self._prepare()

    def do(self, task: Any) -> Any:
        """Returns the result of a task."""
        return self._do(task)


class RayWorkers:
    """All cores of a cluster that is running.

    Attributes:
        replaced: how many workers died.
    """

    def __init__(self, address: str) -> None:
        """Joins a cluster.

        Args:
            address: "auto" for the one of this machine, or "host:port" of its head.

        Raises:
            MissingExtraError: Ray is not installed.
            WorkerError: there is no such cluster.
        """
        try:
            import ray
        except ImportError:
            raise MissingExtraError("Ray", "ray") from None
        self._ray: Any = ray
        self.replaced = 0
        if address != "auto":
            _check_reachable(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _no_cluster(address, str(error).strip().splitlines()[0]) from None

    @property
    def count(self) -> int:
        """How many cores the cluster has."""
        return max(int(self._ray.cluster_resources().get("CPU", 0)), 1)

    def run(self, prepare: Prepare[Task, Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yields results as they end; see `Workers`."""
        crew = _Crew(self._ray, prepare, tasks)
        try:
            crew.hire(min(self.count, len(tasks)))
            while not crew.done:
                yield from crew.turn()
        finally:
            self.replaced += crew.died
            crew.dismiss()


def _check_reachable(address: str) -> None:
    """Raises WorkerError if nobody listens at "host:port", which Ray itself notices after minutes only."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise WorkerError(f"the address of a Ray cluster must be auto or HOST:PORT, not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=_SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str, reason: str) -> WorkerError:
    return WorkerError(f"there is no Ray cluster at {address!r} ({reason}); start one with `ray start --head`")


class _Crew:
    """The actors of a run, what they are doing, and who has not said hello yet."""

    def __init__(self, ray: Any, prepare: Prepare[Any, Any], tasks: Sequence[Any]) -> None:
        self.ray, self.died = ray, 0
        self._tasks, self._left = tasks, list(reversed(range(len(tasks))))
        self._prepare = ray.put(prepare)
        self._actor = ray.remote(num_cpus=1)(_Worker)
        self._coming: dict[Any, Any] = {}  # hello -> actor
        self._busy: dict[Any, tuple[Any, int]] = {}  # result -> actor, task
        self._load: Counter[Any] = Counter()  # tasks of each actor that has said hello
        self._deaths = 0  # since the last result

    @property
    def done(self) -> bool:
        """Whether nothing is left to be done."""
        return not self._left and not self._busy

    def hire(self, count: int) -> None:
        """Asks for actors; they come when the cluster has room for them."""
        for _ in range(count):
            actor = self._actor.remote(self._prepare)
            self._coming[actor.hello.remote()] = actor

    def turn(self) -> Iterator[tuple[int, Any]]:
        """Gives out tasks, and yields what ends next."""
        for actor in list(self._load):
            while self._left and self._load[actor] < _AHEAD:
                number = self._left.pop()
                self._busy[actor.do.remote(self._tasks[number])] = actor, number
                self._load[actor] += 1
        seconds = None if self._load else _SECONDS_TO_JOIN
        ready, _ = self.ray.wait([*self._busy, *self._coming], num_returns=1, timeout=seconds)
        if not ready:
            raise WorkerError(f"no worker of the cluster answered within {_SECONDS_TO_JOIN:.0f} seconds")
        (reference,) = ready
        if reference in self._coming:
            self._welcome(reference)
        else:
            yield from self._take(reference)

    def _welcome(self, reference: Any) -> None:
        actor = self._coming.pop(reference)
        try:
            hello = self.ray.get(reference)
        except self.ray.exceptions.RayActorError as error:
            self._replace(actor, error)
            return
        if hello.code != code_fingerprint():
            raise WorkerError(
                f"the worker on {hello.host} runs other code of aleator ({hello.code}) than this process "
                f"({code_fingerprint()}): install the same there"
            )
        actor.prepare.remote()
        self._load[actor] = 0

    def _take(self, reference: Any) -> Iterator[tuple[int, Any]]:
        actor, number = self._busy[reference]
        try:
            result = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayActorError as error:
            self._replace(actor, error)
            return
        del self._busy[reference]
        self._load[actor] -= 1
        self._deaths = 0
        yield number, result

    def _replace(self, actor: Any, error: Exception) -> None:
        """Gives the tasks of an actor that died to others, and asks for another actor."""
        self._load.pop(actor, None)
        lost = [reference for reference, (other, _) in self._busy.items() if other is actor]
        self._left += sorted((self._busy.pop(reference)[1] for reference in lost), reverse=True)
        self.died, self._deaths = self.died + 1, self._deaths + 1
        check_deaths(self._deaths, str(error).strip().splitlines()[0])
        self.hire(1)

    def dismiss(self) -> None:
        """Ends all actors."""
        for actor in {*self._load, *self._coming.values()}:
            self.ray.kill(actor)
