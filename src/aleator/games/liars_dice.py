"""Liar's Dice with d dice of f faces for each of two players; the highest face is wild.

Dice of one player are not told apart: a hand is a multiset of faces, and the deal carries how many rolls make it.

Reference: ReBeL App. C.3; thesis 2.4.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from aleator.errors import GameError
from aleator.games.base import TERMINAL, FloatArray, Game, Payoff
from aleator.games.operators import ProductDeal

MAX_HANDS = 300


class LiarsDiceState(NamedTuple):
    """`bid` is the last bid (-1: none yet), `player` who acts or, once `called`, who called it a lie."""

    bid: int = -1
    player: int = 0
    called: bool = False


class LiarsDice(Game[LiarsDiceState]):
    """Bid `b` says: among all dice at least `b // f + 1` show face `b % f + 1` or the wild face."""

    seats_are_alike = True

    def __init__(self, dice: int = 1, faces: int = 6) -> None:
        if not (1 <= dice <= 6 and 2 <= faces <= 10):
            raise GameError(f"Liar's Dice needs 1 to 6 dice of 2 to 10 faces, not {dice}x{faces}")
        if (hands := comb(dice + faces - 1, dice)) > MAX_HANDS:
            raise GameError(
                f"Liar's Dice {dice}x{faces} has {hands:,} hands for each player; at most {MAX_HANDS} are allowed"
            )
        self.dice, self.faces = dice, faces
        self.name = f"liars-dice:{dice}x{faces}"
        self.num_bids = 2 * dice * faces
        rolls = list(combinations_with_replacement(range(faces), dice))
        self._names = tuple("".join(str(face + 1) for face in roll) for roll in rolls)
        chances = np.array(
            [factorial(dice) / np.prod([factorial(n) for n in Counter(roll).values()]) for roll in rolls]
        )
        chances /= faces**dice
        self._deal = ProductDeal((chances, chances))
        wild = faces - 1
        self._matches = np.array(
            [[sum(die in (face, wild) for die in roll) for roll in rolls] for face in range(faces)]
        )
        self._bid_names = tuple(f"{quantity + 1}x{face + 1}" for quantity in range(2 * dice) for face in range(faces))

    def root(self) -> LiarsDiceState:
        return LiarsDiceState()

    def actor(self, state: LiarsDiceState) -> int:
        return TERMINAL if state.called else state.player

    def actions(self, state: LiarsDiceState) -> Sequence[str]:
        return self._bid_names[state.bid + 1 :] + (("liar",) if state.bid >= 0 else ())

    def child(self, state: LiarsDiceState, action: int) -> LiarsDiceState:
        bid = state.bid + 1 + action
        if bid == self.num_bids:
            return state._replace(called=True)
        return LiarsDiceState(bid, 1 - state.player)

    def hands(self, state: LiarsDiceState, player: int) -> Sequence[str]:
        return self._names

    def deal(self, state: LiarsDiceState) -> FloatArray:
        return self._deal.matrix()

    def deal_operator(self, state: LiarsDiceState) -> ProductDeal:
        return self._deal

    def utility(self, state: LiarsDiceState) -> FloatArray:
        quantity, face = divmod(state.bid, self.faces)
        matches = self._matches[face]
        bid_holds = matches[:, None] + matches[None, :] > quantity
        return np.where(bid_holds, 1.0, -1.0) * self.payoff(state).stake

    def payoff(self, state: LiarsDiceState) -> Payoff:
        bidder = 1 - state.player
        return Payoff(state.bid, 1.0 if bidder == 0 else -1.0)

    def features(self, state: LiarsDiceState) -> FloatArray:
        """Returns [bids]: the last bid, one-hot."""
        features = np.zeros(self.num_bids)
        if state.bid >= 0:
            features[state.bid] = 1.0
        return features
