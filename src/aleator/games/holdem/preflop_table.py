"""The table of equities before the flop, from all boards; `python -m aleator.games.holdem.preflop_table` writes it.

*Algorithm.* Boards that differ by a renaming of suits are counted once, 134,459 of 2,598,960, with their multiplicity.
On each, every hand is compared with every other. Summing over all renamings then gives all boards.
*Status.* The file in the package equals it (tests/games/holdem/test_equity.py, slow: about half a minute).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, NUM_SUITS
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables, strength_of
from aleator.games.holdem.suits import HAND_MAPS, SUIT_PERMUTATIONS
from aleator.jit import njit

_NEVER_WORSE = 32_767  # than any strength


def count_wins() -> npt.NDArray[np.int32]:
    """Returns twice the runouts that the row's hand wins against the column's, a tie once, ``[1326, 1326]``.

    0 where the two share a card. Of 1,712,304 runouts each.
    """
    counts = np.zeros((NUM_HANDS, NUM_HANDS), np.int32)
    _count(SUIT_PERMUTATIONS.astype(np.int64), HANDS, evaluator_tables(), counts)
    whole = np.zeros((NUM_HANDS, NUM_HANDS), np.int64)
    for renamed in HAND_MAPS:
        whole += counts[np.ix_(renamed, renamed)]
    share = (HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    return np.where(share, 0, whole // len(HAND_MAPS)).astype(np.int32)


@njit()
def _count(
    permutations: npt.NDArray[np.int64], cards: npt.NDArray[np.int8], tables: EvaluatorTables,
    counts: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Adds each board that is the least of its images, as often as it has images."""
    board = np.empty(5, np.int64)
    strong, weak = np.empty(NUM_HANDS, np.int16), np.empty(NUM_HANDS, np.int16)
    for a in range(4, NUM_CARDS):
        for b in range(3, a):
            for c in range(2, b):
                for d in range(1, c):
                    for e in range(d):
                        board[0], board[1], board[2], board[3], board[4] = a, b, c, d, e
                        times = _images(board, permutations)
                        if times:
                            _compare(board, np.int32(times), cards, tables, strong, weak, counts)


@njit()
def _images(board: npt.NDArray[np.int64], permutations: npt.NDArray[np.int64]) -> int:
    """Returns how many different images a board has under renamings of suits, 0 unless it is the least of them."""
    image = np.empty(5, np.int64)
    same = 0
    for suits in permutations:
        for k in range(5):
            image[k] = board[k] // NUM_SUITS * NUM_SUITS + suits[board[k] % NUM_SUITS]
        for k in range(1, 5):  # descending, as the board is
            card, index = image[k], k
            while index > 0 and image[index - 1] < card:
                image[index] = image[index - 1]
                index -= 1
            image[index] = card
        differs = 0
        for k in range(5):
            differs = image[k] - board[k]
            if differs:
                break
        if differs < 0:
            return 0
        same += differs == 0
    return len(permutations) // same


@njit()
def _compare(
    board: npt.NDArray[np.int64], times: np.int32, cards: npt.NDArray[np.int8], tables: EvaluatorTables,
    strong: npt.NDArray[np.int16], weak: npt.NDArray[np.int16], counts: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Adds to each pair of hands 2 or 1 times ``times`` for a win or a tie on a board."""
    seven = np.empty(7, np.int8)
    seven[:5] = board
    for hand in range(NUM_HANDS):
        blocked = False
        for card in board:
            blocked |= card == cards[hand, 0] or card == cards[hand, 1]
        if blocked:
            strong[hand], weak[hand] = -1, _NEVER_WORSE
        else:
            seven[5], seven[6] = cards[hand, 0], cards[hand, 1]
            strong[hand] = weak[hand] = strength_of(seven, tables)
    for hand in range(NUM_HANDS):
        mine, row = strong[hand], counts[hand]
        if mine >= 0:
            for other in range(NUM_HANDS):
                row[other] += times * (np.int32(mine > weak[other]) + np.int32(mine >= weak[other]))


if __name__ == "__main__":
    from aleator.games.holdem.equity import representatives

    np.save(Path(__file__).parent / "data" / "preflop_equities.npy", count_wins()[representatives()])
