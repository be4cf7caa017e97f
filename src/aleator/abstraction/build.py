"""Making buckets: street by street from the last one back, each fitted on a sample and then given to every board.

Algorithm:
    Boards are dealt at random, and a few hands on each: their features are what k-means is fitted on, so that hands
    count as often as they come. Then all hands on all boards up to suits go to their nearest centre. Buckets are
    renumbered by the mean equity of the sample's hands in them; `potential` of the street before is a histogram over
    these buckets. Public flop clusters: flops are near each other if the 169 classes have similar buckets there.

A street that is done is kept beside the file, so that a build that was stopped goes on with the next one.

Reference: as in `abstraction.features`; N. Brown, S. Ganzfried, T. Sandholm, "Hierarchical Abstraction, Distributed
Equilibrium Computation, and Post-Processing, with Application to a Champion No-Limit Texas Hold'em Agent" (AAMAS 2015)
for public flop clusters.
Deviations: rivers are tabled by board and hand, 134,459 times 1,326 (178 MB), and not by their 2.4 G numbers: with
boards as sets that is what imperfect recall needs, one board's features are computed at once, and its hands lie side
by side. Perfect recall cuts these buckets by those of earlier streets and does not cluster each of them anew.
Status: tests/abstraction/test_build.py.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from math import comb
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from aleator.abstraction.board_features import (
    Room,
    assign_boards,
    bucket_centres,
    feature_room,
    feature_tables,
    find_features,
    metric_of,
)
from aleator.abstraction.boards import all_boards, board_indexer, random_boards
from aleator.abstraction.buckets import AbstractionError, BucketConfig, Buckets, Table, bucket_type
from aleator.abstraction.k_means import k_means
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.storage import ArrayFile, StorageError, check_replaceable, write_arrays

Report = Callable[[float, str], None]
Floats = npt.NDArray[np.float32]
Task = TypeVar("Task")
Answer = TypeVar("Answer")

_PART_FORMAT: Final = "aleator buckets of a street 2"
_CHUNK: Final = 32  # boards that a thread takes at a time
_SHARE: Final = {1: 0.15, 2: 0.5, 3: 0.35}  # of a build's time
_FIT: Final = 0.3  # of a street's time


class Street(NamedTuple):
    """The buckets of a street: ``[boards, 1326]``, the mean equity and the centre of each, in steps, ``[K, D]``."""

    table: Table
    equity: Floats
    centres: Floats


def build_buckets(
    config: BucketConfig, path: Path, *, threads: int = 1, report: Report | None = None, like: Buckets | None = None
) -> Buckets:
    """Makes buckets and writes them to a file; whatever a stopped build of the same settings has done is used.

    Args:
        config: what to make.
        path: the file.
        threads: that share the boards.
        report: is told the share done and what is being done; may raise to stop.
        like: buckets of the same settings, such as packed ones, whose centres are taken; None: they are fitted.

    Raises:
        AbstractionError: the others' centres are not known, or have not given their buckets.
    """
    if like is not None and like.centres is None:
        raise AbstractionError("the buckets that others shall be like have no centres")
    check_replaceable(path)
    say: Report = report or (lambda share, text: None)
    total, done, began = sum(_SHARE[street] for street in range(1, config.last_street + 1)), 0.0, time.perf_counter()
    streets: dict[int, Street] = {}
    for street in range(config.last_street, 0, -1):
        part = _part(path, street)
        centres = None if like is None or like.centres is None else like.centres[street - 1]
        street_buckets = _read_part(part, config, centres)
        if street_buckets is None:
            share = _SHARE[street] / total
            begun = done

            def inside(part: float, text: str, begun: float = begun, share: float = share) -> None:
                say(begun + share * part, text)

            builder = _Builder(config, street, streets.get(street + 1), threads, inside)
            known = None if like is None or centres is None else (centres, like.equities[street - 1])
            street_buckets = builder.build(known)
            _write_part(part, config, street_buckets)
        streets[street] = street_buckets
        done += _SHARE[street] / total
    order = range(1, config.last_street + 1)
    flops = _public_flops(streets[1], config) if like is None else like.flops
    tables, equities = [streets[street].table for street in order], [streets[street].equity for street in order]
    seconds = round(time.perf_counter() - began, 1)
    fingerprint = _hash([*tables, flops])
    if like is not None and like.fingerprint != fingerprint:
        raise AbstractionError(f"the buckets are others than those they shall be like: {fingerprint}")
    report_of = {"seconds": seconds, "fingerprint": fingerprint}
    buckets = Buckets(config, tables, equities, flops, report_of, [streets[street].centres for street in order])
    buckets.save(path)
    for street in order:
        _part(path, street).unlink(missing_ok=True)
    return buckets


def size_of(config: BucketConfig) -> int:
    """Returns the bytes of a file of buckets, which is about what a build takes of memory."""
    counts = enumerate(config.buckets, start=1)
    return sum(len(board_indexer(street)) * NUM_HANDS * bucket_type(count)().itemsize for street, count in counts)


def core_seconds(config: BucketConfig) -> float:
    """Returns about how long a build takes one core, by what hands and boards took on a machine of 2026."""
    seconds = 0.0
    for street, (count, feature) in enumerate(zip(config.buckets, config.features, strict=True), start=1):
        runouts = comb(52 - BOARD_CARDS[street], config.showdown_cards - BOARD_CARDS[street])
        board = 2e-3 if feature == "potential" else 1.3e-4 * runouts
        hand = (2e-6 if feature in ("potential", "histogram") else 2.5e-7) * count / 200.0
        sample = config.boards * (board + config.hands * hand * config.rounds)
        seconds += len(board_indexer(street)) * (board + 1100 * hand) + sample
    return seconds


class _Builder:
    """Makes the buckets of one street, given those of the next."""

    def __init__(
        self, config: BucketConfig, street: int, following: Street | None, threads: int, report: Report
    ) -> None:
        self.config, self.street, self.following, self.threads, self.report = config, street, following, threads, report
        self.feature, self.name = config.features[street - 1], STREET_NAMES[street]
        self.metric = metric_of(self.feature)
        self.boards = all_boards(street)
        then = following if self.feature == "potential" else None
        table, means = (None, None) if then is None else (then.table, then.equity)
        self.tables = feature_tables(self.feature, street, config.showdown_cards, table, means)
        self._rooms = threading.local()

    def build(self, known: tuple[Floats, Floats] | None = None) -> Street:
        """Returns the buckets, fitted, or by centres that are known, and the mean equities of their hands."""
        centres, equity = self._fit() if known is None else known
        return Street(self._assign(centres), equity, centres)

    def _fit(self) -> tuple[Floats, Floats]:
        """Returns centres in the order of the mean equity of their hands in a sample, and these equities."""
        config = self.config
        rng = np.random.default_rng([config.seed, self.street])
        rows, seeds = random_boards(self.street, config.boards, rng), rng.integers(0, 2**63, config.boards)
        sample, strengths = [], []
        for done, (points, equity) in enumerate(self._parallel(self._draw, list(zip(rows, seeds, strict=True))), 1):
            sample.append(points)
            strengths.append(equity)
            self.report(0.5 * _FIT * done / len(rows), f"{self.name}: features of a sample, {done:,} boards")
        points = np.concatenate(sample)

        def on_round(number: int, distance: float) -> None:
            share = 0.5 * _FIT * (1 + number / config.rounds)
            mean = distance / self.tables.steps ** (2 if self.metric == "l2" else 1)
            self.report(share, f"{self.name}: k-means, round {number}, mean distance {mean:.5f}")

        clusters = k_means(
            points, config.buckets[self.street - 1], rng, metric=self.metric, rounds=config.rounds,
            threads=self.threads, on_round=on_round,
        )  # fmt: skip
        count = len(clusters.centres.sums)
        if count < config.buckets[self.street - 1]:
            raise AbstractionError(
                f"{self.name}: {config.buckets[self.street - 1]:,} buckets were asked for, and the hands of the sample "
                f"have only {count:,} different features ({self.feature})"
            )
        members = np.maximum(np.bincount(clusters.labels, minlength=count), 1)
        equity = np.bincount(clusters.labels, np.concatenate(strengths), minlength=count) / members
        order = np.argsort(equity, kind="stable")
        return np.rint(clusters.centres.rows[order]), equity[order].astype(np.float32)

    def _assign(self, rows_of: Floats) -> Table:
        """Returns the bucket of every hand on every board."""
        kind = bucket_type(self.config.buckets[self.street - 1])
        table = np.zeros((len(self.boards), NUM_HANDS), kind)
        centres, numbers = bucket_centres(rows_of, self.feature, kind)

        def assign(rows: slice) -> None:
            assign_boards(self.boards[rows], self.tables, centres, numbers, table[rows], self._room())

        chunks = [slice(at, at + _CHUNK) for at in range(0, len(table), _CHUNK)]
        for done, _ in enumerate(self._parallel(assign, chunks), 1):
            self.report(_FIT + (1.0 - _FIT) * done / len(chunks), f"{self.name}: board {done * _CHUNK:,}")
        return table

    def _draw(self, task: tuple[int, int]) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Returns features and equities of a few hands on a board."""
        row, seed = task
        alive = np.flatnonzero(~blocked_hands(self.boards[row]))
        hands = np.random.default_rng(seed).choice(alive, min(self.config.hands, len(alive)), replace=False)
        room = self._room()
        find_features(self.boards[row], self.tables, room)
        return room.points[hands], room.equity[hands]

    def _room(self) -> Room:
        """Returns the working memory of this thread."""
        if not hasattr(self._rooms, "room"):
            self._rooms.room = feature_room(self.tables)
        room: Room = self._rooms.room
        return room

    def _parallel(self, function: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterable[Answer]:
        """Yields the answers to some tasks in their order, computed by threads."""
        if self.threads == 1:
            yield from map(function, tasks)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                yield from pool.map(function, tasks)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _public_flops(flop: Street, config: BucketConfig) -> npt.NDArray[np.int16]:
    """Returns the public cluster of each flop, ``[1755]``: by the mean equity of the bucket of each of 169 classes."""
    boards = all_boards(1)
    if config.public_flops == 1:
        return np.zeros(len(boards), np.int16)
    rows = np.empty((len(boards), NUM_HAND_CLASSES), np.float32)
    for row, board in enumerate(boards):
        alive = ~blocked_hands(board)
        classes, equity = HAND_CLASSES[alive], flop.equity[flop.table[row, alive]]
        count = np.bincount(classes, minlength=NUM_HAND_CLASSES)
        rows[row] = np.bincount(classes, equity, minlength=NUM_HAND_CLASSES) / np.maximum(count, 1)
    drawn = random_boards(1, 200_000, np.random.default_rng([config.seed, 0]))
    weights = np.bincount(drawn, minlength=len(boards)) + 1.0  # nearly as often as they come
    rng = np.random.default_rng([config.seed, 4])
    clusters = k_means(rows, config.public_flops, rng, weights=weights, rounds=100)
    return clusters.labels.astype(np.int16)


def _part(path: Path, street: int) -> Path:
    return path.with_name(f"{path.name}.{STREET_NAMES[street]}.part")


def _write_part(path: Path, config: BucketConfig, street: Street) -> None:
    metadata = {"format": _PART_FORMAT, "config": config.to_json()}
    write_arrays(path, street._asdict(), metadata)


def _read_part(path: Path, config: BucketConfig, centres: Floats | None) -> Street | None:
    """Returns a street that an earlier build of the same settings, with these centres if given, has done, or None."""
    if not path.exists():
        return None
    try:
        file = ArrayFile(path)
        if file.metadata.get("format") != _PART_FORMAT or file.metadata.get("config") != config.to_json():
            return None
        street = Street(*(np.asarray(file[name]) for name in Street._fields))
        return street if centres is None or np.array_equal(street.centres, centres) else None
    except (StorageError, KeyError):  # damaged: it is made again
        return None


def _hash(arrays: list[npt.NDArray[np.generic]]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]
