"""A hold'em spot as a general game of the library: exact, with payoffs as matrices, for ranges of moderate size.

The solver for hold'em (`solvers.holdem.solver`) does not need it; the general solvers do, and tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name
from aleator.games.holdem.cards import HANDS, NUM_CARDS, blocked_hands, format_card, format_cards, format_hand
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.spot import Spot


class HoldemState(NamedTuple):
    """The cards on the board, and a node of the betting tree by its number."""

    board: tuple[int, ...]
    node: int


class HoldemGame(Game[HoldemState]):
    """A spot without rake; payoffs are in chips in the zero-sum form: own share less half the pot."""

    def __init__(self, spot: Spot) -> None:
        self.spot = spot
        self.name = f"holdem:{''.join(format_card(card) for card in spot.board)}"
        self.tree = spot.build_tree().tree
        weights = spot.weights()
        self.hand_sets = tuple(np.flatnonzero(row) for row in weights)
        self._names = tuple(tuple(format_hand(int(hand)) for hand in hands) for hands in self.hand_sets)
        self._deal = cache(self._deal_on)
        self._order = cache(self._wins_on)

    @cached_property
    def _joint(self) -> FloatArray:
        """The probability of each pair of hands, [H0, H1]."""
        weights, cards = self.spot.weights(), [HANDS[hands] for hands in self.hand_sets]
        shared = (cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
        joint = np.outer(weights[0][self.hand_sets[0]], weights[1][self.hand_sets[1]]) * ~shared
        probability: FloatArray = joint / joint.sum()
        return probability

    def _alive(self, board: tuple[int, ...]) -> list[npt.NDArray[np.bool_]]:
        return [~blocked_hands(board)[hands] for hands in self.hand_sets]

    def _deal_on(self, board: tuple[int, ...]) -> FloatArray:
        first, second = self._alive(board)
        deal: FloatArray = self._joint * first[:, None] * second[None, :] * self.chance(board)
        return deal

    def chance(self, board: tuple[int, ...]) -> float:
        """Returns how likely the cards come that a board has beyond that of the spot, given two hands without them."""
        start = len(self.spot.board)
        return float(np.prod([1.0 / (NUM_CARDS - 4 - dealt) for dealt in range(start, len(board))]))

    def betting(self, state: HoldemState) -> BettingNode:
        """Returns the node of the betting tree."""
        return BettingNode(self.tree, state.node)

    def _wins_on(self, board: tuple[int, ...]) -> FloatArray:
        order = strengths(board).astype(np.int64)
        first, second = (order[hands] for hands in self.hand_sets)
        wins: FloatArray = np.sign(first[:, None] - second[None, :]).astype(np.float64)
        return wins

    def root(self) -> HoldemState:
        if self.spot.rake.rate > 0:
            raise GameError(
                "a game with rake is not zero-sum: `aleator solve` can solve it, but nothing else is possible"
            )
        return HoldemState(self.spot.board, 0)

    def actor(self, state: HoldemState) -> int:
        node = self.betting(state)
        if node.kind == NodeKind.DECISION:
            return node.player
        return CHANCE if node.kind == NodeKind.NEXT_STREET else TERMINAL

    def _next_cards(self, state: HoldemState) -> list[int]:
        return [card for card in range(NUM_CARDS) if card not in state.board]

    def actions(self, state: HoldemState) -> Sequence[str]:
        if self.actor(state) == CHANCE:
            return [format_card(card) for card in self._next_cards(state)]
        return self.betting(state).tokens

    def action_name(self, state: HoldemState, hand: int, action: int) -> str:
        return action_name(self.betting(state), action, self.spot.stack)

    def picture(self, state: HoldemState) -> str:
        return f"{format_cards(state.board)}, pot {self.spot.pot + sum(self.betting(state).chips)}"

    def child(self, state: HoldemState, action: int) -> HoldemState:
        if self.actor(state) == CHANCE:
            return HoldemState((*state.board, self._next_cards(state)[action]), state.node + 1)
        return HoldemState(state.board, self.tree.children(state.node)[action])

    def hands(self, state: HoldemState, player: int) -> Sequence[str]:
        return self._names[player]

    def deal(self, state: HoldemState) -> FloatArray:
        return self._deal(state.board)

    def utility(self, state: HoldemState) -> FloatArray:
        stake = self.payoff(state).stake
        if self.betting(state).kind == NodeKind.FOLD:
            return np.full(self._joint.shape, stake)
        return self._order(state.board) * stake

    def payoff(self, state: HoldemState) -> Payoff:
        node = self.betting(state)
        stake = self.spot.pot / 2 + min(node.chips)
        if node.kind == NodeKind.FOLD:
            return Payoff((False, state.board), -stake if node.player == 0 else stake)
        return Payoff((True, frozenset(state.board)), stake)
