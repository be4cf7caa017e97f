"""Equities: the chance to win a showdown when all cards still to come are dealt at random; a tie counts one half.

* `pair_equities`: one hand against another, exactly.
* `preflop_equities`: the same before the flop, for all pairs of hands, from a table.
* `showdown_rows`: every hand against a whole reach of hands at once, exactly.
* `BoardShowdowns`: the same by a matrix, for boards that are asked about many times.
* `hand_strengths`: the share of all other hands that each hand beats on the board as it lies, which is quick.

*Algorithm.* A runout completes the board. Against a reach, hands are sorted by strength on each runout; running sums,
whole and per card, give the reach of weaker and of tied hands that share no card with one's own. Two hands without a
common card see the same number of runouts, 990 after the flop and 44 after the turn, so the mean over all runouts
of the board is exact up to that factor.
*Reference.* Johanson et al. 2011 (the sorted scan).
*Deviations.* None.
*Status.* Equals enumeration pair by pair; the table has published numbers (tests/games/holdem/test_equity.py).
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.games.holdem.cards import HAND_CLASSES, HANDS, NUM_CARDS, NUM_HAND_CLASSES, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables, strength_of, strengths_on
from aleator.games.holdem.suits import HAND_MAPS
from aleator.jit import njit

FloatArray = npt.NDArray[np.float64]

_TABLE: Final = Path(__file__).parent / "data" / "preflop_equities.npy"
_RUNOUTS: Final = {3: 990, 4: 44, 5: 1}  # that two hands without a common card see
_BUCKETS: Final = 128  # of a radix sort of 13-bit strengths in two passes
NEVER_BEATEN: Final = 32_767
NUM_PREFLOP_RUNOUTS: Final = 1_712_304


@cache
def preflop_equities() -> npt.NDArray[np.float32]:
    """Returns the chance that the row's hand beats the column's, float32 ``[1326, 1326]``; 0 where they share a card.

    The file has, for one hand of each of the 169 classes, the runouts that it wins (2) or ties (1) against every hand.
    """
    twice = np.load(_TABLE, allow_pickle=False)
    table = (twice / (2.0 * NUM_PREFLOP_RUNOUTS)).astype(np.float32)
    renamings = (representatives()[HAND_CLASSES] == HAND_MAPS).argmax(axis=0)  # that makes each hand its representative
    equities: npt.NDArray[np.float32] = table[HAND_CLASSES[:, None], HAND_MAPS[renamings]]
    equities.setflags(write=False)
    return equities


@cache
def representatives() -> npt.NDArray[np.int64]:
    """Returns one hand of each class, the first one, ``[169]``."""
    first = np.full(NUM_HAND_CLASSES, -1)
    for hand in range(NUM_HANDS - 1, -1, -1):
        first[HAND_CLASSES[hand]] = hand
    return first


def pair_equities(hands: npt.NDArray[np.integer], boards: npt.NDArray[np.integer]) -> FloatArray:
    """Returns the chance that the first hand of each pair beats the second, ``[B]``.

    Args:
        hands: ``[B, 2]``, without common cards.
        boards: ``[B, k]`` with 0, 3, 4 or 5 cards, not in the hands.
    """
    if boards.shape[1] == 0:
        return np.asarray(preflop_equities()[hands[:, 0], hands[:, 1]], dtype=np.float64)
    equities = np.empty(len(hands))
    cards = np.ascontiguousarray(HANDS[hands].reshape(len(hands), 4))
    _pair_equities(cards, np.ascontiguousarray(boards, dtype=np.int8), evaluator_tables(), equities)
    return equities


def showdown_rows(board: npt.NDArray[np.integer], reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns what each hand wins against a reach of the opponent's hands, and how much of that reach it meets.

    Args:
        board: 0, 3, 4 or 5 cards.
        reach: ``[K, 1326]``, 0 for hands that share a card with the board.

    Returns:
        won: ``[K, 1326]``, for each hand the sum of reach times equity over all hands without a common card.
        met: ``[K, 1326]``, the sum of their reach; 0 for hands that share a card with the board.
    """
    reach = np.ascontiguousarray(reach, dtype=np.float64)
    won, met = np.zeros_like(reach), np.zeros_like(reach)
    _met(reach, ~blocked_hands(board), met)
    if len(board) == 0:
        return np.asarray(reach.astype(np.float32) @ preflop_equities().T, dtype=np.float64), met
    _showdowns(np.ascontiguousarray(board, dtype=np.int8), reach, HANDS, evaluator_tables(), won)
    return won / _RUNOUTS[len(board)], met


