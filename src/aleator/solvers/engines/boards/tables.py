"""What a board means for the hands of both players: who is alive, in which order, with which cards.

On every board each player's rows hold the living hands only. On the last street they are sorted by strength, so that
scans run through memory in order; before that they keep the order of the hands' numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.cards import HANDS, NUM_CARDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.kernels.simd import WIDE

Int16Array = npt.NDArray[np.int16]
Int64Array = npt.NDArray[np.int64]


NOBODY = (NUM_CARDS + 1) * WIDE


class HandTable(NamedTuple):
    """One player's hands on the B boards of a street; rows padded to W, a multiple of WIDE."""

    alive: npt.NDArray[np.int32]  # [B] living hands
    card1: Int16Array  # [B, W] WIDE times the first card of the hand in each row; NUM_CARDS, all hands, for padding
    card2: Int16Array  # [B, W] WIDE times the second; NOBODY for padding, so that it shares cards with all hands
    same: Int16Array  # [B, W] the opponent's row of the very same hand; the row behind all others if it has none
    num_groups: npt.NDArray[np.int32]  # [B] groups of equal strength
    group_start: Int16Array  # [B, W + 1] first row of each group, and the end
    below: Int16Array  # [B, W] opponent's hands weaker than each group
    upto: Int16Array  # [B, W] opponent's hands weaker or equal


def living_hands(board: Sequence[int], hands: Int64Array, *, ranked: bool) -> tuple[Int16Array, Int16Array]:
    """Returns the hands alive on a board, in the order of their rows, and their strengths, 0 unless `ranked`."""
    order = strengths(board) if ranked else np.where(blocked_hands(board), -1, 0).astype(np.int16)
    living = hands[order[hands] >= 0]
    if ranked:
        living = living[np.lexsort((_APART[living], order[living]))]
    return living.astype(np.int16), order[living]


def _apart() -> Int64Array:
    """Returns a place for each hand [1326], such that hands of equal ranks follow each other with different cards.

    Running sums per card then need not wait for the sum that was just written.
    """
    low, high = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)
    apart = (high - low) % 4
    places = np.empty(len(HANDS), np.int64)
    places[np.lexsort(((high + 2 * apart) % 4, apart, low // 4, high // 4))] = np.arange(len(HANDS))
    return places


_APART = _apart()


def row_width(count: int) -> int:
    """Returns the length of a row of that many hands: a multiple of WIDE with at least one place to spare."""
    return count // WIDE * WIDE + WIDE


def build_tables(rows: Sequence[Sequence[tuple[Int16Array, Int16Array]]]) -> tuple[HandTable, HandTable]:
    """Returns both players' tables of one street, given the living hands of each player on each board."""
    widths = [row_width(max(len(living) for living, _ in side)) for side in rows]
    tables = []
    for player in (0, 1):
        count, width = len(rows[player]), widths[player]
        table = HandTable(
            alive=np.array([len(living) for living, _ in rows[player]], np.int32),
            card1=np.full((count, width), NUM_CARDS * WIDE, np.int16),
            card2=np.full((count, width), NOBODY, np.int16),
            same=np.full((count, width), widths[1 - player], np.int16),
            num_groups=np.zeros(count, np.int32),
            group_start=np.zeros((count, width + 1), np.int16),
            below=np.zeros((count, width), np.int16),
            upto=np.zeros((count, width), np.int16),
        )
        for index in range(count):
            _fill(table, index, *rows[player][index], *rows[1 - player][index])
        tables.append(table)
    return tables[0], tables[1]


def _fill(
    table: HandTable,
    index: int,
    living: Int16Array,
    strength: Int16Array,
    other: Int16Array,
    other_strength: Int16Array,
) -> None:
    count = len(living)
    table.card1[index, :count], table.card2[index, :count] = HANDS[living].T.astype(np.int16) * WIDE
    other_row = np.full(len(HANDS), -1, dtype=np.int64)
    other_row[other] = np.arange(len(other))
    same = other_row[living]
    table.same[index, :count] = np.where(same >= 0, same, table.same[index, :count])
    starts = np.flatnonzero(np.diff(strength, prepend=-1))
    table.num_groups[index] = len(starts)
    table.group_start[index, : len(starts)] = starts
    table.group_start[index, len(starts)] = count
    table.below[index, : len(starts)] = np.searchsorted(other_strength, strength[starts], side="left")
    table.upto[index, : len(starts)] = np.searchsorted(other_strength, strength[starts], side="right")
