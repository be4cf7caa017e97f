"""Strengths of poker hands of five, six and seven cards.

A strength is a dense rank in 0..7461: the 7,462 classes of five-card poker hands from 7-5-4-3-2 (0) to the royal flush
(7461). Higher is stronger and equal means a tie. A hand of six or seven cards is as strong as its best five.

*Algorithm.* Each card is a 64-bit word and a hand is the sum of its words. A word has three fields: a digit of the
base-5 number that counts the ranks 2..8, a digit of the one that counts 9..A, and a counter of its suit that starts at
3, so that the counter's top bit says "five or more". Without a flush only the rank counts matter. The counts of the six
high ranks choose a row and the counts of the seven low ranks a column of a ragged table: columns are ordered by how
many cards they hold, hence the columns that complete a row to five, six or seven cards are neighbours, and
`strength[row[high] + column[low]]` has exactly one cell for each of the 73,775 multisets of ranks. With a flush, 8,192
more cells are looked up by the 13-bit mask of the suit's ranks. (Seven cards cannot hold both a flush and quads or a
full house.)
*Reference.* None; the layout is our own.
*Deviations.* None.
*Status.* Agrees with phevaluator on all five-card hands and a million of seven (tests/games/holdem/test_evaluator.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_RANKS, NUM_SUITS, CardError, check_cards, format_cards
from aleator.jit import njit

NUM_STRENGTHS: Final = 7462

_MIN_CARDS: Final = 5
_MAX_CARDS: Final = 7
_LOW_RANKS: Final = 7  # ranks 2..8 count in the column, 9..A in the row
_HIGH_RANKS: Final = NUM_RANKS - _LOW_RANKS

COLUMN_MASK: Final = (1 << 17) - 1  # bits 0..16 of a word hold the column's number, at most 4 * 5**6 + 3 * 5**5
ROW_SHIFT: Final = 17
ROW_MASK: Final = (1 << 14) - 1  # bits 17..30 the row's
SUIT_SHIFT: Final = 32  # bits 32..47 four counters of four bits
NO_CARDS: Final = 0x3333 << SUIT_SHIFT  # the sum of no cards: counters begin at 3
FLUSH_BITS: Final = 0x8888 << SUIT_SHIFT
_RANK_MASK: Final = (1 << NUM_RANKS) - 1
FLUSH_CELL: Final = 73_775  # cells without a flush come first


class Category(IntEnum):
    """The nine kinds of poker hand, weakest first; a royal flush is a straight flush."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8

    @property
    def label(self) -> str:
        """The English name, such as `"two pair"`."""
        return self.name.lower().replace("_", " ")


CATEGORY_STARTS: Final = (0, 1277, 4137, 4995, 5853, 5863, 7140, 7296, 7452)
"""The weakest strength of each category."""

_LAST_OF_CATEGORY: Final = np.array([*CATEGORY_STARTS[1:], NUM_STRENGTHS]) - 1


class EvaluatorTables(NamedTuple):
    """The tables of the evaluator (about 380 kB), an argument of the compiled functions."""

    words: npt.NDArray[np.int64]  # [256] by card; zero from 52 on
    row: npt.NDArray[np.int32]  # [5**6] by the base-5 number that counts the ranks 9..A
    column: npt.NDArray[np.int16]  # [5**7] by the base-5 number that counts the ranks 2..8
    strength: npt.NDArray[
        np.int16
    ]  # [73775 + 8192] by row + column, then by the ranks of a flush (-1: fewer than five)


@cache
def evaluator_tables() -> EvaluatorTables:
    """Returns the tables, built by the first call (in some 50 ms) and always the same."""
    row, column, counts = _cells()
    assert len(counts) == FLUSH_CELL
    masks = np.arange(1 << NUM_RANKS)
    keys = np.concatenate([_rank_keys(counts), np.where(_mask_sizes() >= _MIN_CARDS, _flush_keys(masks), -1)])
    classes = np.unique(keys)  # -1 first
    assert len(classes) == NUM_STRENGTHS + 1
    strength = (np.searchsorted(classes, keys) - 1).astype(np.int16)
    return EvaluatorTables(words=_card_words(), row=row, column=column, strength=strength)


