"""A hold'em spot, or hold'em from the blinds on, as a game like any other.

Every board and hand is there; payoffs are cards and strengths instead of matrices. `solve` takes the engine of hold'em
for it (`solvers.holdem`); what else is done with games is done with these, too, if they are small enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.errors import GameError, TooBigError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name, count_nodes
from aleator.games.holdem.board_game import BoardGame, cards_dealt, num_deals
from aleator.games.holdem.cards import HANDS, blocked_hands, format_cards, format_hand
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.whole_game import WholeGame
from aleator.games.operators import CardDeal, CardPayoff

MOST_PUBLIC_STATES = 1_000_000


class HoldemState(NamedTuple):
    """The cards on the board, and a node of the betting tree by its number."""

    board: tuple[int, ...]
    node: int


class BoardHoldem(Game[HoldemState]):
    """Hold'em without rake; payoffs are in chips in the zero-sum form: own share less half the pot."""

    def __init__(self, board_game: BoardGame, name: str) -> None:
        self.board_game, self.name = board_game, name
        self.tree = board_game.build_tree().tree
        weights = board_game.weights()
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
        """Returns how likely the cards come that a board has beyond the first one, given two hands without them."""
        streets = range(self.board_game.street + 1, BOARD_CARDS.index(len(board)) + 1)
        return float(np.prod([1.0 / num_deals(len(self.board_game.deck), street) for street in streets]))

    def betting(self, state: HoldemState) -> BettingNode:
        """Returns the node of the betting tree."""
        return BettingNode(self.tree, state.node)

    def _strengths_on(self, board: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        from aleator.games.holdem.evaluator import strengths  # loads the compiler

        order = strengths(board).astype(np.int64)
        return order[self.hand_sets[0]], order[self.hand_sets[1]]

    def root(self) -> HoldemState:
        if self.board_game.rake.rate > 0:
            raise GameError(
                "a game with rake is not zero-sum: `aleator solve` can solve it, but nothing else is possible"
            )
        return HoldemState(self.board_game.board, 0)

    def actor(self, state: HoldemState) -> int:
        node = self.betting(state)
        if node.kind == NodeKind.DECISION:
            return node.player
        return CHANCE if node.kind == NodeKind.NEXT_STREET else TERMINAL

    def _next_cards(self, state: HoldemState) -> list[tuple[int, ...]]:
        left = [card for card in self.board_game.deck if card not in state.board]
        return list(combinations(left, cards_dealt(BOARD_CARDS.index(len(state.board)) + 1)))

    def actions(self, state: HoldemState) -> Sequence[str]:
        if self.actor(state) == CHANCE:
            return [format_cards(cards, "") for cards in self._next_cards(state)]
        return self.betting(state).tokens

    def action_name(self, state: HoldemState, hand: int, action: int) -> str:
        return action_name(self.betting(state), action, self.board_game.stack)

    def picture(self, state: HoldemState) -> str:
        return f"{format_cards(state.board) or 'preflop'}, pot {self.board_game.pot + sum(self.betting(state).chips)}"

    def child(self, state: HoldemState, action: int) -> HoldemState:
        if self.actor(state) == CHANCE:
            return HoldemState((*state.board, *self._next_cards(state)[action]), state.node + 1)
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
        stake = self.board_game.pot / 2 + min(node.chips)
        if node.kind == NodeKind.FOLD:
            return Payoff((False, state.board), -stake if node.player == 0 else stake)
        return Payoff((True, frozenset(state.board)), stake)


class HoldemGame(BoardHoldem):
    """A spot as a game."""

    def __init__(self, spot: Spot) -> None:
        super().__init__(spot, f"holdem:{format_cards(spot.board, '')}")
        self.spot = spot


class WholeHoldemGame(BoardHoldem):
    """Hold'em from the blinds on as a game. Player 1, the button, acts first preflop, player 0 on the later streets."""

    def __init__(self, whole: WholeGame) -> None:
        super().__init__(whole, whole.variant.name)
        self.whole = whole

    def root(self) -> HoldemState:
        states = self.num_public_states
        if states > MOST_PUBLIC_STATES:
            raise TooBigError(
                f"{self.name} has {states:,} public states with every card apart: `aleator solve` solves it by the "
                "rules of CFR, `match` and `play` play it, `evaluate --agent` takes agents of whole hands; no more "
                "is possible"
            )
        return super().root()

    @property
    def num_public_states(self) -> int:
        """How many public states there are, every card apart."""
        boards, total = 1, 0
        for street, nodes in enumerate(count_nodes(BettingNode(self.tree, 0))[: self.whole.num_streets]):
            if street:
                boards *= comb(len(self.whole.deck) - BOARD_CARDS[street - 1], cards_dealt(street))
            total += boards * nodes
        return total
