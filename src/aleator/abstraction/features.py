"""What hands on a board are like, as rows of numbers in which similar hands are near each other.

| feature | numbers of a hand | distance |
|---|---|---|
| `equity` | the chance to win against a random hand, over all cards to come (E[HS]) | difference |
| `ochs` | the same against each of eight groups of hands, from the worst to the best | Euclidean |
| `histogram` | how likely each equity is at the showdown, in bins, as the cards to come fall | earth mover's |
| `potential` | how likely each bucket of the next street is | earth mover's |

Algorithm:
    Equities: on every runout hands are sorted by strength; running counts of weaker hands, whole, per card and per
    group, give what each hand beats. All counts are whole numbers, so that hands that are the same up to suits get the
    very same features.
    The earth mover's distance of two histograms over points on a line is the sum over the gaps between points of the
    gap's length times the difference of the cumulated histograms. So rows hold cumulated histograms times gaps, and
    the distance is the sum of absolute differences. Buckets of the next street lie on the line at their mean equity.
    All numbers are whole, in `STEPS` of one, and so few that sums of their differences (of squares, for the Euclidean
    distance) are whole numbers below 2^24, which float32 holds exactly. So no sum is rounded, whatever its order, and
    every processor finds the same nearest centre if centres are whole numbers, too.

Reference: M. Johanson, N. Burch, R. Valenzano, M. Bowling, "Evaluating State-Space Abstractions in Extensive-Form
Games" (AAMAS 2013), section 5 (histograms, OCHS); S. Ganzfried, T. Sandholm, "Potential-Aware Imperfect-Recall
Abstraction with Earth Mover's Distance" (AAAI 2014).
Deviations: groups of opponents are by preflop equity; the ground distance between buckets is that of their mean
equities, which makes the earth mover's distance exact and quick; the paper has a matrix and a heuristic.
Status: tests/abstraction/test_features.py compares with enumeration hand by hand, and with scipy's distance;
`abstraction.board_features` makes the rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.boards import BoardTables, find_board
from aleator.caching import cache
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS
from aleator.games.holdem.equity import hand_strengths, sort_by_strength
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables
from aleator.jit import njit

GROUPS: Final = 8  # of opponents
BINS: Final = 50  # of histograms of equity
STEPS: Final = {"equity": 2**12, "ochs": 2**10, "histogram": 2**22, "potential": 2**22}
"""Into which one is divided, so that the numbers of a feature are whole."""

Counts = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


@cache
def opponent_groups() -> npt.NDArray[np.int8]:
    """Returns the group of each hand, ``[1326]``: eighths of all hands in the order of preflop equity."""
    strengths = hand_strengths(np.zeros(0, np.int8))
    rank = np.searchsorted(np.sort(strengths), strengths, "left")  # hands of one class stay together
    return np.asarray(rank * GROUPS // NUM_HANDS, dtype=np.int8)


def count_runouts(board: npt.NDArray[np.int8], showdown: int) -> tuple[Counts, Counts, Counts]:
    """Returns how the hands on a board fare on all its runouts, against each group of opponents.

    Args:
        board: 3 to 5 cards.
        showdown: cards on the board when hands are compared.

    Returns:
        won: ``[1326, 8]``, twice the opponents beaten and once those tied, summed over runouts.
        met: ``[1326, 8]``, the opponents met, summed over runouts; 0 for hands that share a card with the board.
        bins: ``[1326, 50]``, the runouts by the hand's equity there.
    """
    won, met = np.zeros((2, NUM_HANDS, GROUPS), np.int32)
    bins = np.zeros((NUM_HANDS, BINS), np.int32)
    add_runouts(
        np.ascontiguousarray(board, np.int8), showdown, HANDS, opponent_groups(), evaluator_tables(), won, met, bins
    )
    return won, met, bins


def width_of(feature: str, following: int) -> int:
    """Returns how many numbers a feature has; ``following`` are the buckets of the next street, for `potential`."""
    return {"equity": 1, "ochs": GROUPS, "histogram": BINS - 1}.get(feature, following - 1)


def in_steps(numbers: npt.NDArray[np.floating], feature: str) -> Floats:
    """Returns numbers from 0 to 1 as the nearest whole numbers of a feature's steps."""
    return np.asarray(np.floor(numbers * STEPS[feature] + 0.5), np.float32)


def gaps_between(points: npt.NDArray[np.floating], feature: str) -> npt.NDArray[np.float64]:
    """Returns the gaps between the points of a histogram in steps, ``[P - 1]``."""
    return np.diff(in_steps(points, feature)).astype(np.float64)


