"""What is known about a hold'em game of two before it is solved: where it begins, what is bet, which hands there are.

A `games.holdem.spot.Spot` begins on a board; a `games.holdem.whole_game.WholeGame` begins with the blinds.
"""

from __future__ import annotations

from math import comb
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.lock import Lock
from aleator.games.holdem.spot import Rake


class BoardGame(Protocol):
    """A game as the engine of boards takes it; see `Spot` and `WholeGame`."""

    @property
    def board(self) -> tuple[int, ...]:
        """The cards on the table at the beginning."""

    @property
    def deck(self) -> tuple[int, ...]:
        """The cards that are played with, ascending."""

    @property
    def street(self) -> int:
        """Where it begins: 0 preflop to 3 river."""

    @property
    def num_streets(self) -> int:
        """Betting rounds of a whole hand: the last one ends with a showdown."""

    @property
    def pot(self) -> int:
        """Chips in the middle at the beginning, half of them from each player; blinds are not among them."""

    @property
    def stack(self) -> int:
        """Chips that each player can put in."""

    @property
    def rake(self) -> Rake:
        """What the house takes."""

    @property
    def locks(self) -> tuple[Lock, ...]:
        """Nodes whose policy is fixed."""

    def weights(self) -> npt.NDArray[np.float64]:
        """Returns the weights of both players' hands at the beginning, 0 for those that cannot be: ``[2, 1326]``."""

    def build_tree(self) -> BettingNode:
        """Returns the root of the betting tree."""


def cards_dealt(street: int) -> int:
    """Returns how many cards come at the beginning of a street: three on the flop, then one."""
    return BOARD_CARDS[street] - BOARD_CARDS[street - 1]


def num_deals(deck: int, street: int) -> int:
    """Returns how many ways the cards that open a street can come, given two hands and the board before it."""
    return comb(deck - 4 - BOARD_CARDS[street - 1], cards_dealt(street))