@njit()
def _met(reach: FloatArray, alive: npt.NDArray[np.bool_], met: FloatArray) -> None:
    by_card = np.zeros(NUM_CARDS)
    for k in range(len(reach)):
        by_card[:] = 0.0
        whole, hand = 0.0, 0
        for high in range(1, NUM_CARDS):
            for low in range(high):
                whole += reach[k, hand]
                by_card[high] += reach[k, hand]
                by_card[low] += reach[k, hand]
                hand += 1
        hand = 0
        for high in range(1, NUM_CARDS):
            for low in range(high):
                if alive[hand]:
                    met[k, hand] = max(whole - by_card[high] - by_card[low] + reach[k, hand], 0.0)
                hand += 1


@njit()
def _showdowns(
    board: npt.NDArray[np.int8],
    reach: FloatArray,
    cards: npt.NDArray[np.int8],
    tables: EvaluatorTables,
    won: FloatArray,
) -> None:
    """Adds to ``won`` ``[K, 1326]`` the reach of weaker hands and half that of tied ones, summed over all runouts."""
    complete = np.empty(5, np.int8)
    complete[: len(board)] = board
    taken = np.zeros(NUM_CARDS, np.bool_)
    for card in board:
        taken[card] = True
    order, strength, spare = np.empty(NUM_HANDS, np.int16), np.empty(NUM_HANDS, np.int16), np.empty(NUM_HANDS, np.int16)
    by_card = np.zeros(NUM_CARDS)
    for fourth in range(NUM_CARDS if len(board) < 5 else 1):
        if len(board) < 5:
            if taken[fourth]:
                continue
            complete[len(board)] = fourth
        for fifth in range(fourth if len(board) == 3 else 1):
            if len(board) == 3:
                if taken[fifth]:
                    continue
                complete[4] = fifth
            alive = sort_by_strength(complete, cards, tables, order, strength, spare)
            for k in range(len(reach)):
                _scan(order[:alive], strength, cards, reach[k], by_card, won[k])


@njit()
def sort_by_strength(
    board: npt.NDArray[np.int8], cards: npt.NDArray[np.int8], tables: EvaluatorTables,
    order: npt.NDArray[np.int16], strength: npt.NDArray[np.int16], spare: npt.NDArray[np.int16],
) -> int:  # fmt: skip
    """Writes the hands that a board of 3 to 5 cards leaves alive to ``order``, weakest first; returns how many.

    ``strength`` gets the strength of each hand, -1 where the board blocks it; ``spare`` is working memory ``[1326]``.
    """
    strengths_on(board, cards, tables, strength)
    counts, high_counts = np.zeros(_BUCKETS, np.int64), np.zeros(_BUCKETS, np.int64)
    alive = 0
    for hand in range(NUM_HANDS):
        if strength[hand] >= 0:
            counts[strength[hand] & (_BUCKETS - 1)] += 1
            high_counts[strength[hand] >> 7] += 1
            alive += 1
    below, high_below = 0, 0
    for bucket in range(_BUCKETS):
        counts[bucket], below = below, below + counts[bucket]
        high_counts[bucket], high_below = high_below, high_below + high_counts[bucket]
    for hand in range(NUM_HANDS):
        if strength[hand] >= 0:
            bucket = strength[hand] & (_BUCKETS - 1)
            spare[counts[bucket]] = hand
            counts[bucket] += 1
    for index in range(alive):
        hand = spare[index]
        bucket = strength[hand] >> 7
        order[high_counts[bucket]] = hand
        high_counts[bucket] += 1
    return alive


