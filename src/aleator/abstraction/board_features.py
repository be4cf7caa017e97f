"""Features and buckets of all hands on many boards in one compiled call, so that threads work side by side.

What is computed is said in `abstraction.features`. A board in several calls from Python, with arrays that are made
anew, is less than a millisecond of work each, for which threads wait on each other. Here a thread keeps its arrays and
comes back to Python after dozens of boards.

Status: equal to such calls to the last bit (tests/abstraction/test_board_features.py).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction import features
from aleator.abstraction.boards import BoardTables, board_tables
from aleator.abstraction.buckets import FEATURES
from aleator.abstraction.features import add_next_buckets, add_runouts
from aleator.abstraction.k_means import Centres, make_centres, nearest
from aleator.games.holdem.cards import HANDS, NUM_HANDS
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables
from aleator.jit import njit

Counts = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Table = npt.NDArray[np.unsignedinteger]

_EQUITY, _OCHS, _HISTOGRAM, _POTENTIAL = range(len(FEATURES))
_NO_TABLE: Final = np.zeros((1, 1), np.uint8)
_BINS: Final = (np.arange(features.BINS) + 0.5) / features.BINS


class FeatureTables(NamedTuple):
    """What the features of a street are computed from, an argument of the compiled functions.

    Attributes:
        kind: which feature, by its place in `FEATURES`.
        showdown: cards on the board when hands are compared.
        hands: the cards of each hand, ``[1326, 2]``.
        groups: of opponents, ``[1326]``.
        evaluator: that compares hands.
        following: buckets of the next street, ``[places, 1326]``; one cell unless the feature is `potential`.
        place_of: where each board of the next street lies in ``following``, ``[boards]``.
        boards: of the next street.
        points: where the bins of a histogram lie, ``[P]``.
        gaps: between them in steps, ``[P - 1]``.
        steps: of the feature.
    """

    kind: int
    showdown: int
    hands: npt.NDArray[np.int8]
    groups: npt.NDArray[np.int8]
    evaluator: EvaluatorTables
    following: Table
    place_of: npt.NDArray[np.int32]
    boards: BoardTables
    points: Doubles
    gaps: Doubles
    steps: float


class Room(NamedTuple):
    """Working memory of a thread, and the features of a board.

    Attributes:
        won, met: as `features.count_runouts` has them, ``[1326, 8]``.
        bins: ``[1326, 50]``.
        counts: of buckets of the next street, ``[1326, P]``; one cell unless the feature is `potential`.
        points: the features, ``[1326, D]``; those of hands that the board blocks mean nothing.
        equity: of each hand, ``[1326]``.
    """

    won: Counts
    met: Counts
    bins: Counts
    counts: npt.NDArray[np.int16]
    points: Floats
    equity: Doubles


def feature_tables(
    feature: str, street: int, showdown: int, following: Table | None = None, means: Floats | None = None,
    place_of: npt.NDArray[np.int32] | None = None,
) -> FeatureTables:  # fmt: skip
    """Returns what the features of a street are computed from.

    Args:
        feature: its name.
        street: 1 for the flop to 3 for the river.
        showdown: cards on the board when hands are compared.
        following: for `potential`, the buckets of the next street, ``[places, 1326]``.
        means: for `potential`, the mean equities of these buckets, ascending.
        place_of: where each board of the next street lies in ``following``; None: in the order of their numbers.
    """
    kind = FEATURES.index(feature)
    points = _BINS if means is None else means
    return FeatureTables(
        kind=kind,
        showdown=showdown,
        hands=HANDS,
        groups=features.opponent_groups(),
        evaluator=evaluator_tables(),
        following=_NO_TABLE if following is None else following,
        place_of=np.arange(0 if following is None else len(following), dtype=np.int32)
        if place_of is None
        else place_of,
        boards=board_tables(street + 1 if kind == _POTENTIAL else street),
        points=points.astype(np.float64),
        gaps=features.gaps_between(points, feature),
        steps=float(features.STEPS[feature]),
    )


def metric_of(feature: str) -> str:
    """Returns how far apart two hands are by a feature: a metric of `k_means`."""
    return "l2" if feature in ("equity", "ochs") else "l1"


def bucket_centres(rows: Floats, feature: str, kind: type[np.unsignedinteger]) -> tuple[Centres, Table]:
    """Returns the centres of buckets for `assign_boards`, and the bucket of each of them, ``[K]``.

    Args:
        rows: the centre of each bucket, in whole steps of the feature, ``[K, D]``.
        feature: that they are of.
        kind: of the numbers of buckets.
    """
    order = np.argsort(rows.sum(axis=1, dtype=np.float64), kind="stable")
    return make_centres(rows[order], metric_of(feature)), order.astype(kind)


def feature_room(tables: FeatureTables) -> Room:
    """Returns working memory for one thread."""
    groups, bins = features.GROUPS, len(tables.points)
    width = features.width_of(FEATURES[tables.kind], bins)
    won, met = np.zeros((2, NUM_HANDS, groups), np.int32)
    return Room(
        won=won,
        met=met,
        bins=np.zeros((NUM_HANDS, features.BINS), np.int32),
        counts=np.zeros((NUM_HANDS, bins) if tables.kind == _POTENTIAL else (1, 1), np.int16),
        points=np.zeros((NUM_HANDS, width), np.float32),
        equity=np.zeros(NUM_HANDS),
    )


@njit()
def assign_boards(
    boards: npt.NDArray[np.int8], tables: FeatureTables, centres: Centres, numbers: Table, buckets: Table, room: Room
) -> None:
    """Writes the bucket of every hand on some boards; hands that a board blocks are left as they are.

    Args:
        boards: ``[B, cards]``.
        tables: of their street.
        centres: of the buckets.
        numbers: the bucket of each centre, ``[K]``.
        buckets: ``[B, 1326]``, written.
        room: working memory.
    """
    for row in range(len(boards)):
        find_features(boards[row], tables, room)
        for hand in range(NUM_HANDS):
            blocked = False
            for card in boards[row]:
                blocked |= card == tables.hands[hand, 0] or card == tables.hands[hand, 1]
            if not blocked:
                label, _ = nearest(room.points[hand], centres)
                buckets[row, hand] = numbers[label]


@njit()
def find_features(board: npt.NDArray[np.int8], tables: FeatureTables, room: Room) -> None:
    """Writes the features and the equity of all hands on a board to ``room``."""
    if tables.kind == _POTENTIAL:
        room.counts[:] = 0
        add_next_buckets(board, tables.following, tables.place_of, tables.hands, tables.boards, room.counts)
        _cumulate(room.counts, tables.gaps, room.points)
        for hand in range(NUM_HANDS):
            weighed, cards = 0.0, 0
            for bucket in range(len(tables.points)):
                weighed += room.counts[hand, bucket] * tables.points[bucket]
                cards += room.counts[hand, bucket]
            room.equity[hand] = weighed / max(cards, 1)
        return
    room.won[:], room.met[:], room.bins[:] = 0, 0, 0
    add_runouts(board, tables.showdown, tables.hands, tables.groups, tables.evaluator, room.won, room.met, room.bins)
    for hand in range(NUM_HANDS):
        room.equity[hand] = room.won[hand].sum() / max(2.0 * room.met[hand].sum(), 1.0)
    if tables.kind == _HISTOGRAM:
        _cumulate(room.bins, tables.gaps, room.points)
    elif tables.kind == _OCHS:
        for hand in range(NUM_HANDS):
            for group in range(room.points.shape[1]):
                met = room.met[hand, group]
                equity = room.won[hand, group] / (2.0 * met) if met > 0 else 0.5
                room.points[hand, group] = np.floor(equity * tables.steps + 0.5)
    else:
        for hand in range(NUM_HANDS):
            room.points[hand, 0] = np.floor(room.equity[hand] * tables.steps + 0.5)


@njit()
def _cumulate(counts: npt.NDArray[np.integer], gaps: Doubles, points: Floats) -> None:
    """Writes histograms as `features.cumulated` does."""
    for row in range(len(counts)):
        total = 0.0
        for bucket in range(counts.shape[1]):
            total += counts[row, bucket]
        total, below = max(total, 1.0), 0.0
        for bucket in range(len(gaps)):
            below += counts[row, bucket]
            points[row, bucket] = np.floor(below * gaps[bucket] / total + 0.5)
