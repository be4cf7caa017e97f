"""How hands move between the numbers of an abstraction as cards fall, and which numbers win a showdown; by sampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.deals import DealRoom, DealTables, deal_hand, deal_room, deal_tables
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.jit import kernel
from aleator.solvers.engines.sampling.random import stream

MOST_NUMBERS: Final = 2_000
"""On a street: values are matrices over pairs of numbers."""

Matrix = npt.NDArray[np.float32]


class NumberChances(NamedTuple):
    """What cards do to the numbers of hands.

    Attributes:
        moves: for each street but the last, how likely a number becomes each of the next street's, ``[n, n']``.
        showdowns: for each street, how often a number wins a showdown against another less how often it loses,
            ``[n, n]``, if nobody folds.
    """

    moves: tuple[Matrix, ...]
    showdowns: tuple[Matrix, ...]


def count_chances(buckets: Buckets, *, deals: int, seed: int = 0) -> NumberChances:
    """Returns the chances that some deals at random show.

    Args:
        buckets: whose numbers are counted.
        deals: how many; each counts for both players.
        seed: of the deals.

    Raises:
        AbstractionError: a street has too many numbers for matrices.
    """
    config = buckets.config
    counts = [config.count(street) for street in range(config.last_street + 1)]
    if max(counts) > MOST_NUMBERS:
        raise AbstractionError(
            f"values of a blueprint are kept for at most {MOST_NUMBERS:,} numbers on a street: these buckets have "
            f"{max(counts):,}"
        )
    tables, room = deal_tables(buckets), deal_room()
    moves = [np.zeros((counts[street], counts[street + 1])) for street in range(config.last_street)]
    won = [np.zeros((count, count)) for count in counts]
    met = [np.zeros((count, count)) for count in counts]
    _count(np.uint64(seed), deals, config.last_street, tables, room, _four(moves), _four(won), _four(met))
    showdowns = []
    for row, times in zip(won, met, strict=True):
        signed, seen = row - row.T, times + times.T  # what one wins the other loses
        showdowns.append((signed / (seen + 1.0)).astype(np.float32))  # rare pairs are taken to be even
    return NumberChances(
        tuple((move / np.maximum(move.sum(axis=1, keepdims=True), 1.0)).astype(np.float32) for move in moves),
        tuple(showdowns),
    )


_Counts = npt.NDArray[np.float64]
_Four = tuple[_Counts, _Counts, _Counts, _Counts]


def _four(counts: Sequence[_Counts]) -> _Four:
    """Returns the counts of streets, with a cell for each street that a game lacks: one kernel serves all games."""
    filled = [*counts, *[np.zeros((1, 1))] * (4 - len(counts))]
    return filled[0], filled[1], filled[2], filled[3]


@kernel()
def _count(
    seed: np.uint64, deals: int, last: int, tables: DealTables, room: DealRoom, moves: _Four, won: _Four, met: _Four
) -> None:
    numbers = room.numbers
    for number in range(deals):
        _, winner = deal_hand(stream(seed, number, 1, 0), tables, room)
        for player in range(2):
            moves[0][numbers[player, 0], numbers[player, 1]] += 1.0
            if last > 1:
                moves[1][numbers[player, 1], numbers[player, 2]] += 1.0
            if last > 2:
                moves[2][numbers[player, 2], numbers[player, 3]] += 1.0
        won[0][numbers[0, 0], numbers[1, 0]] += winner
        met[0][numbers[0, 0], numbers[1, 0]] += 1.0
        won[1][numbers[0, 1], numbers[1, 1]] += winner
        met[1][numbers[0, 1], numbers[1, 1]] += 1.0
        if last > 1:
            won[2][numbers[0, 2], numbers[1, 2]] += winner
            met[2][numbers[0, 2], numbers[1, 2]] += 1.0
        if last > 2:
            won[3][numbers[0, 3], numbers[1, 3]] += winner
            met[3][numbers[0, 3], numbers[1, 3]] += 1.0
