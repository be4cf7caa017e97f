"""A Ray cluster of one and of two nodes on this machine, a core each: what the second one adds."""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from aleator.apps.benchmarking import Progress, Result, load_benchmark
from aleator.errors import AleatorError, MissingExtraError
from aleator.workers.base import Here, Workers

if TYPE_CHECKING:
    from aleator.abstraction.blueprint.changes import Table
    from aleator.abstraction.blueprint.file import Progress as BlueprintProgress

SUMMARY = "Ray: searches of ReBeL and nodes of a blueprint per second, by two nodes of a core each against one"
CASES = ("rebel", "blueprint", "late blueprint")

ROUNDS = 2
GAME, GAMES, BLOCKS = "liars-dice:1x5", 128, 4
FIRST_EPOCHS, EPOCHS = 8, 40  # into the midst of games; then as many are timed
FIRST_SECONDS, SECONDS = 6.0, 20.0
LATE_DEALS = 12_000_000  # chunks grow no more

Rate = Callable[[Workers], float]


def run(progress: Progress, names: Sequence[str] = CASES) -> Result:
    """Returns the rates of this process, of one node and of two, measured in turn; medians of the rounds."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError("Ray", "ray")
    if len(_cores()) < 2:
        raise AleatorError("this benchmark needs two cores: there is a node on each")
    with TemporaryDirectory(prefix="aleator-bench-") as folder:
        place = Path(folder) / "buckets.bin"
        rates: dict[str, Rate] = {
            "rebel": _searches,
            "blueprint": _visits(place),
            "late blueprint": _visits(place, after=LATE_DEALS),
        }
        rows = [_measure(name, rates[name], progress) for name in names]
    return Result(
        title="a Ray cluster of nodes on this machine, each pinned to a core of its own",
        rows=rows,
        notes=[
            f"rebel: searches a second, {GAME}, preset paper, {GAMES} games in {BLOCKS} blocks; blueprint: millions of "
            "nodes visited a second, hunl with 200 made-up buckets on each street; the process that trains is on no "
            "core of its own",
            f"blueprint: a new run, from {FIRST_SECONDS:.0f} s on for {SECONDS:.0f} s, while chunks are small and "
            f"grow; late blueprint: as long after {LATE_DEALS // 10**6} million deals, when chunks are as large "
            "as they get",
            f"medians of {ROUNDS} rounds in turn; lowest and highest ratio of a round",
        ],
    )


def _measure(name: str, rate: Rate, progress: Progress) -> dict[str, Any]:
    """Returns one row of the table."""
    alone, one, two = [], [], []
    for number in range(ROUNDS):
        progress(number / ROUNDS, f"{name}, round {number + 1} of {ROUNDS}")
        with _pinned(_cores()[-1]):
            alone.append(rate(Here()))
        with _nodes(1) as workers:
            one.append(rate(workers))
        with _nodes(2) as workers:
            two.append(rate(workers))
    ratios = [second / first for first, second in zip(one, two, strict=True)]
    return {
        "what": name,
        "this process": median(alone),
        "one node": median(one),
        "two nodes": median(two),
        "ratio": median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
    }


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


@contextmanager
def _pinned(core: int) -> Iterator[None]:
    """Keeps this process, and what it starts meanwhile, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _nodes(count: int) -> Iterator[Workers]:
    """Yields the workers of a new cluster, which ends with the block."""
    ray: Any = importlib.import_module("ray")
    from ray.cluster_utils import Cluster

    from aleator.workers.ray_cluster import RayWorkers

    cluster: Any = Cluster()
    try:
        for core in _cores()[:count]:
            with _pinned(core):
                cluster.add_node(num_cpus=1, object_store_memory=1 << 30, include_dashboard=False)
        yield RayWorkers(cluster.address)
    finally:
        ray.shutdown()
        cluster.shutdown()


def _searches(workers: Workers) -> float:
    """Returns searches per second of games in mid-play, training included."""
    from aleator.learning.rebel.config import preset
    from aleator.learning.rebel.crew_blocks import played_by
    from aleator.learning.rebel.training import Trainer

    epochs = FIRST_EPOCHS + EPOCHS
    trainer = Trainer(preset("paper", game=GAME, games=GAMES, blocks=BLOCKS, searches=GAMES * epochs))
    if isinstance(workers, Here):
        return _epochs_rate(trainer)
    with played_by(workers, trainer, None, in_step=False):
        return _epochs_rate(trainer)


def _epochs_rate(trainer: Any) -> float:
    for _ in range(FIRST_EPOCHS):
        trainer.run_epoch()
    before = perf_counter()
    for _ in range(EPOCHS):
        trainer.run_epoch()
    return GAMES * EPOCHS / (perf_counter() - before)


def _visits(place: Path, *, after: int = 0) -> Rate:
    """Returns what measures millions of visited nodes per second; workers find the buckets at a place.

    Args:
        place: for the buckets.
        after: deals that were made before, once, by this process.
    """
    before: list[tuple[Table, BlueprintProgress]] = []

    def rate(workers: Workers) -> float:
        from aleator.abstraction.blueprint.merging import train_by_workers
        from aleator.abstraction.blueprint.training import BlueprintTrainer

        made_up = load_benchmark("blueprint")._trainer()
        if not place.exists():
            made_up.buckets.save(place)
        trainer = BlueprintTrainer(made_up.config, made_up.buckets, place)
        if after and not before:
            trainer.run(deals=after)
            before.append((trainer.table.copy(), trainer.progress))
        elif after:
            trainer.begin_with(*before[0])
        seen: list[tuple[float, int]] = []

        def report(now: Any) -> bool:
            seen.append((perf_counter(), now.visits))
            return seen[-1][0] - seen[0][0] >= FIRST_SECONDS + SECONDS

        if isinstance(workers, Here):
            trainer.run(seconds=math.inf, report=report)
        else:
            train_by_workers(trainer, workers, report=report)
        late = [point for point in seen if point[0] - seen[0][0] >= FIRST_SECONDS]
        return (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0]) / 1e6

    return rate