@njit()
def _scan(
    order: npt.NDArray[np.int16], strength: npt.NDArray[np.int16], cards: npt.NDArray[np.int8], reach: FloatArray,
    by_card: FloatArray, won: FloatArray,
) -> None:  # fmt: skip
    """Adds to ``won`` ``[1326]`` the reach of weaker hands and half that of tied ones; ``order`` is weakest first."""
    by_card[:] = 0.0
    whole, start, count = 0.0, 0, len(order)
    while start < count:
        tied, end = strength[order[start]], start
        while end < count and strength[order[end]] == tied:
            hand = order[end]
            won[hand] += 0.5 * (whole - by_card[cards[hand, 0]] - by_card[cards[hand, 1]])
            end += 1
        for index in range(start, end):
            hand = order[index]
            whole += reach[hand]
            by_card[cards[hand, 0]] += reach[hand]
            by_card[cards[hand, 1]] += reach[hand]
        for index in range(start, end):
            hand = order[index]
            won[hand] += 0.5 * (whole - by_card[cards[hand, 0]] - by_card[cards[hand, 1]] + reach[hand])
        start = end


@njit()
def _pair_equities(
    hands: npt.NDArray[np.int8], boards: npt.NDArray[np.int8], tables: EvaluatorTables, equities: FloatArray
) -> None:
    """Fills ``equities`` ``[B]`` by enumerating the runouts of each pair of hands, four cards a row."""
    given = boards.shape[1]
    first, second = np.empty(7, np.int8), np.empty(7, np.int8)
    for row in range(len(hands)):
        taken = np.int64(0)
        for k in range(4):
            taken |= np.int64(1) << np.int64(hands[row, k])
        for k in range(given):
            first[k] = second[k] = boards[row, k]
            taken |= np.int64(1) << np.int64(boards[row, k])
        first[5:], second[5:] = hands[row, :2], hands[row, 2:]
        points, runouts = 0, 0
        if given == 5:
            points, runouts = _points(first, second, tables), 1
        for fourth in range(NUM_CARDS if given < 5 else 0):
            if taken >> fourth & 1:
                continue
            first[given] = second[given] = fourth
            if given == 4:
                points += _points(first, second, tables)
                runouts += 1
                continue
            for fifth in range(fourth):
                if not taken >> fifth & 1:
                    first[4] = second[4] = fifth
                    points += _points(first, second, tables)
                    runouts += 1
        equities[row] = 0.5 * points / runouts


@njit(forceinline=True)
def _points(first: npt.NDArray[np.int8], second: npt.NDArray[np.int8], tables: EvaluatorTables) -> int:
    """Returns 2 if the first seven cards win, 1 for a tie, else 0."""
    mine, theirs = strength_of(first, tables), strength_of(second, tables)
    return 2 if mine > theirs else 1 if mine == theirs else 0


def hand_strengths(board: npt.NDArray[np.integer]) -> FloatArray:
    """Returns the chance of each hand to be ahead of a random one on this board, ``[1326]``; ties count one half.

    Before the flop it is the equity against a random hand. Hands that share a card with the board have 0.
    """
    if len(board) == 0:
        return _preflop_strengths()
    strengths = np.zeros(NUM_HANDS)
    _hand_strengths(np.ascontiguousarray(board, dtype=np.int8), HANDS, evaluator_tables(), strengths)
    return strengths


@cache
def _preflop_strengths() -> FloatArray:
    equities = preflop_equities().astype(np.float64)
    strengths = equities.sum(axis=1) / 1225
    strengths.setflags(write=False)
    return np.asarray(strengths)


@njit()
def _hand_strengths(
    board: npt.NDArray[np.int8], cards: npt.NDArray[np.int8], tables: EvaluatorTables, strengths: FloatArray
) -> None:
    order, strength, spare = np.empty(NUM_HANDS, np.int16), np.empty(NUM_HANDS, np.int16), np.empty(NUM_HANDS, np.int16)
    won = np.zeros(NUM_HANDS)
    alive = sort_by_strength(board, cards, tables, order, strength, spare)
    _scan(order[:alive], strength, cards, np.ones(NUM_HANDS), np.zeros(NUM_CARDS), won)
    others = (50 - len(board)) * (49 - len(board)) / 2
    for hand in order[:alive]:
        strengths[hand] = won[hand] / others


