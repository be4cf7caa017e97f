"""A hold'em spot as a game like any other: every board and hand, payoffs by cards and strengths instead of matrices.

`solve` takes the engine of hold'em for it (`solvers.holdem`); what else is done with games is done with this one, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name
from aleator.games.holdem.cards import HANDS, NUM_CARDS, blocked_hands, format_card, format_cards, format_hand
from aleator.games.holdem.spot import Spot
from aleator.games.operators import CardDeal, CardPayoff


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
        self._weights = (weights[0][self.hand_sets[0]], weights[1][self.hand_sets[1]])
        self._cards = (HANDS[self.hand_sets[0]], HANDS[self.hand_sets[1]])
        ones = np.ones(len(self._weights[0])), np.ones(len(self._weights[1]))
        self._total = CardDeal(self._weights, self._cards, 1.0).total(ones)
        self._dealt = cache(self._deal_on)
        self._strengths = cache(self._strengths_on)

    def _deal_on(self, board: tuple[int, ...]) -> CardDeal:
        blocked = blocked_hands(board)
        first, second = (
            np.where(blocked[hands], 0.0, own) for hands, own in zip(self.hand_sets, self._weights, strict=True)
        )
        return CardDeal((first, second), self._cards, self.chance(board) / self._total)

    def chance(self, board: tuple[int, ...]) -> float:
        """Returns how likely the cards come that a board has beyond that of the spot, given two hands without them."""
        start = len(self.spot.board)
        return float(np.prod([1.0 / (NUM_CARDS - 4 - dealt) for dealt in range(start, len(board))]))

    def betting(self, state: HoldemState) -> BettingNode:
        """Returns the node of the betting tree."""
        return BettingNode(self.tree, state.node)

    def _strengths_on(self, board: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        from aleator.games.holdem.evaluator import strengths  # loads the compiler

        order = strengths(board).astype(np.int64)
        return order[self.hand_sets[0]], order[self.hand_sets[1]]

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
        return self._dealt(state.board).matrix()

    def deal_operator(self, state: HoldemState) -> CardDeal:
        return self._dealt(state.board)

    def possible_hands(self, state: HoldemState, player: int) -> npt.NDArray[np.bool_]:
        deal = self._dealt(state.board)
        return deal.cf_reach(player, np.ones(len(self.hand_sets[1 - player]))) > 0.0

    def utility(self, state: HoldemState) -> FloatArray:
        stake = self.payoff(state).stake
        if self.betting(state).kind == NodeKind.FOLD:
            return np.full((len(self.hand_sets[0]), len(self.hand_sets[1])), stake)
        first, second = self._strengths(state.board)
        return np.asarray(np.sign(first[:, None] - second[None, :]) * stake)

    def winnings(self, state: HoldemState, hands: tuple[int, int]) -> float:
        stake = self.payoff(state).stake
        if self.betting(state).kind == NodeKind.FOLD:
            return stake
        first, second = self._strengths(state.board)
        return float(np.sign(first[hands[0]] - second[hands[1]])) * stake

    def payoff_operator(self, state: HoldemState, stake: float) -> CardPayoff:
        fold = self.betting(state).kind == NodeKind.FOLD
        return CardPayoff(self._dealt(state.board), None if fold else self._strengths(state.board))

    def payoff(self, state: HoldemState) -> Payoff:
        node = self.betting(state)
        stake = self.spot.pot / 2 + min(node.chips)
        if node.kind == NodeKind.FOLD:
            return Payoff((False, state.board), -stake if node.player == 0 else stake)
        return Payoff((True, frozenset(state.board)), stake)
