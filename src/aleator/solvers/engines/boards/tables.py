"""What a board means for the hands of both players: who is alive, in which order of strength, with which cards.

Hands of a player are numbered as in its storage rows. On a board the living hands are sorted by strength; scans work in
that order. Dead hands and padding of both players have one place behind all others (the larger width), whose reach is
ignored and whose value is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.cards import HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.solvers.engines.cpu.simd import WIDE

Int16Array = npt.NDArray[np.int16]


class HandTable(NamedTuple):
    """One player's hands on T boards; H hands padded to a multiple of WIDE. `other` is the opponent's sorted order.

    Card and place offsets are in rows of WIDE lanes.
    """

    place: Int16Array  # [T, H] sorted place of each hand, the dead place for dead hands and padding
    alive: npt.NDArray[np.int32]  # [T] living hands
    card1: Int16Array  # [T, H] first card of the hand at each sorted place
    card2: Int16Array  # [T, H]
    same: Int16Array  # [T, H] the opponent's sorted place of the very same hand, else the dead place
    num_groups: npt.NDArray[np.int32]  # [T] groups of equal strength
    group_start: Int16Array  # [T, H + 1] first sorted place of each group, and the end
    below: Int16Array  # [T, H] opponent's hands weaker than each group
    upto: Int16Array  # [T, H] opponent's hands weaker or equal


def build_tables(
    boards: Sequence[Sequence[int]], hands: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
) -> tuple[HandTable, HandTable]:
    """Returns both players' tables. Boards of fewer than five cards have no strengths: only folds happen there.

    Args:
        boards: T boards of 3 to 5 cards.
        hands: per player the hands (0..1325) of its storage rows.
    """
    widths = [-(-len(own) // WIDE) * WIDE for own in hands]
    dead = max(widths)
    tables = [
        HandTable(
            place=np.full((len(boards), width), dead, np.int16),
            alive=np.zeros(len(boards), np.int32),
            card1=np.zeros((len(boards), width), np.int16),
            card2=np.zeros((len(boards), width), np.int16),
            same=np.full((len(boards), width), dead, np.int16),
            num_groups=np.zeros(len(boards), np.int32),
            group_start=np.zeros((len(boards), width + 1), np.int16),
            below=np.zeros((len(boards), width), np.int16),
            upto=np.zeros((len(boards), width), np.int16),
        )
        for width in widths
    ]
    for index, board in enumerate(boards):
        strength = strengths(board) if len(board) == 5 else np.where(blocked_hands(board), -1, 0)
        ranked = [own[np.argsort(strength[own], kind="stable")] for own in hands]
        ranked = [order[strength[order] >= 0] for order in ranked]
        for player in (0, 1):
            _fill(tables[player], index, dead, hands[player], ranked[player], ranked[1 - player], strength)
    return tables[0], tables[1]


def _fill(
    table: HandTable,
    index: int,
    dead: int,
    hands: npt.NDArray[np.int64],
    ranked: npt.NDArray[np.int64],
    other: npt.NDArray[np.int64],
    strength: npt.NDArray[np.int16] | npt.NDArray[np.int64],
) -> None:
    count = len(ranked)
    place_of = np.full(len(HANDS), dead, dtype=np.int64)
    place_of[ranked] = np.arange(count)
    table.place[index, : len(hands)] = place_of[hands]
    table.alive[index] = count
    table.card1[index, :count], table.card2[index, :count] = HANDS[ranked].T
    other_place = np.full(len(HANDS), -1, dtype=np.int64)
    other_place[other] = np.arange(len(other))
    same = other_place[ranked]
    table.same[index, :count] = np.where(same >= 0, same, table.same[index, :count])
    own_strength, other_strength = strength[ranked], strength[other]
    starts = np.flatnonzero(np.diff(own_strength, prepend=-1))
    table.num_groups[index] = len(starts)
    table.group_start[index, : len(starts)] = starts
    table.group_start[index, len(starts)] = count
    table.below[index, : len(starts)] = np.searchsorted(other_strength, own_strength[starts], side="left")
    table.upto[index, : len(starts)] = np.searchsorted(other_strength, own_strength[starts], side="right")