def _card_words() -> npt.NDArray[np.int64]:
    """Returns the word of each card: int64 `[256]`."""
    words = np.zeros(256, dtype=np.int64)
    for card in range(NUM_CARDS):
        rank, suit = divmod(card, NUM_SUITS)
        digit = 5**rank if rank < _LOW_RANKS else 5 ** (rank - _LOW_RANKS) << ROW_SHIFT
        words[card] = digit + (1 << (SUIT_SHIFT + 4 * suit))
    return words


def _base5_digits(width: int) -> npt.NDArray[np.int64]:
    """Returns the digits of the numbers below `5**width`, lowest digit first: `[5**width, width]`."""
    return np.arange(5**width)[:, None] // 5 ** np.arange(width) % 5


def _cells() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16], npt.NDArray[np.int64]]:
    """Returns the row starts `[5**6]`, the column offsets `[5**7]` and each cell's counts of ranks `[73775, 13]`."""
    low, high = _base5_digits(_LOW_RANKS), _base5_digits(_HIGH_RANKS)
    low_size, high_size = low.sum(axis=1), high.sum(axis=1)
    columns = np.argsort(low_size, kind="stable")[: np.count_nonzero(low_size <= _MAX_CARDS)]
    rows = np.flatnonzero(high_size <= _MAX_CARDS)

    starts = np.searchsorted(low_size[columns], np.arange(_MAX_CARDS + 2))  # first column of each size
    first = starts[np.maximum(_MIN_CARDS - high_size[rows], 0)]
    width = starts[_MAX_CARDS + 1 - high_size[rows]] - first
    origin = np.cumsum(width) - width - first  # cell of column 0, were it in the row

    row = np.zeros(len(high), dtype=np.int32)
    row[rows] = origin
    column = np.zeros(len(low), dtype=np.int16)
    column[columns] = np.arange(len(columns))
    cell_rows = np.repeat(rows, width)
    cell_columns = columns[np.arange(width.sum()) - np.repeat(origin, width)]
    return row, column, np.concatenate([low[cell_columns], high[cell_rows]], axis=1)


@cache
def _strongest_ranks(number: int) -> npt.NDArray[np.int64]:
    """Returns each mask of ranks with only its `number` highest bits kept: `[8192]`."""
    size = _mask_sizes()
    masks = np.arange(1 << NUM_RANKS)
    while (size[masks] > number).any():
        masks = np.where(size[masks] > number, masks & (masks - 1), masks)
    return masks


@cache
def _mask_sizes() -> npt.NDArray[np.int64]:
    """Returns the number of bits of each mask of ranks: `[8192]`."""
    bits = np.arange(1 << NUM_RANKS)[:, None] >> np.arange(NUM_RANKS) & 1
    return np.asarray(bits.sum(axis=1))


