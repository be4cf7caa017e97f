"""Buckets of boards that are made when they are asked for, in place of a table of all boards.

Algorithm:
    What `abstraction.build` does last is done for one board: features of its hands, and for each hand the nearest
    centre. Where the feature is `potential`, the boards with one card more are made first. The boards that were asked
    for last are kept, as many as there is room for.
    Buckets are those of the table that the centres were fitted for, bit by bit, on every processor: features and
    centres are whole numbers, so few and so small that no distance is rounded (`abstraction.features`), and of centres
    that are equally near the first in the order of their sums is taken.

Reference: none.
Deviations: none.
Status: tests/abstraction/packed/test_buckets.py compares with tables.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.board_features import assign_boards, bucket_centres, feature_room, feature_tables
from aleator.abstraction.boards import board_indexer
from aleator.abstraction.buckets import BucketConfig, Table, bucket_type
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS

KEPT: Final = {1: 1755, 2: 4096, 3: 16_384}
"""Boards of each street that are kept unless said: 29 MB with up to 256 buckets."""
_LEAST_KEPT: Final = 128  # more than the boards that follow one: they are all there when it is made


class MadeRows:
    """The buckets of the hands on each board of a street, ``[boards, 1326]``, made board by board.

    Args:
        config: what the buckets were made from.
        street: 1 for the flop to 3 for the river.
        centres: of the buckets, in whole steps of the feature, ``[K, D]``.
        following: the rows of the next street, if the feature is `potential`.
        means: the mean equity of each bucket of the next street, ascending.
        kept: boards that are kept at least.

    Attributes:
        made: boards that were made so far, those that were made again included.
    """

    def __init__(
        self,
        config: BucketConfig,
        street: int,
        centres: npt.NDArray[np.float32],
        following: MadeRows | None = None,
        means: npt.NDArray[np.float32] | None = None,
        *,
        kept: int | None = None,
    ) -> None:
        feature, kind = config.features[street - 1], bucket_type(config.buckets[street - 1])
        self.made, self._street, self._following = 0, street, following
        self._rows: Table = np.zeros((max(kept or KEPT[street], _LEAST_KEPT), NUM_HANDS), kind)
        self._place_of = np.full(len(board_indexer(street)), -1, np.int32)
        self._used: OrderedDict[int, int] = OrderedDict()  # the place of each board, that asked last comes last
        self._centres, self._numbers = bucket_centres(centres, feature, kind)
        table, places = (None, None) if following is None else (following._rows, following._place_of)
        self._tables = feature_tables(feature, street, config.showdown_cards, table, means, places)
        self._room = feature_room(self._tables)

    def __getitem__(self, row: int) -> Table:
        """Returns the bucket of each hand on a board by its number, ``[1326]``; 0 for hands that it blocks."""
        return np.array(self._rows[self.places_of([row])[0]])

    def places_of(self, rows: Sequence[int]) -> list[int]:
        """Returns where the rows of some boards lie now, after those that are missing were made; at most 128."""
        assert len(rows) <= _LEAST_KEPT, "what is asked for together is kept together"
        for row in rows:
            if row in self._used:
                self._used.move_to_end(row)
        boards = board_indexer(self._street).unindex(np.asarray(rows, np.int64))
        for row, board in zip(rows, boards, strict=True):
            if row not in self._used:
                self._make(row, board)
        return [self._used[row] for row in rows]

    def _make(self, row: int, board: npt.NDArray[np.int8]) -> None:
        if self._following is not None:
            cards = np.setdiff1d(np.arange(NUM_CARDS, dtype=np.int8), board)
            longer = np.column_stack((np.tile(board, (len(cards), 1)), cards))
            self._following.places_of(np.unique(board_indexer(self._street + 1).index(longer)).tolist())
        place = len(self._used)
        if place == len(self._rows):
            oldest, place = self._used.popitem(last=False)
            self._place_of[oldest] = -1
        self._rows[place] = 0
        boards, rows = np.ascontiguousarray(board[None]), self._rows[place : place + 1]
        assign_boards(boards, self._tables, self._centres, self._numbers, rows, self._room)
        self._used[row], self._place_of[row] = place, place
        self.made += 1


def made_rows(
    config: BucketConfig,
    centres: Sequence[npt.NDArray[np.float32]],
    equities: Sequence[npt.NDArray[np.floating]],
) -> list[MadeRows]:
    """Returns the rows of the streets after the flop.

    Args:
        config: what the buckets were made from.
        centres: of the buckets of each street after the flop.
        equities: the mean equity of each bucket of all streets from the flop on.
    """
    rows: list[MadeRows] = []
    for street in range(config.last_street, 1, -1):
        is_potential = config.features[street - 1] == "potential"
        following = rows[0] if is_potential else None
        means = np.asarray(equities[street], np.float32) if is_potential else None
        rows.insert(0, MadeRows(config, street, centres[street - 2], following, means))
    return rows
