"""Liar's Dice of two players with d dice of f faces each, or with different numbers of dice; the highest face is wild.

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

    def __init__(self, dice: int | tuple[int, int] = 1, faces: int = 6) -> None:
        self.counts = (dice, dice) if isinstance(dice, int) else dice
        text = f"{dice}x{faces}" if isinstance(dice, int) else f"{dice[0]}+{dice[1]}x{faces}"
        if not (all(1 <= count <= 6 for count in self.counts) and 2 <= faces <= 10):
            raise GameError(f"Liar's Dice needs 1 to 6 dice of 2 to 10 faces, not {text}")
        most = max(self.counts)
        if (hands := comb(most + faces - 1, most)) > MAX_HANDS:
            raise GameError(
                f"Liar's Dice {text} has {hands:,} hands for a player with {most} dice; at most {MAX_HANDS} are allowed"
            )
        self.dice, self.faces = sum(self.counts), faces
        self.seats_are_alike = self.counts[0] == self.counts[1]
        self.name = f"liars-dice:{self.counts[0] if self.seats_are_alike else '+'.join(map(str, self.counts))}x{faces}"
        self.num_bids = self.dice * faces
        rolls = [list(combinations_with_replacement(range(faces), count)) for count in self.counts]
        self._names = tuple(tuple("".join(str(face + 1) for face in roll) for roll in own) for own in rolls)
        self._deal = ProductDeal((_chances(rolls[0], faces), _chances(rolls[1], faces)))
        wild = faces - 1
        self._matches = [
            np.array([[sum(die in (face, wild) for die in roll) for roll in own] for face in range(faces)])
            for own in rolls
        ]
        self._bid_names = tuple(f"{quantity + 1}x{face + 1}" for quantity in range(self.dice) for face in range(faces))

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
        return self._names[player]

    def deal(self, state: LiarsDiceState) -> FloatArray:
        return self._deal.matrix()

    def deal_operator(self, state: LiarsDiceState) -> ProductDeal:
        return self._deal

    def utility(self, state: LiarsDiceState) -> FloatArray:
        quantity, face = divmod(state.bid, self.faces)
        first, second = (matches[face] for matches in self._matches)
        bid_holds = first[:, None] + second[None, :] > quantity
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


def _chances(rolls: Sequence[tuple[int, ...]], faces: int) -> FloatArray:
    """Returns how likely each multiset of faces is rolled."""
    dice = len(rolls[0])
    ways = [factorial(dice) / np.prod([factorial(n) for n in Counter(roll).values()]) for roll in rolls]
    chances: FloatArray = np.array(ways) / faces**dice
    return chances
