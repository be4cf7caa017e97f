"""Blueprints by workers: each makes deals on a copy of the table, and what they changed is added to the one of all.

Algorithm:
    Deals are numbered and split into chunks; a few chunks are a round. A worker walks a chunk from the table as it was
    when the round before the last had been added: so whoever has ended a chunk goes on with the next one at once, while
    others are still at the round before. What chunks changed, in regrets and in sums of policies, is added in the order
    of the chunks; regrets stay above their floor. The result follows from the seed and from the sizes of chunks and
    rounds, whoever works.
    Deals read regrets only, so workers get no sums of policies. After the first round they are sent the regrets that
    the chunks of a round changed, and which periods ended, and discount their copies themselves.
    A worker divides the table by the number of chunks of a round. Policies stay what they are, but move as fast with
    its own deals as they will with those of all: otherwise everybody would make the same correction, and the sum would
    be too large by that number.
    Chunks are short at first and grow: a round is a tenth of what was dealt before (`usual_chunk`).

Reference: linear Monte Carlo CFR as in `training`; sums of what samplers change, as threads on one table make them.
Deviations: policies in a chunk are one to two rounds old. What chunks in flight add after a discount is not discounted.
Status: tests/abstraction/blueprint/test_merging.py; with a real cluster tests/workers/test_ray_training.py.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.changes import Changes, Draft, Marks, Values
from aleator.abstraction.blueprint.file import Progress
from aleator.abstraction.blueprint.periods import PeriodTrainer, Report
from aleator.abstraction.buckets import AbstractionError, open_buckets
from aleator.workers.base import Crew, Done, Workers
from aleator.workers.publications import Arrays

_SHARE = 0.1  # of the deals so far: what a round may have
_FEWEST = 1_000  # deals of a chunk
_NUMBERS_PER_DEAL = 1_024  # of a table: to exchange them takes as long as one or two deals
_WORTH = 64  # times the least: the most deals of a chunk
_LONGER = 1.1  # times the usual: what the last chunk of a period may have
_PERIODS, _MARKS, _VALUES = "periods", ".marks", ".values"  # names of what is published


class Chunk(NamedTuple):
    """Some deals: the number of the first one, and how many."""

    first: int
    deals: int


class Walked(NamedTuple):
    """What comes back of a chunk: the changes of each table, and how many nodes were visited.

    Who made the chunk overwrites the arrays with those of the next one.
    """

    changes: dict[str, Changes]
    visits: int


class DealMaker:
    """Makes deals in a worker."""

    def __init__(self, kind: type[PeriodTrainer], config: Any, place: Path, fingerprint: str, divisor: int = 1) -> None:
        """Prepares a worker.

        Args:
            kind: of blueprint.
            config: how it is trained.
            place: where its buckets lie.
            fingerprint: of the buckets.
            divisor: of the tables at the beginning of a chunk: the number of chunks of a round.

        Raises:
            AbstractionError: the buckets here are others.
        """
        buckets = open_buckets(place)
        if buckets.fingerprint != fingerprint:
            raise AbstractionError(f"a worker has other buckets in {place} than the process that trains")
        self._trainer: PeriodTrainer = kind(config, buckets, place)  # type: ignore[call-arg]
        self._run = self._trainer.deal_runner(1, divisor=divisor)
        self._drafts = {name: Draft(table, divisor) for name, table in self._trainer.tables().items()}

    def receive(self, shared: Arrays) -> None:
        """Takes over all regrets to begin chunks with."""
        self.amend(shared)

    def amend(self, changes: Arrays) -> None:
        """Takes over what `News` says: discounts, then the regrets that have changed."""
        periods = changes[_PERIODS].tolist()
        for number in periods:
            self._trainer.discount(number, {name: draft.whole for name, draft in self._drafts.items()})
        for name, draft in self._drafts.items():
            if periods:
                draft.begin()
            draft.write(Values(changes[name + _MARKS], changes[name + _VALUES]))

    def __call__(self, chunk: Chunk) -> Walked:
        """Makes the deals of a chunk."""
        visits = self._run(0, chunk.first, chunk.deals)
        return Walked({name: draft.take() for name, draft in self._drafts.items()}, visits)


class News:
    """What workers do not know yet: which regrets have changed since they were last told, and which periods ended."""

    def __init__(self, trainer: PeriodTrainer) -> None:
        self._trainer, self._regrets = trainer, trainer.regret_marks()
        self._changed = {name: np.zeros_like(marks) for name, marks in self._regrets.items()}
        self._ended: list[int] = []

    def add(self, changes: Mapping[str, Changes]) -> None:
        """Notes what a chunk changed."""
        for name, changed in self._changed.items():
            changed |= changes[name].marks

    def end(self, period: int) -> None:
        """Notes that a period ended."""
        self._ended.append(period)

    def take(self) -> Arrays:
        """Returns what is new, which is no news any more."""
        arrays = self._arrays({name: marks & self._regrets[name] for name, marks in self._changed.items()}, self._ended)
        for changed in self._changed.values():
            changed[:] = 0
        self._ended = []
        return arrays

    def whole(self) -> Arrays:
        """Returns all regrets."""
        return self._arrays(self._regrets, [])

    def _arrays(self, marks: Mapping[str, Marks], ended: list[int]) -> Arrays:
        arrays: dict[str, npt.NDArray[Any]] = {_PERIODS: np.array(ended, np.int64)}
        for name, table in self._trainer.tables().items():
            arrays[name + _MARKS], arrays[name + _VALUES] = Values.of(table, marks[name])
        return arrays


class Work(NamedTuple):
    """Who worked: how many, how many died, and the share of the time that they made deals."""

    workers: int
    replaced: int
    busy: float


def train_by_workers(
    trainer: PeriodTrainer,
    workers: Workers,
    *,
    seconds: float = math.inf,
    deals: float = math.inf,
    chunk: int | None = None,
    chunks: int | None = None,
    report: Report | None = None,
) -> Work:
    """Trains as `PeriodTrainer.run` does, by workers.

    Args:
        trainer: a blueprint, new or restored; its tables are those that changes are added to.
        workers: who makes the deals.
        seconds, deals, report: as in `PeriodTrainer.run`.
        chunk: deals between two looks at the tables of the others; `usual_chunk` if None.
        chunks: of a round; as many as workers if None.
    """
    place = trainer.place.resolve()
    round_size, numbers = chunks or workers.count, sum(map(len, trainer.tables().values()))
    prepare = partial(DealMaker, type(trainer), trainer.config, place, trainer.buckets.fingerprint, round_size)

    def size(first: int) -> int:
        return chunk or usual_chunk(first, numbers, round_size)

    with workers.hire(prepare) as crew:
        merge = _Merge(trainer, crew, _chunks(trainer.progress.deals, deals, trainer.period, size), seconds)
        return merge.run(round_size, report)


def usual_chunk(first: int, numbers: int, chunks: int) -> int:
    """Returns how many deals a chunk has unless somebody says: few at first, when policies change from deal to deal.

    A round is a tenth of what was dealt before it, so that policies that are a round old are nearly those of now. But
    a chunk takes at least as long as the exchange of tables, and at most so long that this hardly counts.

    Args:
        first: its first deal.
        numbers: of all tables.
        chunks: of a round.
    """
    exchange = max(numbers // _NUMBERS_PER_DEAL, _FEWEST)
    return min(max(int(_SHARE * first / chunks), exchange), _WORTH * exchange)


def _chunks(first: int, deals: float, period: int, size: Callable[[int], int]) -> Iterator[Chunk]:
    """Yields chunks, none of which is in two periods; those of a period are about alike, so that nobody waits long.

    What is left of a period is one chunk if that is at most a tenth larger than `size` says.
    """
    while first < deals:
        left = period - first % period
        usual = size(first)
        count = left if left <= _LONGER * usual else math.ceil(left / math.ceil(left / usual))
        yield Chunk(first, int(min(count, deals - first)))
        first += count


class _Merge:
    """One run: chunks that were given, and those that came back before others of which they are to be added after."""

    def __init__(self, trainer: PeriodTrainer, crew: Crew, chunks: Iterator[Chunk], seconds: float) -> None:
        self._trainer, self._crew, self._chunks = trainer, crew, chunks
        self._news = News(trainer)
        crew.publish(self._news.whole())
        self._given: deque[Chunk] = deque()
        self._back: dict[int, Done] = {}  # by the first deal
        self._began, self._before = time.perf_counter(), trainer.progress
        self._until, self._busy = self._began + seconds, 0.0

    def run(self, size: int, report: Report | None) -> Work:
        """Runs rounds of so many chunks until they are over, or the time is, or `report` says so."""
        self._give(2 * size)
        added = 0
        while self._given:
            for done in self._crew.take():
                self._back[done.number] = done
                self._busy += done.seconds
            while self._given and self._given[0].first in self._back:
                self._add(self._given.popleft())
                added += 1
                if added % size == 0 and time.perf_counter() < self._until:
                    self._give(size)
            stop = report is not None and report(self._trainer.progress)
            if stop or time.perf_counter() >= self._until:
                break
        spent = max(time.perf_counter() - self._began, 1e-9)
        return Work(self._crew.count, self._crew.replaced, self._busy / (spent * self._crew.count))

    def _give(self, count: int) -> None:
        """Has the next chunks walked from the tables as they are."""
        chunks = list(islice(self._chunks, count))
        if chunks and self._trainer.progress != self._before:
            self._crew.amend(self._news.take(), self._news.whole)
        for chunk in chunks:
            self._given.append(chunk)
            self._crew.give(chunk.first, chunk)

    def _add(self, chunk: Chunk) -> None:
        """Adds what a chunk changed, and ends a period."""
        trainer, walked = self._trainer, self._back.pop(chunk.first).result
        floors = trainer.floors()
        for name, table in trainer.tables().items():
            walked.changes[name].add_to(table, floors[name])
        self._news.add(walked.changes)
        done = chunk.first + chunk.deals
        if done % trainer.period == 0:
            trainer.end_period(done // trainer.period, 1)
            self._news.end(done // trainer.period)
        seconds = self._before.seconds + time.perf_counter() - self._began
        trainer.progress = Progress(done, trainer.progress.visits + walked.visits, seconds)
