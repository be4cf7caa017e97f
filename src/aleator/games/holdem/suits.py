"""Suit isomorphism: which boards, cards and hands are the same up to renaming suits.

A suit permutation is an index in 0..23; `SUIT_PERMUTATIONS[p, s]` is the suit that suit s becomes, and permutation 0
changes nothing. A group is an ascending int array of permutations closed under composition. When every range is
invariant under a group that fixes the board, so is everything below: one representative of each class of next cards
must be solved, and the values on another member c are those of the representative seen through the permutation p that
maps it to c: `values[c][HAND_MAPS[p]] == values[representative]`, hence, with q the inverse of p,
`values[c] == values[representative][HAND_MAPS[q]]`.

Renaming is sound only street by street: on the turn use the permutations that fix the flop *and* the turn card
(`symmetries([turn], within=symmetries(flop, ...))`), not those that fix the four cards as a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.cards import (
    HANDS,
    NUM_CARDS,
    NUM_HANDS,
    NUM_SUITS,
    CardError,
    blocked_hands,
    check_cards,
    hand_index,
)

NUM_PERMUTATIONS: Final = 24

Cards = Sequence[int] | npt.NDArray[np.integer]


def _suit_permutations() -> npt.NDArray[np.int8]:
    table = np.array(list(permutations(range(NUM_SUITS))), dtype=np.int8)
    table.setflags(write=False)
    return table


def _card_maps() -> npt.NDArray[np.int8]:
    cards = np.arange(NUM_CARDS)
    maps = (cards // NUM_SUITS * NUM_SUITS + SUIT_PERMUTATIONS[:, cards % NUM_SUITS]).astype(np.int8)
    maps.setflags(write=False)
    return maps


def _hand_maps() -> npt.NDArray[np.int16]:
    maps = hand_index(CARD_MAPS[:, HANDS[:, 0]], CARD_MAPS[:, HANDS[:, 1]])
    maps.setflags(write=False)
    return maps


def _inverses() -> npt.NDArray[np.int8]:
    back = np.argsort(SUIT_PERMUTATIONS, axis=1)
    _, inverse = np.nonzero((back[:, None, :] == SUIT_PERMUTATIONS).all(axis=2))
    inverses = inverse.astype(np.int8)
    inverses.setflags(write=False)
    return inverses


SUIT_PERMUTATIONS: Final = _suit_permutations()
"""The image of each suit: int8 `[24, 4]`, in lexicographic order, so 0 is the identity."""

CARD_MAPS: Final = _card_maps()
"""The image of each card: int8 `[24, 52]`."""

HAND_MAPS: Final = _hand_maps()
"""The image of each hand: int16 `[24, 1326]`."""

INVERSES: Final = _inverses()
"""The inverse of each permutation: int8 `[24]`."""

ALL_PERMUTATIONS: Final = np.arange(NUM_PERMUTATIONS, dtype=np.int8)
"""The full group: int8 `[24]`."""
ALL_PERMUTATIONS.setflags(write=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SuitClasses:
    """Which of N objects (cards, hands or boards) are images of each other under a group.

    Attributes:
        representatives: the least object of each class, ascending: int64 `[C]`.
        multiplicities: the number of objects in each class: int64 `[C]`.
        class_of: the class of each object, -1 for those left out: int64 `[N]`.
        permutation_of: the permutation that maps its representative to each object, -1 for those left out (the first
            such one in the group; 0 for the representative itself): int8 `[N]`.
    """

    representatives: npt.NDArray[np.int64]
    multiplicities: npt.NDArray[np.int64]
    class_of: npt.NDArray[np.int64]
    permutation_of: npt.NDArray[np.int8]

    def members(self, index: int) -> npt.NDArray[np.int64]:
        """Returns the objects of class `index`, ascending; the first is the representative."""
        return np.flatnonzero(self.class_of == index)


def symmetries(
    board: Cards,
    *,
    weights: Iterable[npt.NDArray[np.floating]] = (),
    within: npt.NDArray[np.integer] = ALL_PERMUTATIONS,
) -> npt.NDArray[np.int8]:
    """Returns the permutations that leave the board as a set and every hand range unchanged: int8 `[G]`, 0 first.

    Args:
        board: distinct cards, `[K]`, K >= 0.
        weights: hand ranges `[1326]`, compared exactly; weights of hands that the board blocks do not matter.
        within: the group to choose from.

    Raises:
        CardError: the board does not exist, or a hand range is not 1,326 finite weights.
    """
    cards = check_cards(board)
    on_board = np.zeros(NUM_CARDS, dtype=np.bool_)
    on_board[cards] = True
    group = _check_group(within)
    group = group[on_board[CARD_MAPS[group][:, cards]].all(axis=1)]
    free = ~blocked_hands(cards)
    for hand_range in weights:
        hand_range = np.asarray(hand_range)
        if hand_range.shape != (NUM_HANDS,) or not np.isfinite(hand_range).all():
            raise CardError(f"a hand range is 1,326 finite weights, not {hand_range!r}")
        images = hand_range[HAND_MAPS[group]]
        group = group[(images == hand_range)[:, free].all(axis=1)]
    return group


def card_classes(group: npt.NDArray[np.integer], board: Cards = ()) -> SuitClasses:
    """Returns the classes of the cards that can come next; those of `board` are left out.

    Args:
        group: permutations that fix the board as a set, as `symmetries` returns them.
        board: distinct cards, `[K]`, K >= 0.

    Raises:
        CardError: the board does not exist, or the group does not fix it.
    """
    return _classes_without_board(
        _check_group(group), CARD_MAPS, board, np.isin(np.arange(NUM_CARDS), check_cards(board))
    )


def hand_classes(group: npt.NDArray[np.integer] = ALL_PERMUTATIONS, board: Cards = ()) -> SuitClasses:
    """Returns the classes of the 1,326 hands; those that `board` blocks are left out. Without arguments there are 169.

    Args:
        group: permutations that fix the board as a set, as `symmetries` returns them.
        board: distinct cards, `[K]`, K >= 0.

    Raises:
        CardError: the board does not exist, or the group does not fix it.
    """
    return _classes_without_board(_check_group(group), HAND_MAPS, board, blocked_hands(board))


def board_classes(boards: npt.NDArray[np.integer], group: npt.NDArray[np.integer] = ALL_PERMUTATIONS) -> SuitClasses:
    """Returns the classes of boards as sets of cards; the objects are the rows of `boards`.

    Args:
        boards: distinct cards in each row, in any order, `[N, K]`, K in 1..5; with a board, every image of it must be
            there, once.
        group: a group of permutations.

    Raises:
        CardError: `boards` has another shape, a row is not distinct cards, or an image of a row is missing.
    """
    boards = np.asarray(boards)
    if boards.ndim != 2 or not 1 <= boards.shape[1] <= 5 or boards.dtype.kind not in "iu":
        raise CardError(f"boards must be integers [N, 1..5], not {boards.dtype} {list(boards.shape)}")
    ordered = np.sort(boards, axis=1)
    wrong = (ordered[:, 0] < 0) | (ordered[:, -1] >= NUM_CARDS) | (np.diff(ordered, axis=1) == 0).any(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise CardError(f"row {row}, {boards[row].tolist()}, is not a board: cards are distinct ints in 0..51")
    group = _check_group(group)
    codes = _board_codes(boards)
    order = np.argsort(codes, kind="stable")
    images = np.stack([_board_codes(CARD_MAPS[p][boards]) for p in group])
    places = np.minimum(np.searchsorted(codes, images, sorter=order), len(codes) - 1)
    image_rows = order[places]
    if (codes[image_rows] != images).any() or len(np.unique(codes)) != len(codes):
        raise CardError("boards must be distinct and hold every image of each board under the group")
    return _classes(group, image_rows, np.ones(len(boards), dtype=np.bool_))


def _check_group(group: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """Returns the group as int8 after checking that it is one."""
    checked = np.unique(np.asarray(group))
    if checked.dtype.kind not in "iu" or len(checked) == 0 or checked[0] != 0 or checked[-1] >= NUM_PERMUTATIONS:
        raise CardError(f"{np.asarray(group).tolist()} is not a group of suit permutations: ints in 0..23 with 0 in it")
    table = SUIT_PERMUTATIONS[checked]
    products = _codes(table[:, table].reshape(-1, NUM_SUITS), NUM_SUITS)  # every second permutation after a first
    if not np.isin(products, _codes(table, NUM_SUITS)).all():
        raise CardError(f"{checked.tolist()} is not a group of suit permutations: a product of two lies outside")
    return checked.astype(np.int8)


def _codes(rows: npt.NDArray[np.integer], base: int) -> npt.NDArray[np.int64]:
    """Returns one number per row, ordered as the rows are, `[..., K] -> [...]`."""
    powers = base ** np.arange(rows.shape[-1])[::-1]
    return np.asarray(rows.astype(np.int64) @ powers)


def _board_codes(boards: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Returns one number per board, the same for every order of its cards, `[N, K] -> [N]`."""
    return _codes(np.sort(boards, axis=1), NUM_CARDS)


