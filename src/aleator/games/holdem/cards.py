"""Cards and the 1,326 two-card hands of hold'em.

A card is an int `4 * rank + suit` in 0..51: ranks `23456789TJQKA` are 0..12, suits `cdhs` are 0..3.

A hand is an index in 0..1325: two cards, `high > low`, are hand `high * (high - 1) / 2 + low`. So the order is
2d2c, 2h2c, 2h2d, 2s2c, ... AsAh, and the hands made of the cards below `c` come before all others.

A hand class is an index in 0..168, the cell `13 * row + column` of the grid that players draw: rows and columns run
from aces down to twos, pairs lie on the diagonal, suited classes above it (AKs is row 0, column 1), offsuit ones below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError, shown

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
NUM_RANKS: Final = 13
NUM_SUITS: Final = 4
NUM_CARDS: Final = 52
NUM_HANDS: Final = 1326
NUM_HAND_CLASSES: Final = 169
WHOLE_DECK: Final = tuple(range(NUM_CARDS))


class CardError(AleatorError):
    """A card, a board or a hand that does not exist; the message names the token and what is allowed."""


def parse_card(text: str) -> int:
    """Returns the card that `text` names, such as `"As"` or `"td"`; upper and lower case mean the same.

    Raises:
        CardError: `text` is not a rank of `23456789TJQKA` followed by a suit of `cdhs`.
    """
    if len(text) != 2:
        raise CardError(f"{shown(text)} is not a card: write a rank of {RANKS} and a suit of {SUITS}, like As")
    rank, suit = text[0].upper(), text[1].lower()
    if rank not in RANKS:
        raise CardError(f"unknown rank {text[0]!r} in card {text!r}: a rank is one of {RANKS}")
    if suit not in SUITS:
        raise CardError(f"unknown suit {text[1]!r} in card {text!r}: a suit is one of {SUITS}")
    return NUM_SUITS * RANKS.index(rank) + SUITS.index(suit)


def parse_cards(text: str) -> tuple[int, ...]:
    """Returns the cards that `text` names, in its order: `"As Kh"`, `"AsKh"` and `"As,Kh"` are the same.

    Blank text gives no cards.

    Raises:
        CardError: a token is not a card, or a card comes twice.
    """
    cards: list[int] = []
    for word in text.replace(",", " ").split():
        for token in (word[i : i + 2] for i in range(0, len(word), 2)):
            card = parse_card(token)
            if card in cards:
                raise CardError(f"card {token!r} comes twice in {shown(text)}: a deck holds each card once")
            cards.append(card)
    return tuple(cards)


def format_card(card: int) -> str:
    """Returns the name of a card, such as `"As"`.

    Raises:
        CardError: `card` is not in 0..51.
    """
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"{card!r} is not a card: a card is an int in 0..51")
    return RANKS[card // NUM_SUITS] + SUITS[card % NUM_SUITS]


def format_cards(cards: Iterable[int], separator: str = " ") -> str:
    """Returns the names of `cards` in their order, such as `"As Kh"`."""
    return separator.join(format_card(int(card)) for card in cards)


def check_cards(cards: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """Returns `cards` as int8 `[K]` after checking that they are cards and that none comes twice.

    Raises:
        CardError: a value is not in 0..51, or a card comes twice.
    """
    checked: list[int] = []
    for card in cards:
        name = format_card(int(card))
        if int(card) in checked:
            raise CardError(f"card {name} comes twice in {format_cards(cards)}: a deck holds each card once")
        checked.append(int(card))
    return np.array(checked, dtype=np.int8)


def _all_hands() -> npt.NDArray[np.int8]:
    high, low = np.tril_indices(NUM_CARDS, k=-1)
    hands = np.stack([high, low], axis=1).astype(np.int8)
    hands.setflags(write=False)
    return hands


def _masks_of_hands() -> npt.NDArray[np.uint64]:
    masks: npt.NDArray[np.uint64] = np.bitwise_or(*(np.uint64(1) << HANDS.astype(np.uint64).T))
    masks.setflags(write=False)
    return masks


def _classes_of_hands() -> npt.NDArray[np.int16]:
    high_card, low_card = HANDS[:, 0].astype(np.int16), HANDS[:, 1].astype(np.int16)
    high = NUM_RANKS - 1 - high_card // NUM_SUITS  # grid coordinates: aces are 0
    low = NUM_RANKS - 1 - low_card // NUM_SUITS
    suited = high_card % NUM_SUITS == low_card % NUM_SUITS
    classes = np.where(suited, NUM_RANKS * high + low, NUM_RANKS * low + high).astype(np.int16)
    classes.setflags(write=False)
    return classes


def _class_names() -> tuple[str, ...]:
    names = []
    for row, first in enumerate(reversed(RANKS)):
        for column, second in enumerate(reversed(RANKS)):
            if row == column:
                names.append(first + second)
            else:
                names.append(first + second + "s" if row < column else second + first + "o")
    return tuple(names)


HANDS: Final = _all_hands()
"""The two cards of each hand, the higher one first: int8 `[1326, 2]`, read-only."""

HAND_MASKS: Final = _masks_of_hands()
"""The cards of each hand as bits, card 0 the lowest: uint64 `[1326]`, read-only."""

HAND_CLASSES: Final = _classes_of_hands()
"""The class of each hand: int16 `[1326]` in 0..168, read-only. `divmod(hand_class, 13)` is its row and column."""

HAND_CLASS_NAMES: Final = _class_names()
"""The names of the 169 classes by index: AA, AKs, AQs, ... AKo, KK, KQs, ... 22."""


def hand_index(first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """Returns the hands made of two cards each, in either order.

    Args:
        first: cards, any shape.
        second: cards of a shape that broadcasts with `first`.

    Returns:
        int16 of the broadcast shape, each in 0..1325 (a zero-dimensional array for two single cards).

    Raises:
        CardError: a card is not in 0..51, or the two cards of a hand are the same.
    """
    a, b = np.asarray(first), np.asarray(second)
    for cards in (a, b):
        if cards.dtype.kind not in "iu":
            raise CardError(f"cards must be integers, not {cards.dtype}")
        outside = (cards < 0) | (cards >= NUM_CARDS)
        if outside.any():
            raise CardError(f"{int(cards[outside].flat[0])} is not a card: a card is an int in 0..51")
    same = a == b
    if same.any():
        card = int(np.broadcast_to(a, same.shape)[same].flat[0])
        raise CardError(f"{format_card(card)}{format_card(card)} is not a hand: its two cards must differ")
    high, low = np.maximum(a, b).astype(np.int16), np.minimum(a, b).astype(np.int16)
    return np.asarray(high * (high - 1) // 2 + low, dtype=np.int16)


def parse_hand(text: str) -> int:
    """Returns the hand that `text` names, such as `"AsKh"` or `"Kh As"`.

    Raises:
        CardError: `text` is not two different cards.
    """
    cards = parse_cards(text)
    if len(cards) != 2:
        raise CardError(f"{text!r} is not a hand: write two cards, like AsKh")
    return int(hand_index(cards[0], cards[1]))


def format_hand(hand: int) -> str:
    """Returns the name of a hand, the higher card first, such as `"AsKh"`.

    Raises:
        CardError: `hand` is not in 0..1325.
    """
    if not 0 <= hand < NUM_HANDS:
        raise CardError(f"{hand!r} is not a hand: a hand is an int in 0..1325")
    return format_cards(HANDS[hand], separator="")


def blocked_hands(board: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Returns which hands hold a card of `board`: bool `[1326]`.

    Args:
        board: distinct cards, `[K]`, K >= 0.

    Raises:
        CardError: a value is not in 0..51, or a card comes twice.
    """
    on_board = np.zeros(NUM_CARDS, dtype=np.bool_)
    on_board[check_cards(board)] = True
    return np.asarray(on_board[HANDS].any(axis=1))


def columns_of(hands: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns in which column of its row each hand is: `[B, 1326]`, -1 where it is in none.

    Args:
        hands: of each column, `[B, K]`.
    """
    columns = np.full((len(hands), NUM_HANDS), -1)
    np.put_along_axis(columns, hands, np.broadcast_to(np.arange(hands.shape[1]), hands.shape), axis=1)
    return columns


def without_common_cards(reach: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns for each hand the reach `[1326]` of all hands that share no card with it: float64 `[1326]`."""
    by_card = np.bincount(HANDS.ravel(), np.repeat(reach, 2), minlength=NUM_CARDS)
    free: npt.NDArray[np.float64] = reach.sum() - (by_card[HANDS[:, 0]] + by_card[HANDS[:, 1]]) + reach
    return np.maximum(free, 0.0)
