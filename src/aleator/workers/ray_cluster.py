"""A Ray cluster (https://docs.ray.io): machines that somebody has started and that trust each other.

An actor per core, or per GPU, is prepared once and given one task at a time and one ahead. An actor that dies, alone
or with its node, is replaced by another and its tasks are done again, with what was published when they were given;
results are taken once. Actors whose code is not that of this process are refused.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aleator.caching import cache
from aleator.errors import MissingExtraError
from aleator.workers.base import AHEAD, Crew, Deaths, Done, Prepare, WorkerError, Workers
from aleator.workers.publications import Arrays, Publications, parts_between, read_part

_SECONDS_TO_JOIN = 300.0  # that a worker of a cluster may take to begin while no other works; machines may be busy
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
        self._do: Any = self._prepare()

    def do(self, number: int, task: Any, are_whole: Sequence[bool], *contents: Arrays) -> Done:
        """Returns the result of a task; Ray fetches what was published while the task before this one is done."""
        begin = time.perf_counter()
        for content, is_whole in zip(contents, are_whole, strict=True):
            read_part(self._do, content, is_whole=is_whole)
        result = self._do(task)
        return Done(number, result, f"{socket.gethostname()}:{os.getpid()}", time.perf_counter() - begin)


class RayWorkers(Workers):
    """All cores, or all GPUs, of a cluster that is running."""

    def __init__(self, address: str, *, gpus: bool = False) -> None:
        """Joins a cluster.

        Args:
            address: "auto" for the one of this machine, or "host:port" of its head.
            gpus: a worker for every GPU, instead of one for every core.

        Raises:
            MissingExtraError: Ray is not installed.
            WorkerError: there is no such cluster, or it has no GPUs.
        """
        try:
            import ray
        except ImportError:
            raise MissingExtraError("Ray", "ray") from None
        self._ray: Any = ray
        self._resource = "GPU" if gpus else "CPU"
        if address != "auto":
            _check_reachable(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _no_cluster(address, str(error).strip().splitlines()[0]) from None
        if gpus and not self._ray.cluster_resources().get("GPU", 0):
            raise WorkerError(f"the Ray cluster at {address!r} has no GPU: choose --device cpu")

    @property
    def count(self) -> int:
        """How many cores, or GPUs, the cluster has now."""
        return max(int(self._ray.cluster_resources().get(self._resource, 0)), 1)

    @contextmanager
    def hire(self, prepare: Prepare[Any, Any], *, most: int | None = None) -> Iterator[Crew]:
        """Yields actors; they begin when the cluster has room for them."""
        options = {"num_gpus": 1} if self._resource == "GPU" else {"num_cpus": 1}
        crew = _RayCrew(self._ray, self._ray.remote(**options)(_Worker), prepare)
        try:
            crew.hire(min(self.count, most or self.count))
            yield crew
        finally:
            self.replaced += crew.replaced
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


class _Given(NamedTuple):
    """A task, and the version of what was published that it is to be done with."""

    number: int
    task: Any
    version: int


class _RayCrew:
    """The actors of a crew, what they are doing, and who is not ready yet."""

    def __init__(self, ray: Any, actor: Any, prepare: Prepare[Any, Any]) -> None:
        self.ray, self.replaced = ray, 0
        self._actor, self._prepare = actor, ray.put(prepare)
        self._published = Publications(lambda shared: ray.put(dict(shared)))
        self._left: deque[_Given] = deque()
        self._coming: dict[Any, Any] = {}  # hello -> actor
        self._preparing: dict[Any, Any] = {}  # prepared -> actor
        self._busy: dict[Any, tuple[Any, _Given]] = {}  # result -> actor, task
        self._load: Counter[Any] = Counter()  # tasks of each actor that is ready
        self._versions: Counter[Any] = Counter()  # of what each actor has when it has done these
        self._places: dict[Any, Any] = {}  # actor -> the place that it and those before it were hired for
        self._deaths = Deaths()  # at tasks, by their numbers, and before the first one, by place

    @property
    def count(self) -> int:
        return len(self._load) + len(self._coming) + len(self._preparing)

    @property
    def given(self) -> int:
        return len(self._left) + len(self._busy)

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
        self._left.append(_Given(number, task, self._published.version))
        self._hand_out()

    def take(self, *, wait: bool = True) -> list[Done]:
        ended = self._turn(0.0)
        while wait and self.given and not ended:
            ended = self._turn(None if self._load or self._preparing else _SECONDS_TO_JOIN)
        return ended

    def hire(self, count: int) -> None:
        """Asks for actors; they come when the cluster has room for them."""
        for number in range(count):
            self._hire(f"place {number}")

    def _hire(self, place: str) -> None:
        actor = self._actor.remote(self._prepare)
        self._places[actor] = place
        self._coming[actor.hello.remote()] = actor

    def dismiss(self) -> None:
        """Ends all actors."""
        for actor in {*self._load, *self._coming.values(), *self._preparing.values()}:
            self.ray.kill(actor)

    def _forget(self) -> None:
        """Drops what no task needs that was given, or will be."""
        given = [*self._left, *(given for _, given in self._busy.values())]
        self._published.forget(min((task.version for task in given), default=self._published.version))

    def _turn(self, seconds: float | None) -> list[Done]:
        """Waits so long, None for ever, until something has ended; returns tasks that have, and gives out others."""
        awaited = [*self._busy, *self._coming, *self._preparing]
        ready, _ = self.ray.wait(awaited, num_returns=1, timeout=seconds)
        if ready:  # and whatever else is there by now
            ready, _ = self.ray.wait(awaited, num_returns=len(awaited), timeout=0)
        elif seconds:
            raise WorkerError(f"no worker of the cluster answered within {seconds:.0f} seconds")
        ended: list[Done] = []
        for reference in ready:
            if reference in self._busy:
                ended += self._end(reference)
            elif reference in self._coming:
                self._welcome(reference)
            elif reference in self._preparing:
                self._begin(reference)
        self._hand_out()
        return ended

    def _hand_out(self) -> None:
        """Gives tasks that are left to actors that have less to do than others."""
        while self._left and self._load:
            actor, load = min(self._load.items(), key=lambda item: item[1])
            if load >= AHEAD:
                return
            given = self._left.popleft()
            parts = parts_between(self._published.editions, self._versions[actor], given.version)
            contents, are_whole = [part.content for part in parts], [part.is_whole for part in parts]
            self._busy[actor.do.remote(given.number, given.task, are_whole, *contents)] = actor, given
            self._load[actor] += 1
            self._versions[actor] = given.version

    def _welcome(self, reference: Any) -> None:
        actor = self._coming.pop(reference)
        hello = self._get(actor, reference)
        if hello is None:
            return
        if hello.code != code_fingerprint():
            raise WorkerError(
                f"the worker on {hello.host} runs other code of aleator ({hello.code}) than this process "
                f"({code_fingerprint()}): install the same there"
            )
        self._preparing[actor.prepare.remote()] = actor

    def _begin(self, reference: Any) -> None:
        actor = self._preparing.pop(reference)
        replaced = self.replaced
        self._get(actor, reference)
        if self.replaced == replaced:
            self._load[actor] = 0
            self._deaths.end(self._places[actor])

    def _end(self, reference: Any) -> list[Done]:
        actor = self._busy[reference][0]
        done = self._get(actor, reference)
        if done is None:
            return []
        del self._busy[reference]
        self._load[actor] -= 1
        self._deaths.end(done.number)
        return [done]

    def _get(self, actor: Any, reference: Any) -> Any:
        """Returns what an actor answers; None if it died, alone or with what it had answered, and is replaced."""
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            self._replace(actor, error)
            return None

    def _replace(self, actor: Any, error: Exception) -> None:
        """Gives the tasks of an actor that died to others, and asks for another actor."""
        self._load.pop(actor, None)
        self._versions.pop(actor, None)
        self.ray.kill(actor)  # one whose answer was lost with a node may still be there
        references = [reference for reference, (other, _) in self._busy.items() if other is actor]
        lost = [self._busy.pop(reference)[1] for reference in references]
        self._left.extendleft(reversed(lost))
        self.replaced += 1
        place = self._places.pop(actor)
        why = str(error).strip().splitlines()[0]
        self._deaths.note(lost[0].number if lost else place, why)  # the others were waiting behind that one
        self._hire(place)
