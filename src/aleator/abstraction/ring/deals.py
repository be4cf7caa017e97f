"""Deals for several players: hands and a board at random, what everybody knows on each street, and who is stronger."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.deals import DealTables, deal_cards
from aleator.abstraction.boards import find_board
from aleator.games.holdem.evaluator import strength_of
from aleator.jit import kernel


class RingRoom(NamedTuple):
    """Working memory of `deal_ring`, and the deal."""

    cards: npt.NDArray[np.int8]  # [5 + 2 P] the board, then two of each player
    seven: npt.NDArray[np.int8]  # [7] the board and a hand
    places: npt.NDArray[np.int64]  # [4]
    numbers: npt.NDArray[np.int64]  # [P, 4] what everybody knows on each street
    strength: npt.NDArray[np.int32]  # [P]


def ring_room(players: int) -> RingRoom:
    """Returns working memory for one thread."""
    return RingRoom(
        cards=np.zeros(5 + 2 * players, np.int8),
        seven=np.zeros(7, np.int8),
        places=np.zeros(4, np.int64),
        numbers=np.zeros((players, 4), np.int64),
        strength=np.zeros(players, np.int32),
    )


@kernel()
def deal_ring(state: np.uint64, tables: DealTables, room: RingRoom) -> np.uint64:
    """Deals a hand into ``room``; returns the random stream after it."""
    cards, numbers = room.cards, room.numbers
    state = deal_cards(state, cards)
    players, board = numbers.shape[0], cards[:5]
    for player in range(players):
        numbers[player, 0] = tables.classes[_hand(cards, player)]
    row, renaming = find_board(board[:3], tables.boards[0], room.places)
    cluster = int(tables.clusters[row])
    _know(np.int64(1), tables.flop[row], tables.boards[0].hand_maps[renaming], cluster, tables, room)
    if tables.streets > 1:
        row, renaming = find_board(board[:4], tables.boards[1], room.places)
        _know(np.int64(2), tables.turn[row], tables.boards[1].hand_maps[renaming], cluster, tables, room)
    if tables.streets > 2:
        row, renaming = find_board(board, tables.boards[2], room.places)
        _know(np.int64(3), tables.river[row], tables.boards[2].hand_maps[renaming], cluster, tables, room)
    shown = 2 + tables.streets
    for place in range(shown):
        room.seven[place] = board[place]
    for player in range(players):
        room.seven[shown], room.seven[shown + 1] = cards[5 + 2 * player], cards[6 + 2 * player]
        room.strength[player] = strength_of(room.seven[: shown + 2], tables.evaluator)
    return state


@kernel(forceinline=True)
def _hand(cards: npt.NDArray[np.int8], player: int) -> int:
    one, other = int(cards[5 + 2 * player]), int(cards[6 + 2 * player])
    high, low = max(one, other), min(one, other)
    return high * (high - 1) // 2 + low


@kernel(forceinline=True)
def _know(
    street: np.int64, row: npt.NDArray[np.uint8], maps: npt.NDArray[np.int16], cluster: int, tables: DealTables,
    room: RingRoom,
) -> None:  # fmt: skip
    """Writes what everybody knows on a street, given the row of its board."""
    count = tables.buckets[street - 1]
    for player in range(room.numbers.shape[0]):
        bucket = np.int64(row[maps[_hand(room.cards, player)]])
        before = room.numbers[player, street - 1] if tables.perfect_recall else np.int64(cluster)
        room.numbers[player, street] = before * count + bucket