def _straights(masks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the bit of the highest card of the best straight in each mask of ranks, 0 where there is none."""
    with_low_ace = masks << 1 | masks >> (NUM_RANKS - 1)
    runs = with_low_ace.copy()
    for length in range(1, 5):
        runs &= with_low_ace >> length  # bit i: ranks i-1 .. i-1+length
    highest: npt.NDArray[np.int64] = _strongest_ranks(1)[runs << 3]
    return highest


def _key(
    category: Category, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64] | int = 0
) -> npt.NDArray[np.int64]:
    """Returns numbers ordered as hands are: by category, then by two masks of ranks.

    Masks with equally many bits compare as their ranks do, from the highest down.
    """
    return np.asarray(int(category) << 2 * NUM_RANKS | first << NUM_RANKS | second)


def _rank_keys(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the keys of hands without a flush from their counts of each rank, `[M, 13] -> [M]`."""
    ranks, pairs, trips, quads = ((counts >= least) @ (1 << np.arange(NUM_RANKS)) for least in (1, 2, 3, 4))
    best = {number: _strongest_ranks(number) for number in range(1, 6)}
    quad, trip, pair, two_pair = best[1][quads], best[1][trips], best[1][pairs], best[2][pairs]
    other_pair = best[1][pairs & ~trip]
    straight = _straights(ranks)
    return np.select(
        [quad > 0, (trip > 0) & (other_pair > 0), straight > 0, trip > 0, two_pair != pair, pair > 0],
        [
            _key(Category.FOUR_OF_A_KIND, quad, best[1][ranks & ~quad]),
            _key(Category.FULL_HOUSE, trip, other_pair),
            _key(Category.STRAIGHT, straight),
            _key(Category.THREE_OF_A_KIND, trip, best[2][ranks & ~trip]),
            _key(Category.TWO_PAIR, two_pair, best[1][ranks & ~two_pair]),
            _key(Category.PAIR, pair, best[3][ranks & ~pair]),
        ],
        _key(Category.HIGH_CARD, best[5][ranks]),
    )


def _flush_keys(masks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the keys of the flushes with these ranks, `[M] -> [M]`."""
    straight = _straights(masks)
    return np.where(
        straight > 0, _key(Category.STRAIGHT_FLUSH, straight), _key(Category.FLUSH, _strongest_ranks(5)[masks])
    )


@njit(forceinline=True)
def _strength_of_sum(word_sum: np.int64, card_set: np.int64, tables: EvaluatorTables) -> np.int16:
    """Returns the strength of a hand from the sum of its words and its set of cards (bit c: card c)."""
    flush = (word_sum & FLUSH_BITS) >> (SUIT_SHIFT + 3)
    if flush == 0:
        high = np.uint64((word_sum >> ROW_SHIFT) & ROW_MASK)
        low = np.uint64(word_sum & COLUMN_MASK)
        cell = np.int64(tables.row[high]) + tables.column[low]
    else:
        suit = (flush >> 4 & 1) + 2 * (flush >> 8 & 1) + 3 * (flush >> 12)  # flush is one of 1, 16, 256, 4096
        ranks = (card_set >> suit) & 0x1111111111111  # every fourth bit, drawn together in four steps
        ranks = (ranks | ranks >> 3) & 0x0303030303030303
        ranks = (ranks | ranks >> 6) & 0x000F000F000F000F
        ranks = (ranks | ranks >> 12) & 0x000000FF000000FF
        cell = FLUSH_CELL + ((ranks | ranks >> 24) & _RANK_MASK)
    strength: np.int16 = tables.strength[np.uint64(cell)]
    return strength


@njit(forceinline=True)
def strength_of(cards: npt.NDArray[np.int8], tables: EvaluatorTables) -> np.int16:
    """Returns the strength of one hand, for use in compiled code.

    Args:
        cards: `[K]`, K in 5..7, distinct and in 0..51; nothing is checked.
        tables: `evaluator_tables()`.
    """
    word_sum, card_set = np.int64(NO_CARDS), np.int64(0)
    for k in range(len(cards)):
        word_sum += tables.words[np.uint8(cards[k])]
        card_set |= 1 << np.int64(cards[k])
    return _strength_of_sum(word_sum, card_set, tables)


@njit()
def _evaluate(cards: npt.NDArray[np.int8], tables: EvaluatorTables, strengths: npt.NDArray[np.int32]) -> int:
    """Fills `strengths` and returns -1, or returns the first row that is not distinct cards."""
    for i in range(cards.shape[0]):
        word_sum, card_set = np.int64(NO_CARDS), np.int64(0)
        wrong = np.int64(0)  # not 0 when a card comes twice or is above 63
        for k in range(cards.shape[1]):
            card = np.int64(np.uint8(cards[i, k]))
            word_sum += tables.words[np.uint8(card)]
            bit = 1 << (card & 63)
            wrong |= card_set & bit | card >> 6
            card_set |= bit
        if (wrong | card_set >> NUM_CARDS) != 0:
            return i
        strengths[i] = _strength_of_sum(word_sum, card_set, tables)
    return -1


def evaluate(cards: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Returns the strength of each hand, int32 `[N]` in 0..7461.

    Args:
        cards: integers `[N, K]`, K in 5..7: one hand of K distinct cards per row, in any order. int8 is fastest.

    Raises:
        CardError: the shape is wrong, or a row is not K distinct cards.
    """
    cards = np.asarray(cards)
    if cards.ndim != 2 or not _MIN_CARDS <= cards.shape[1] <= _MAX_CARDS or cards.dtype.kind not in "iu":
        raise CardError(f"hands must be integers [N, 5..7], not {cards.dtype} {list(cards.shape)}")
    narrow = _read_only(cards)
    strengths = np.empty(len(cards), dtype=np.int32)
    if cards.dtype.itemsize == 1 or np.array_equal(narrow, cards):
        row = _evaluate(narrow, evaluator_tables(), strengths)
    else:
        row = int(np.flatnonzero((narrow != cards).any(axis=1))[0])
    if row >= 0:
        raise CardError(f"row {row}, {cards[row].tolist()}, is not a hand: cards are distinct ints in 0..51")
    return strengths


@njit()
def strengths_on(
    board: npt.NDArray[np.int8], hands: npt.NDArray[np.int8], tables: EvaluatorTables, strengths: npt.NDArray[np.int16]
) -> None:
    """Fills `strengths` with the strength of each hand on the board, or -1."""
    board_sum, board_set = np.int64(NO_CARDS), np.int64(0)
    for card in board:
        board_sum += tables.words[np.uint8(card)]
        board_set |= 1 << np.int64(card)
    for i in range(hands.shape[0]):
        first, second = np.int64(hands[i, 0]), np.int64(hands[i, 1])
        hand_set = 1 << first | 1 << second
        if board_set & hand_set != 0:
            strengths[i] = -1
        else:
            word_sum = board_sum + tables.words[np.uint8(first)] + tables.words[np.uint8(second)]
            strengths[i] = _strength_of_sum(word_sum, board_set | hand_set, tables)


def strengths(
    board: Sequence[int] | npt.NDArray[np.integer], hands: npt.NDArray[np.integer] = HANDS
) -> npt.NDArray[np.int16]:
    """Returns the strength of each hand together with the board, int16 `[H]`, -1 for hands that the board blocks.

    Args:
        board: three to five distinct cards.
        hands: two distinct cards each, `[H, 2]`; all 1,326 hands unless given.

    Raises:
        CardError: the board or a hand does not exist.
    """
    checked = check_cards(board)
    if not 3 <= len(checked) <= 5:
        raise CardError(f"board {format_cards(checked)!r} has {len(checked)} cards; 3 to 5 are allowed")
    two_cards = HANDS if hands is HANDS else _checked_hands(hands)
    result = np.empty(len(two_cards), dtype=np.int16)
    strengths_on(checked, two_cards, evaluator_tables(), result)
    return result


def _checked_hands(hands: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    hands = np.asarray(hands)
    if hands.ndim != 2 or hands.shape[1] != 2 or hands.dtype.kind not in "iu":
        raise CardError(f"hands must be integers [H, 2], not {hands.dtype} {list(hands.shape)}")
    wrong = ((hands < 0) | (hands >= NUM_CARDS)).any(axis=1) | (hands[:, 0] == hands[:, 1])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise CardError(f"row {row}, {hands[row].tolist()}, is not a hand: two distinct ints in 0..51")
    return _read_only(hands)


def _read_only(cards: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """Returns a contiguous read-only int8 view or copy, so that each kernel is compiled for one kind of array."""
    view = np.ascontiguousarray(cards, dtype=np.int8).view()
    view.setflags(write=False)
    return view


def category(strength: int) -> Category:
    """Returns the kind of hand that has this strength; its `label` is the English name.

    Raises:
        ValueError: `strength` is not in 0..7461.
    """
    if not 0 <= strength < NUM_STRENGTHS:
        raise ValueError(f"{strength} is not a strength: a strength is an int in 0..7461")
    return Category(int(np.searchsorted(_LAST_OF_CATEGORY, strength)))


def categories(strengths: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """Returns the `Category` value of each strength, int8 of the same shape; -1 stays -1."""
    return np.where(strengths < 0, -1, np.searchsorted(_LAST_OF_CATEGORY, strengths)).astype(np.int8)
