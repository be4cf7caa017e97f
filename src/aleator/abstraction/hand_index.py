"""Numbers of hands and boards up to suits: cards that differ by a renaming of suits only have one number.

Cards come in rounds: two of one's own, then three, one and one on the board. Inside a round their order does not
matter. `HandIndexer((2, 3, 1, 1))` numbers rivers whose turn card is known as such, 2,428,287,420 of them;
`HandIndexer((2, 5))` rivers whose board is a set, 123,156,254; `HandIndexer((5,))` boards alone, 134,459.

Algorithm:
    A suit is described by its set of ranks in every round. Its *shape* is how many cards it has in each round. Given
    the shape, the sets are numbered round by round: each is one of the subsets of the ranks that earlier rounds have
    left, in colexicographic order. Suits are sorted by shape, then by number. The sorted shapes are a *configuration*;
    each has a range of numbers. Inside it the suits of equal shape are a multiset of numbers, which is numbered in
    colexicographic order, too, and different shapes are digits.

Reference: K. Waugh, "A Fast and Optimal Hand Isomorphism Algorithm" (AAAI 2013 workshop on computer poker), sections
3 to 5.
Deviations: configurations are found by a table over the shapes of three sorted suits, the fourth follows from them.
Status: tests/abstraction/test_hand_index.py has the published counts, the bijection and a ten-line reference.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations_with_replacement, groupby
from math import comb, prod
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.games.holdem.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, CardError
from aleator.jit import kernel

IntArray = npt.NDArray[np.int64]

_MOST_CARDS: Final = 7
_MOST_ROUNDS: Final = 4
_SHAPE_SHIFT: Final = 40  # a suit is one word: its shape, its number in bits 2..39, the suit itself in bits 0..1
_NUMBER_MASK: Final = (1 << 38) - 1


class IndexTables(NamedTuple):
    """What an indexer looks up, an argument of the compiled functions; S shapes, C configurations, R rounds."""

    first_card: IntArray  # [R + 1] where each round begins in a row of cards
    radix: IntArray  # [R] what a card of each round adds to the number of its suit's shape
    choose: IntArray  # [14, 8] binomial coefficients
    subsets: npt.NDArray[np.int16]  # [8, 1716] the nth set, in colexicographic order, of 0 to 7 ranks, as a mask
    counts: IntArray  # [S, R] cards of each round in a suit of a shape
    sizes: IntArray  # [S] how many suits have a shape
    configuration: npt.NDArray[np.int32]  # [S, S, S] by the shapes of the three first sorted suits; -1: there is none
    shapes: IntArray  # [C, 4] sorted shapes of a configuration, largest first
    offsets: IntArray  # [C + 1] the first number of each configuration


class HandIndexer:
    """Numbers hands whose cards come in rounds.

    Args:
        rounds: how many cards each round has; at most four rounds and seven cards.

    Raises:
        CardError: the rounds make no hand.
    """

    def __init__(self, rounds: tuple[int, ...]) -> None:
        if not 1 <= len(rounds) <= _MOST_ROUNDS or min(rounds) < 1 or sum(rounds) > _MOST_CARDS:
            raise CardError(
                f"rounds must be 1 to {_MOST_ROUNDS} counts of up to {_MOST_CARDS} cards in all, not {rounds}"
            )
        self.rounds, self.num_cards = rounds, sum(rounds)

    @cached_property
    def tables(self) -> IndexTables:
        """What the compiled functions look up."""
        return _tables(self.rounds)

    def __len__(self) -> int:
        """The number of different hands; indices are below it."""
        return int(self.tables.offsets[-1])

    def index(self, cards: npt.NDArray[np.integer]) -> IntArray:
        """Returns the number of each hand, ``[N]``.

        Args:
            cards: ``[N, K]``, a hand of K different cards per row, round after round.

        Raises:
            CardError: a row is not such a hand.
        """
        hands = self._checked(cards)
        numbers = np.empty(len(hands), np.int64)
        wrong = _index_rows(hands, self.tables, np.empty(NUM_SUITS, np.int64), numbers)
        if wrong >= 0:
            raise CardError(f"row {wrong}, {cards[wrong].tolist()}, is not a hand: cards are different ints in 0..51")
        return numbers

    def unindex(self, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
        """Returns one hand of each number, int8 ``[N, K]``: in each round suit by suit, ranks ascending.

        Raises:
            CardError: a number is not below the number of hands.
        """
        wanted: IntArray = np.ascontiguousarray(numbers, dtype=np.int64)
        outside = (wanted < 0) | (wanted >= len(self))
        if outside.any():
            raise CardError(f"{int(wanted[outside][0])} is not the number of a hand: there are {len(self):,}")
        cards = np.empty((len(wanted), self.num_cards), np.int8)
        _unindex_rows(wanted, self.tables, np.empty(NUM_SUITS, np.int64), cards)
        return cards

    def _checked(self, cards: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
        cards = np.asarray(cards)
        if cards.ndim != 2 or cards.shape[1] != self.num_cards or cards.dtype.kind not in "iu":
            raise CardError(f"hands must be integers [N, {self.num_cards}], not {cards.dtype} {list(cards.shape)}")
        outside = ((cards < 0) | (cards >= NUM_CARDS)).any(axis=1)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise CardError(f"row {row}, {cards[row].tolist()}, is not a hand: cards are different ints in 0..51")
        return np.ascontiguousarray(cards, dtype=np.int8)


@cache
def _tables(rounds: tuple[int, ...]) -> IndexTables:
    widths = np.array([count + 1 for count in rounds])
    radix = np.concatenate([[1], np.cumprod(widths)[:-1]])
    num_shapes = int(widths.prod())
    counts = np.arange(num_shapes)[:, None] // radix % widths
    sizes = [prod(_subsets(row)) for row in counts.tolist()]
    configuration = np.full((num_shapes,) * 3, -1, np.int32)
    shapes: list[tuple[int, ...]] = []
    offsets = [0]
    for ascending in combinations_with_replacement(range(num_shapes), NUM_SUITS):
        chosen = ascending[::-1]
        if tuple(counts[list(chosen)].sum(axis=0)) == rounds and all(sizes[shape] for shape in chosen):
            configuration[chosen[:3]] = len(shapes)
            shapes.append(chosen)
            groups = [(shape, len(list(same))) for shape, same in groupby(chosen)]
            offsets.append(offsets[-1] + prod(comb(sizes[shape] + many - 1, many) for shape, many in groups))
    return IndexTables(
        first_card=np.concatenate([[0], np.cumsum(rounds)]).astype(np.int64),
        radix=radix.astype(np.int64),
        choose=np.array([[comb(n, k) for k in range(_MOST_CARDS + 1)] for n in range(NUM_RANKS + 1)], np.int64),
        subsets=_subset_masks(),
        counts=counts.astype(np.int64),
        sizes=np.array(sizes, np.int64),
        configuration=configuration,
        shapes=np.array(shapes, np.int64),
        offsets=np.array(offsets, np.int64),
    )


@cache
def _subset_masks() -> npt.NDArray[np.int16]:
    masks = np.zeros((_MOST_CARDS + 1, comb(NUM_RANKS, _MOST_CARDS)), np.int16)
    ascending = np.arange(1 << NUM_RANKS)  # in colexicographic order, whatever their sizes
    sizes = (ascending[:, None] >> np.arange(NUM_RANKS) & 1).sum(axis=1)
    for count in range(_MOST_CARDS + 1):
        chosen = ascending[sizes == count]
        masks[count, : len(chosen)] = chosen
    return masks


def _subsets(counts: list[int]) -> list[int]:
    """Returns how many sets of ranks each round of a suit can choose from; 0 where there are not enough ranks."""
    return [comb(max(NUM_RANKS - sum(counts[:group]), 0), count) for group, count in enumerate(counts)]


@kernel()
def index_hand(cards: npt.NDArray[np.int8], tables: IndexTables, places: npt.NDArray[np.int64]) -> int:
    """Returns the number of one hand; nothing is checked.

    Args:
        cards: ``[K]``, round after round.
        tables: of the indexer.
        places: ``[4]``, is filled with the place of each suit among the sorted ones: card ``4 * rank + suit`` is
            ``4 * rank + places[suit]`` in the hand that `HandIndexer.unindex` gives.
    """
    choose = tables.choose
    used0, used1, used2, used3 = 0, 0, 0, 0  # ranks of earlier rounds by suit
    word0, word1, word2, word3 = 0, 1, 2, 3
    scale0, scale1, scale2, scale3 = 1, 1, 1, 1
    for group in range(len(tables.radix)):
        now0, now1, now2, now3 = 0, 0, 0, 0
        for k in range(tables.first_card[group], tables.first_card[group + 1]):
            card = int(cards[k])
            bit, suit = 1 << (card >> 2), card & 3
            if suit == 0:
                now0 |= bit
            elif suit == 1:
                now1 |= bit
            elif suit == 2:
                now2 |= bit
            else:
                now3 |= bit
        shape = tables.radix[group] << _SHAPE_SHIFT
        if now0:
            word0, scale0 = _add_round(word0, scale0, now0, used0, shape, choose)
        if now1:
            word1, scale1 = _add_round(word1, scale1, now1, used1, shape, choose)
        if now2:
            word2, scale2 = _add_round(word2, scale2, now2, used2, shape, choose)
        if now3:
            word3, scale3 = _add_round(word3, scale3, now3, used3, shape, choose)
        used0, used1, used2, used3 = used0 | now0, used1 | now1, used2 | now2, used3 | now3
    if word0 < word1:
        word0, word1 = word1, word0
    if word2 < word3:
        word2, word3 = word3, word2
    if word0 < word2:
        word0, word2 = word2, word0
    if word1 < word3:
        word1, word3 = word3, word1
    if word1 < word2:
        word1, word2 = word2, word1
    places[word0 & 3], places[word1 & 3], places[word2 & 3], places[word3 & 3] = 0, 1, 2, 3
    shape0, shape1, shape2 = word0 >> _SHAPE_SHIFT, word1 >> _SHAPE_SHIFT, word2 >> _SHAPE_SHIFT
    shape3 = word3 >> _SHAPE_SHIFT
    configuration = tables.configuration[shape0, shape1, shape2]
    a, b, c, d = _number(word0), _number(word1), _number(word2), _number(word3)
    sizes = tables.sizes
    if shape0 == shape1:
        if shape1 == shape2:
            if shape2 == shape3:
                inside = _four(a) + _three(b) + _two(c) + d
            else:
                inside = _three(a) + _two(b) + c + d * _three(sizes[shape0])
        else:
            inside = _two(a) + b
            if shape2 == shape3:
                inside += (_two(c) + d) * _two(sizes[shape0])
            else:
                inside += (c + d * sizes[shape2]) * _two(sizes[shape0])
    elif shape1 == shape2:
        if shape2 == shape3:
            inside = a + (_three(b) + _two(c) + d) * sizes[shape0]
        else:
            inside = a + (_two(b) + c + d * _two(sizes[shape1])) * sizes[shape0]
    elif shape2 == shape3:
        inside = a + (b + (_two(c) + d) * sizes[shape1]) * sizes[shape0]
    else:
        inside = a + (b + (c + d * sizes[shape2]) * sizes[shape1]) * sizes[shape0]
    return int(tables.offsets[configuration] + inside)


@kernel(forceinline=True)
def _add_round(word: int, scale: int, now: int, used: int, shape: int, choose: IntArray) -> tuple[int, int]:
    """Returns the word of a suit after a round with the ranks ``now``, and what the number of the next counts for."""
    subset, many, left = 0, 0, now
    while left:
        lowest = left & -left
        rank = _count_bits((lowest - 1) & ~used)
        many += 1
        subset += choose[rank, many]
        left ^= lowest
    return word + many * shape + ((subset * scale) << 2), scale * choose[NUM_RANKS - _count_bits(used), many]


@kernel(forceinline=True)
def _count_bits(mask: int) -> int:
    mask = mask - ((mask >> 1) & 0x5555)
    mask = (mask & 0x3333) + ((mask >> 2) & 0x3333)
    mask = (mask + (mask >> 4)) & 0x0F0F
    return (mask + (mask >> 8)) & 0x1F


@kernel(forceinline=True)
def _number(word: int) -> int:
    return (word >> 2) & _NUMBER_MASK


@kernel(forceinline=True)
def _two(n: int) -> int:
    """Returns how many multisets of two numbers there are below n."""
    return n * (n + 1) // 2


@kernel(forceinline=True)
def _three(n: int) -> int:
    return n * (n + 1) * (n + 2) // 6


@kernel(forceinline=True)
def _four(n: int) -> int:
    return n * (n + 1) * (n + 2) * (n + 3) // 24


@kernel(forceinline=True)
def _multisets(n: int, many: int) -> int:
    if many == 1:
        return n
    if many == 2:
        return _two(n)
    return _three(n) if many == 3 else _four(n)


@kernel()
def _index_rows(hands: npt.NDArray[np.int8], tables: IndexTables, places: IntArray, numbers: IntArray) -> int:
    """Fills ``numbers`` and returns -1, or returns the first row in which a card comes twice."""
    for row in range(len(hands)):
        seen = np.int64(0)
        for k in range(hands.shape[1]):
            bit = np.int64(1) << np.int64(hands[row, k])
            if seen & bit:
                return row
            seen |= bit
        numbers[row] = index_hand(hands[row], tables, places)
    return -1


@kernel()
def _unindex_rows(numbers: IntArray, tables: IndexTables, of_suits: IntArray, cards: npt.NDArray[np.int8]) -> None:
    for row in range(len(numbers)):
        unindex_hand(numbers[row], tables, of_suits, cards[row])


@kernel()
def unindex_hand(number: int, tables: IndexTables, of_suits: IntArray, cards: npt.NDArray[np.int8]) -> None:
    """Fills ``cards`` ``[K]`` with the hand of a number; ``of_suits`` is working memory ``[4]``."""
    low, high = 0, len(tables.offsets) - 1
    while low < high - 1:  # the last configuration that does not begin after the number
        middle = (low + high) // 2
        if tables.offsets[middle] <= number:
            low = middle
        else:
            high = middle
    shapes, inside = tables.shapes[low], number - tables.offsets[low]
    cards[:] = -1
    first = 0
    while first < NUM_SUITS:
        end = first + 1
        while end < NUM_SUITS and shapes[end] == shapes[first]:
            end += 1
        many = end - first
        size = _multisets(tables.sizes[shapes[first]], many)
        digit = inside % size
        inside //= size
        for suit in range(first, end):  # the largest number first
            of_suits[suit] = _largest(digit, many, tables.sizes[shapes[first]])
            digit -= _multisets(of_suits[suit], many)
            many -= 1
        first = end
    for suit in range(NUM_SUITS):
        _suit_cards(suit, shapes[suit], of_suits[suit], tables, cards)


@kernel(forceinline=True)
def _largest(digit: int, many: int, size: int) -> int:
    """Returns the largest n below size with `_multisets(n, many)` at most ``digit``."""
    if many == 1:
        return digit
    if many == 2:
        n = int(np.sqrt(2.0 * digit))  # the answer, or one more
        return n - 1 if _two(n) > digit else n
    low, high = 0, size
    while low < high - 1:
        middle = (low + high) // 2
        if _multisets(middle, many) <= digit:
            low = middle
        else:
            high = middle
    return low


@kernel(forceinline=True)
def _suit_cards(suit: int, shape: int, number: int, tables: IndexTables, cards: npt.NDArray[np.int8]) -> None:
    """Writes the cards of a suit to the first free places, -1, of each round."""
    used = 0
    for group in range(len(tables.radix)):
        count, at = tables.counts[shape, group], tables.first_card[group]
        if count == 0:
            continue
        sets = tables.choose[NUM_RANKS - _count_bits(used), count]
        following = number // sets
        ranks = int(tables.subsets[count, number - following * sets])
        number, left = following, used
        while left:  # the set counts free ranks: make room for the others
            below = (left & -left) - 1
            ranks = (ranks & below) | ((ranks & ~below) << 1)
            left &= left - 1
        used |= ranks
        while cards[at] >= 0:
            at += 1
        while ranks:
            cards[at] = NUM_SUITS * _count_bits((ranks & -ranks) - 1) + suit
            ranks &= ranks - 1
            at += 1