class BoardShowdowns:
    """`showdown_rows` on one board of 3 or 4 cards by a matrix, which takes as long to make as five of them.

    The matrix has, for every two hands without a common card, the runouts that the first wins less those it loses.
    """

    def __init__(self, board: npt.NDArray[np.integer]) -> None:
        self._alive = ~blocked_hands(board)
        self._board = np.asarray(board, np.int8)
        self._hands = np.flatnonzero(self._alive)
        runouts = runout_strengths(self._board)[:, self._hands]
        wins = count_wins(runouts)
        cards = HANDS[self._hands]
        apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        self._ahead = (wins - wins.T) * apart

    def rows(self, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Returns what `showdown_rows` does, from reach ``[K, 1326]``."""
        reach = np.ascontiguousarray(reach, dtype=np.float64)
        won, met = np.zeros_like(reach), np.zeros_like(reach)
        _met(reach, self._alive, met)
        ahead = np.zeros((len(reach), len(self._hands)))
        _add_ahead(self._ahead, reach[:, self._hands], ahead)
        won[:, self._hands] = 0.5 * (met[:, self._hands] + ahead / _RUNOUTS[len(self._board)])
        return won, met


def runout_strengths(board: npt.NDArray[np.integer]) -> npt.NDArray[np.int16]:
    """Returns int16 ``[R, 1326]``: strengths on every runout of a board of 3 or 4 cards; -1 for blocked hands."""
    cards = [card for card in range(NUM_CARDS) if card not in board]
    runouts = np.array(list(combinations(cards, 5 - len(board))), np.int8)
    boards = np.concatenate([np.broadcast_to(np.asarray(board, np.int8), (len(runouts), len(board))), runouts], axis=1)
    strengths = np.empty((len(boards), NUM_HANDS), np.int16)
    strengths_on_boards(boards, HANDS, evaluator_tables(), strengths)
    return strengths


@njit()
def strengths_on_boards(
    boards: npt.NDArray[np.int8], hands: npt.NDArray[np.int8], tables: EvaluatorTables, strengths: npt.NDArray[np.int16]
) -> None:
    """Fills `strengths` ``[B, H]`` with strengths on boards ``[B, 5]``."""
    for board in range(len(boards)):
        strengths_on(boards[board], hands, tables, strengths[board])


@njit()
def _add_ahead(ahead: npt.NDArray[np.int16], reach: FloatArray, totals: FloatArray) -> None:
    """Adds to ``totals`` ``[K, H]`` the sum over hands of reach ``[K, H]`` times how far one is ahead of them."""
    for row in range(len(ahead)):
        for k in range(len(reach)):
            weight = reach[k, row]
            if weight != 0.0:
                for column in range(ahead.shape[1]):
                    totals[k, column] -= weight * ahead[row, column]  # who is ahead of whom has two signs


def count_wins(runouts: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Returns int16 [H, H]: on how many of the runouts [R, H] the row's hand beats the column's."""
    rows, columns = (
        np.ascontiguousarray(np.where(runouts < 0, blocked, runouts).T, np.int16)
        for blocked in (-NEVER_BEATEN, NEVER_BEATEN)
    )
    wins = np.empty((len(rows), len(rows)), np.int16)
    _count(rows, columns, wins)
    return wins


@njit()
def _count(rows: npt.NDArray[np.int16], columns: npt.NDArray[np.int16], wins: npt.NDArray[np.int16]) -> None:
    """Counts for every two hands along their runouts, in 16 bits: the loop that processors do 32 steps of at once."""
    hands, num_runouts = rows.shape
    for hand in range(hands):
        own = rows[hand]
        for column in range(hands):
            other = columns[column]
            count = np.int16(0)
            for runout in range(num_runouts):
                count = np.int16(count + np.int16(own[runout] > other[runout]))
            wins[hand, column] = count