def _classes_without_board(
    group: npt.NDArray[np.int8], maps: npt.NDArray[np.integer], board: Cards, left_out: npt.NDArray[np.bool_]
) -> SuitClasses:
    if len(symmetries(board, within=group)) != len(group):
        raise CardError(f"the permutations {group.tolist()} do not all fix the board: take those of symmetries(board)")
    return _classes(group, maps[group], ~left_out)


def _classes(group: npt.NDArray[np.int8], images: npt.NDArray[np.integer], kept: npt.NDArray[np.bool_]) -> SuitClasses:
    """Returns the classes of the kept objects, given the image of each object under each permutation, `[G, N]`."""
    least = images.min(axis=0)  # the representative of each object's class
    representatives = np.flatnonzero((least == np.arange(len(kept))) & kept)
    class_of = np.where(kept, np.searchsorted(representatives, least), -1)
    reached = images[:, least] == np.arange(
        len(kept)
    )  # [G, N]: which permutations map the representative to the object
    permutation_of = np.where(kept, group[reached.argmax(axis=0)], -1).astype(np.int8)
    multiplicities = np.bincount(class_of[kept], minlength=len(representatives))
    return SuitClasses(
        representatives=representatives, multiplicities=multiplicities, class_of=class_of, permutation_of=permutation_of
    )
