"""Deals for a blueprint: two hands and a board at random, and what each player knows about them on each street."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.boards import STREETS, BoardTables, board_tables, find_board
from aleator.abstraction.buckets import Buckets
from aleator.games.holdem.cards import HAND_CLASSES, NUM_CARDS
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables, strength_of
from aleator.jit import kernel, read_only
from aleator.solvers.engines.sampling.random import advance, mix

_NO_TABLE = np.zeros((1, 1), np.uint8)


class DealTables(NamedTuple):
    """What deals are looked up in, an argument of the compiled functions; streets that a game lacks have one cell."""

    boards: tuple[BoardTables, BoardTables, BoardTables]  # of the flop, the turn and the river
    flop: npt.NDArray[np.uint8]  # [boards, 1326]
    turn: npt.NDArray[np.uint8]
    river: npt.NDArray[np.uint8]
    clusters: npt.NDArray[np.int16]  # [1755] of flops
    classes: npt.NDArray[np.int16]  # [1326]
    buckets: npt.NDArray[np.int64]  # [3] of the streets from the flop on
    streets: int  # from the flop on
    perfect_recall: bool
    evaluator: EvaluatorTables


def deal_tables(buckets: Buckets) -> DealTables:
    """Returns what deals are looked up in.

    Raises:
        AbstractionError: the buckets of boards are made one by one.
        StorageError: the file is damaged.
    """
    config, tables = buckets.config, [_NO_TABLE] * len(STREETS)
    for street in range(1, len(config.buckets) + 1):
        tables[street - 1] = buckets.table(street)
    if len({table.dtype for table in tables}) > 1:  # one kind, so that one kernel serves
        tables = [table.astype(np.uint16) for table in tables]
    flop, turn, river = (board_tables(street) for street in STREETS)
    return DealTables(
        boards=(flop, turn, river),
        flop=read_only(tables[0]),
        turn=read_only(tables[1]),
        river=read_only(tables[2]),
        clusters=read_only(buckets.flops),
        classes=read_only(np.ascontiguousarray(HAND_CLASSES)),
        buckets=np.array((*config.buckets, 0, 0)[:3], np.int64),
        streets=config.last_street,
        perfect_recall=config.perfect_recall,
        evaluator=evaluator_tables(),
    )


class DealRoom(NamedTuple):
    """Working memory of `deal_hand`, and the deal."""

    cards: npt.NDArray[np.int8]  # [9] two of player 0, two of player 1, five of the board
    seven: npt.NDArray[np.int8]  # [7] the board and a hand
    places: npt.NDArray[np.int64]  # [4]
    numbers: npt.NDArray[np.int64]  # [2, 4] what each player knows on each street


def deal_room() -> DealRoom:
    """Returns working memory for one thread."""
    return DealRoom(np.zeros(9, np.int8), np.zeros(7, np.int8), np.zeros(4, np.int64), np.zeros((2, 4), np.int64))


@kernel()
def deal_cards(state: np.uint64, cards: npt.NDArray[np.int8]) -> np.uint64:
    """Fills ``cards`` with different ones at random; returns the random stream after them."""
    taken, dealt = np.uint64(0), 0
    while dealt < len(cards):
        state = advance(state)
        bits = mix(state)
        for _ in range(5):  # five draws of 12 bits; those above 52 × 78 are not used, so that cards are equally likely
            card = (bits & np.uint64(4095)) // np.uint64(78)
            bits >>= np.uint64(12)
            if card < np.uint64(NUM_CARDS) and not taken >> card & np.uint64(1) and dealt < len(cards):
                taken |= np.uint64(1) << card
                cards[dealt] = card
                dealt += 1
    return state


@kernel()
def deal_hand(state: np.uint64, tables: DealTables, room: DealRoom) -> tuple[np.uint64, int]:
    """Deals a hand into ``room``; returns the random stream after it, and the winner of a showdown as 1, 0 or -1."""
    cards = room.cards
    state = deal_cards(state, cards)
    first, second = _hand(cards[0], cards[1]), _hand(cards[2], cards[3])
    numbers = room.numbers
    numbers[0, 0], numbers[1, 0] = tables.classes[first], tables.classes[second]
    board, streets = cards[4:], tables.streets
    row, renaming = find_board(board[:3], tables.boards[0], room.places)
    cluster = int(tables.clusters[row])
    maps = tables.boards[0].hand_maps[renaming]
    _know(numbers, np.int64(1), tables.flop[row], maps, first, second, cluster, tables)
    if streets > 1:
        row, renaming = find_board(board[:4], tables.boards[1], room.places)
        maps = tables.boards[1].hand_maps[renaming]
        _know(numbers, np.int64(2), tables.turn[row], maps, first, second, cluster, tables)
    if streets > 2:
        row, renaming = find_board(board, tables.boards[2], room.places)
        maps = tables.boards[2].hand_maps[renaming]
        _know(numbers, np.int64(3), tables.river[row], maps, first, second, cluster, tables)
    shown = 2 + streets
    seven = room.seven
    for k in range(shown):
        seven[k] = board[k]
    seven[shown], seven[shown + 1] = cards[0], cards[1]
    mine = strength_of(seven[: shown + 2], tables.evaluator)
    seven[shown], seven[shown + 1] = cards[2], cards[3]
    theirs = strength_of(seven[: shown + 2], tables.evaluator)
    return state, (1 if mine > theirs else -1 if mine < theirs else 0)


@kernel(forceinline=True)
def _hand(one: np.int8, other: np.int8) -> int:
    high, low = int(max(one, other)), int(min(one, other))
    return high * (high - 1) // 2 + low


@kernel(forceinline=True)
def _know(
    numbers: npt.NDArray[np.int64], street: np.int64, row: npt.NDArray[np.uint8], maps: npt.NDArray[np.int16],
    first: int, second: int, cluster: int, tables: DealTables,
) -> None:  # fmt: skip
    """Writes what both players know on a street, given the row of its board."""
    count = tables.buckets[street - 1]
    one, two = np.int64(row[maps[first]]), np.int64(row[maps[second]])
    if tables.perfect_recall:
        numbers[0, street] = numbers[0, street - 1] * count + one
        numbers[1, street] = numbers[1, street - 1] * count + two
    else:
        numbers[0, street], numbers[1, street] = cluster * count + one, cluster * count + two
