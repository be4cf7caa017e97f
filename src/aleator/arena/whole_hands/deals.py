"""Cards and draws of hands by their number: hand 17 of seed 3 is the same hand in any order, on any number of cores.

Everything random about a hand comes from its seed, its number and a counter, mixed by splitmix64 (Steele, Lea, Flood
2014): so a match can be cut into pieces, stopped and resumed without changing a single hand.

Deals are duplicate: P hands in a row, of P players, have the same cards, with everybody in every seat once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_CARDS
from aleator.games.holdem.hand_state import HandSetup
from aleator.jit import njit

_GOLDEN: Final = 0x9E3779B97F4A7C15
_DEALING: Final = 0xD1B54A32D192ED03  # keeps the draws of cards apart from those of actions


class Deals(NamedTuple):
    """The cards of B hands: ``hands`` ``[B, P]`` by seat, ``boards`` ``[B, 5]``."""

    hands: npt.NDArray[np.int16]
    boards: npt.NDArray[np.int8]


def deal_hands(setup: HandSetup, seed: int, numbers: npt.NDArray[np.int64], *, hands_per_board: int = 1) -> Deals:
    """Returns the cards of hands by their numbers.

    Args:
        setup: how many players, and which board cards are fixed.
        seed: of the match.
        numbers: of the hands, ``[B]``.
        hands_per_board: so many deals in a row share their board, with hands of their own.
    """
    players = setup.num_players
    deals = numbers // players
    hands, boards = np.empty((len(numbers), players), np.int16), np.empty((len(numbers), 5), np.int8)
    fixed = np.asarray(setup.board, np.int8)
    _deal(
        _keys(seed, deals // hands_per_board), _keys(seed ^ _DEALING, deals), fixed, hands_per_board == 1, hands, boards
    )
    return Deals(hands, boards)


def uniform_draws(seed: int, numbers: npt.NDArray[np.int64], counts: npt.NDArray[np.integer]) -> FloatArray:
    """Returns one number in [0, 1) for each hand, the ``counts``-th of its draws, ``[B]``."""
    shares = np.empty(len(numbers))
    _draw(_keys(seed, numbers), np.asarray(counts, np.uint64), shares)
    return shares


def draw_seeds(seed: int, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Returns a seed for each hand, ``[B]``, of what else is drawn about it."""
    return _keys(~seed, numbers)


def _keys(seed: int, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    keys = np.asarray(numbers).astype(np.uint64)
    _mix_keys(np.uint64(seed & 0xFFFFFFFFFFFFFFFF), keys)
    return keys


@njit(forceinline=True)
def _mix(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit()
def _mix_keys(seed: np.uint64, keys: npt.NDArray[np.uint64]) -> None:
    start = _mix(seed + np.uint64(_GOLDEN))
    for index in range(len(keys)):
        keys[index] = _mix(start ^ _mix(keys[index] + np.uint64(_GOLDEN)))


@njit()
def _draw(keys: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint64], shares: FloatArray) -> None:
    for index in range(len(keys)):
        mixed = _mix(keys[index] + (counts[index] + np.uint64(1)) * np.uint64(_GOLDEN))
        shares[index] = (mixed >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit()
def _deal(
    board_keys: npt.NDArray[np.uint64], hand_keys: npt.NDArray[np.uint64], fixed: npt.NDArray[np.int8], one_key: bool,
    hands: npt.NDArray[np.int16], boards: npt.NDArray[np.int8],
) -> None:  # fmt: skip
    """Deals each board, then the hands, from one shuffled deck, by swapping the next card with a random later one."""
    deck = np.empty(NUM_CARDS, np.int64)
    for row in range(len(hands)):
        for card in range(NUM_CARDS):
            deck[card] = card
        for index in range(len(fixed)):
            for other in range(index, NUM_CARDS):
                if deck[other] == fixed[index]:
                    deck[index], deck[other] = deck[other], deck[index]
                    break
        for index in range(len(fixed), 5 + 2 * hands.shape[1]):
            key = board_keys[row] if one_key or index < 5 else hand_keys[row]
            mixed = _mix(key + np.uint64(_DEALING) * np.uint64(index + 1))
            share = (mixed >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            chosen = index + np.int64(share * (NUM_CARDS - index))
            deck[index], deck[chosen] = deck[chosen], deck[index]
        for index in range(5):
            boards[row, index] = deck[index]
        for player in range(hands.shape[1]):
            first, second = deck[5 + 2 * player], deck[6 + 2 * player]
            high, low = max(first, second), min(first, second)
            hands[row, player] = high * (high - 1) // 2 + low
