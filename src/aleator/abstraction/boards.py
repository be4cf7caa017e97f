"""Boards up to suits: the rows of tables that have a number for each of the 1,326 hands on each board.

A board is a set of cards here, whatever came on which street: 1,755 flops, 16,432 turns and 134,459 rivers. A hand is
looked up in the row of its board's class, after its suits were renamed as the board's were.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.hand_index import HandIndexer, IndexTables, index_hand
from aleator.caching import cache
from aleator.games.holdem.cards import NUM_CARDS
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.suits import HAND_MAPS, SUIT_PERMUTATIONS
from aleator.jit import kernel

FLOP: Final = 1
RIVER: Final = 3
STREETS: Final = (FLOP, 2, RIVER)
"""The streets with a board."""


class BoardTables(NamedTuple):
    """What finds a board's row, an argument of the compiled functions."""

    indexer: IndexTables  # of boards of that street
    renaming: npt.NDArray[np.int8]  # [256] a suit permutation's number by the four places of the suits, 2 bits each
    hand_maps: npt.NDArray[np.int16]  # [24, 1326] the image of each hand by permutation


@cache
def board_indexer(street: int) -> HandIndexer:
    """Returns what numbers the boards of a street, 1 for the flop to 3 for the river."""
    return HandIndexer((BOARD_CARDS[street],))


@cache
def board_tables(street: int) -> BoardTables:
    """Returns what `find_board` looks up for a street."""
    renaming = np.zeros(256, np.int8)
    renaming[(SUIT_PERMUTATIONS.astype(np.int64) << np.array([0, 2, 4, 6])).sum(axis=1)] = np.arange(24)
    return BoardTables(board_indexer(street).tables, renaming, np.ascontiguousarray(HAND_MAPS))


def all_boards(street: int) -> npt.NDArray[np.int8]:
    """Returns one board of each class of a street, in the order of rows, ``[boards, cards]``."""
    return board_indexer(street).unindex(np.arange(len(board_indexer(street))))


def random_boards(street: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns the classes of boards dealt at random, ``[count]``: those of more boards come more often."""
    cards = rng.random((count, NUM_CARDS)).argpartition(BOARD_CARDS[street], axis=1)[:, : BOARD_CARDS[street]]
    return board_indexer(street).index(cards)


def hand_map(board: npt.NDArray[np.integer]) -> tuple[int, npt.NDArray[np.int16]]:
    """Returns the row of a board of 3 to 5 cards, and the number of each hand there, ``[1326]``."""
    tables = board_tables(BOARD_CARDS.index(len(board)))
    row, renaming = find_board(np.ascontiguousarray(board, np.int8), tables, np.empty(4, np.int64))
    return row, HAND_MAPS[renaming]


@kernel()
def find_board(cards: npt.NDArray[np.int8], tables: BoardTables, places: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Returns the row of a board, and the suit permutation that brings a hand there; ``places`` is working memory."""
    row = index_hand(cards, tables.indexer, places)
    code = places[0] | places[1] << 2 | places[2] << 4 | places[3] << 6
    return row, int(tables.renaming[code])