@njit()
def add_next_buckets(
    board: npt.NDArray[np.int8],
    table: npt.NDArray[np.uint8],
    place_of: npt.NDArray[np.int32],
    hands: npt.NDArray[np.int8],
    tables: BoardTables,
    counts: npt.NDArray[np.int16],
) -> None:
    """Counts in which bucket each hand is on the next street, by its card, ``[1326, buckets]``.

    Args:
        board: 3 or 4 cards.
        table: the bucket of each hand on boards of the next street.
        place_of: the row of each of these boards in the table.
        hands: all hands.
        tables: of the boards of the next street.
        counts: is added to.
    """
    longer, places = np.empty(len(board) + 1, np.int8), np.empty(4, np.int64)
    longer[: len(board)] = board
    taken = np.zeros(NUM_CARDS, np.bool_)
    for card in board:
        taken[card] = True
    for card in range(NUM_CARDS):
        if taken[card]:
            continue
        taken[card] = True
        longer[len(board)] = card
        row, renaming = find_board(longer, tables, places)
        place = place_of[row]
        for hand in range(NUM_HANDS):
            if not taken[hands[hand, 0]] and not taken[hands[hand, 1]]:
                counts[hand, table[place, tables.hand_maps[renaming, hand]]] += 1
        taken[card] = False


@njit()
def add_runouts(
    board: npt.NDArray[np.int8], showdown: int, hands: npt.NDArray[np.int8], groups: npt.NDArray[np.int8],
    tables: EvaluatorTables, won: Counts, met: Counts, bins: Counts,
) -> None:  # fmt: skip
    """Adds all runouts of a board to what `count_runouts` returns."""
    complete = np.empty(showdown, np.int8)
    complete[: len(board)] = board
    taken = np.zeros(NUM_CARDS, np.bool_)
    for card in board:
        taken[card] = True
    order, strength, spare = np.empty((3, NUM_HANDS), np.int16)
    missing = showdown - len(board)
    for first in range(NUM_CARDS if missing > 0 else 1):
        if missing > 0:
            if taken[first]:
                continue
            complete[len(board)] = first
        for second in range(first if missing > 1 else 1):
            if missing > 1:
                if taken[second]:
                    continue
                complete[len(board) + 1] = second
            alive = sort_by_strength(complete, hands, tables, order, strength, spare)
            _add_runout(order[:alive], strength, hands, groups, won, met, bins)


@njit()
def _add_runout(
    order: npt.NDArray[np.int16], strength: npt.NDArray[np.int16], hands: npt.NDArray[np.int8],
    groups: npt.NDArray[np.int8], won: Counts, met: Counts, bins: Counts,
) -> None:  # fmt: skip
    """Adds one runout; ``order`` has the hands that it leaves, weakest first."""
    whole, by_card = np.zeros(GROUPS, np.int32), np.zeros((NUM_CARDS, GROUPS), np.int32)
    points = np.empty(NUM_HANDS, np.int32)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and strength[order[end]] == strength[order[start]]:
            hand = order[end]
            first, second, sum_ = hands[hand, 0], hands[hand, 1], np.int32(0)
            for group in range(GROUPS):
                weaker = whole[group] - by_card[first, group] - by_card[second, group]
                won[hand, group] += weaker
                sum_ += weaker
            points[hand] = sum_
            end += 1
        for position in range(start, end):
            hand = order[position]
            group = groups[hand]
            whole[group] += 1
            by_card[hands[hand, 0], group] += 1
            by_card[hands[hand, 1], group] += 1
        for position in range(start, end):  # counted twice: weaker hands; counted once: equal ones
            hand = order[position]
            first, second, sum_ = hands[hand, 0], hands[hand, 1], np.int32(0)
            for group in range(GROUPS):
                not_stronger = whole[group] - by_card[first, group] - by_card[second, group]
                won[hand, group] += not_stronger
                sum_ += not_stronger
            own = groups[hand]  # a hand is no opponent of itself, but both of its cards took it out
            won[hand, own] += 1
            points[hand] += sum_ + 1
        start = end
    for position in range(len(order)):
        hand = order[position]
        first, second, others = hands[hand, 0], hands[hand, 1], np.int32(0)
        for group in range(GROUPS):
            opponents = whole[group] - by_card[first, group] - by_card[second, group]
            met[hand, group] += opponents
            others += opponents
        met[hand, groups[hand]] += 1
        others += 1
        bins[hand, min(points[hand] * BINS // (2 * others), BINS - 1)] += 1
