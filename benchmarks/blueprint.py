"""Hands numbered up to suits, and nodes visited by blueprint training, per second."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.boards import STREETS, board_indexer
from aleator.abstraction.buckets import BucketConfig, Buckets
from aleator.abstraction.hand_index import HandIndexer
from aleator.apps.benchmarking import Progress, Result

SUMMARY = "hands numbered up to suits, and nodes that blueprint training visits, per second"

ROUNDS = ((2, 3), (2, 3, 1), (2, 3, 1, 1), (5,))
HANDS = 500_000
DEALS = 40_000


def run(progress: Progress) -> Result:
    """Returns rates in millions, by the clock and by the time that cores spent; the best of three tries."""
    rows: list[dict[str, Any]] = []
    for place, rounds in enumerate(ROUNDS):
        progress(0.3 * place / len(ROUNDS), f"hands of {rounds}")
        rows += _indexing(rounds)
    progress(0.3, "blueprint")
    trainer = _trainer()
    trainer.run(deals=DEALS)
    for threads in sorted({1, 2, os.cpu_count() or 1}):
        progress(0.5, f"blueprint, {threads} threads")
        what = f"hunl, nodes visited by {threads} thread{'s' * (threads > 1)}"
        rows.append(_best(what, partial(_visits, trainer, threads)))
    infostates = f"{trainer.betting.infostates:,} infostates"
    return Result(
        title="abstraction and blueprints, millions a second",
        rows=rows,
        notes=[
            f"{infostates}, 200 made-up buckets on each street; a node is a decision or an end of a hand; dealing and "
            "looking up buckets is counted in; on a busy machine cores' time is what compares",
        ],
    )


def _best(what: str, work: Callable[[], int]) -> dict[str, Any]:
    """Returns a row: how much of the work is done in a second, and in a second of one core."""
    best, least = 0.0, 0.0
    for _ in range(3):
        began, spent = perf_counter(), process_time()
        done = work()
        best = max(best, done / (perf_counter() - began) / 1e6)
        least = max(least, done / (process_time() - spent) / 1e6)
    return {"what": what, "M/s": best, "M per second of a core": least}


def _indexing(rounds: tuple[int, ...]) -> list[dict[str, Any]]:
    indexer, name = HandIndexer(rounds), " + ".join(map(str, rounds))
    shuffled = np.random.default_rng(0).random((HANDS, 52)).argpartition(sum(rounds), axis=1)
    hands = shuffled[:, : sum(rounds)].astype(np.int8)
    numbers = indexer.index(hands)
    indexer.unindex(numbers[:1])
    return [
        _best(f"{name} cards to a number", lambda: len(indexer.index(hands))),
        _best(f"a number to {name} cards", lambda: len(indexer.unindex(numbers))),
    ]


def _trainer() -> BlueprintTrainer:
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 200, (len(board_indexer(street)), 1326), dtype=np.uint8) for street in STREETS]
    middle = (np.arange(200) + 0.5) / 200
    buckets = Buckets(BucketConfig(), tables, [middle] * 3, np.zeros(1755, np.int16), {"fingerprint": "made up"})
    return BlueprintTrainer(BlueprintConfig(), buckets, Path("made-up"))


def _visits(trainer: BlueprintTrainer, threads: int) -> int:
    """Returns the nodes that some deals visit."""
    before = trainer.progress
    trainer.run(deals=before.deals + DEALS * threads, threads=threads)
    return trainer.progress.visits - before.visits
