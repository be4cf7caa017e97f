"""Flop hold'em with a reduced deck: two private cards each, a round of betting, three board cards, another round.

Small enough to be solved and searched exactly as a general game, and otherwise no-limit hold'em cut short: the game on
which Brown's thesis compares search techniques, there with 52 cards.

Reference: thesis 2.4.4 (no-limit flop hold'em), 5.1.8 (bet sizes as fractions of the pot).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from aleator.caching import cache
from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff

PREFLOP, DEALING, FLOP, SHOWDOWN, FOLDED = range(5)


class FlopState(NamedTuple):
    """The public part of a hand.

    `chips` is what each player has put in, `bets` the number of bets and raises of this round, `acted` whether somebody
    has acted in it, `board` the flop as numbers of cards.
    """

    chips: tuple[float, float]
    player: int
    phase: int = PREFLOP
    bets: int = 0
    acted: bool = False
    board: tuple[int, ...] = ()


class FlopHoldem(Game[FlopState]):
    """Flop hold'em. Player 0 has the small blind (1/2) and acts first preflop, player 1 the big blind (1) and acts
    first after it. Payoffs are in big blinds.

    Args:
        ranks, suits: the deck; its highest ranks are kept.
        sizes: bets and raises, as fractions of the pot after a call; for each of the two rounds.
        max_bets: bets and raises allowed in each of the two rounds, the blind not counted.
        stack: chips of each player; a bet of more is all-in.
    """

    def __init__(
        self,
        ranks: int = 4,
        suits: int = 2,
        *,
        sizes: tuple[Sequence[float], Sequence[float]] = ((1.0,), (1.0,)),
        max_bets: tuple[int, int] = (1, 2),
        stack: float = 200.0,
        name: str | None = None,
    ) -> None:
        if not 2 <= ranks <= 13 or not 1 <= suits <= 4 or ranks * suits < 7 or ranks * suits > 20:
            raise GameError(
                f"flop hold'em needs 7 to 20 cards of 2 to 13 ranks and 1 to 4 suits, not {ranks} x {suits}"
            )
        if any(not 0 < size < 100 for menu in sizes for size in menu) or any(list(m) != sorted(set(m)) for m in sizes):
            raise GameError(f"bet sizes are increasing positive fractions of the pot, not {sizes}")
        if min(max_bets) < 0 or not stack >= 1:
            raise GameError(f"impossible caps {max_bets} or stack {stack}")
        self.ranks, self.suits = ranks, suits
        self.sizes, self.max_bets, self.stack = sizes, max_bets, float(stack)
        self.name = name or f"flop-holdem:{ranks}x{suits}"
        self.cards = np.array([(13 - ranks + rank) * 4 + suit for rank in range(ranks) for suit in range(suits)])
        deck = range(ranks * suits)
        self.pairs = np.array(list(combinations(deck, 2)))
        self._boards = tuple(combinations(deck, 3))
        self._names = tuple("".join(self._card(card) for card in reversed(pair)) for pair in self.pairs)
        shared = (self.pairs[:, None, :, None] == self.pairs[None, :, None, :]).any(axis=(2, 3))
        size = ranks * suits
        self._joint: FloatArray = np.asarray(~shared / (comb(size, 2) * comb(size - 2, 2)), dtype=np.float64)
        self._deal = cache(self._deal_on)
        self.strengths = cache(self._strengths_on)

    def _card(self, card: int) -> str:
        return "23456789TJQKA"[13 - self.ranks + card // self.suits] + "cdhs"[card % self.suits]

    def _alive(self, board: tuple[int, ...]) -> FloatArray:
        return np.asarray(~np.isin(self.pairs, board).any(axis=1), dtype=np.float64)

    def _deal_on(self, board: tuple[int, ...]) -> FloatArray:
        if not board:
            return self._joint
        alive = self._alive(board)
        deal: FloatArray = self._joint * np.outer(alive, alive) / comb(self.ranks * self.suits - 4, 3)
        return deal

    def _strengths_on(self, board: tuple[int, ...]) -> FloatArray:
        """Returns [H]: the strength of each hand with a board, -1 if they share a card."""
        from aleator.games.holdem.evaluator import evaluate

        strengths = np.full(len(self.pairs), -1.0)
        alive = self._alive(board) > 0
        hands = np.concatenate([self.pairs[alive], np.tile(board, (int(alive.sum()), 1))], axis=1)
        strengths[alive] = evaluate(self.cards[hands].astype(np.int8))
        return strengths

    def root(self) -> FlopState:
        return FlopState((0.5, 1.0), 0)

    def actor(self, state: FlopState) -> int:
        if state.phase in (PREFLOP, FLOP):
            return state.player
        return CHANCE if state.phase == DEALING else TERMINAL

    def menu(self, turn: int, player: int) -> Sequence[float]:
        """Returns the sizes, as fractions of the pot, that a player may bet before (0) or after the flop (1)."""
        return self.sizes[turn]

    def bet_sizes(self, state: FlopState) -> list[tuple[float, float]]:
        """Returns the bets and raises allowed, as (fraction of the pot, chips of the bettor after it)."""
        turn = 0 if state.phase == PREFLOP else 1
        if state.bets >= self.max_bets[turn]:
            return []
        level = max(state.chips)
        sizes: dict[float, float] = {}
        for size in self.menu(turn, state.player):
            to = min(self.stack, level + size * 2 * level)
            if to > level:
                sizes.setdefault(to, size)
        return [(size, to) for to, size in sizes.items()]

    def actions(self, state: FlopState) -> Sequence[str]:
        if state.phase == DEALING:
            return tuple("".join(self._card(card) for card in reversed(board)) for board in self._boards)
        facing = state.chips[0] != state.chips[1]
        names = ["fold", "call"] if facing else ["check"]
        return names + [f"{'raise' if facing else 'bet'} {size:g}" for size, _ in self.bet_sizes(state)]

    def child(self, state: FlopState, action: int) -> FlopState:
        if state.phase == DEALING:
            over = min(state.chips) >= self.stack
            return FlopState(state.chips, 1, SHOWDOWN if over else FLOP, board=self._boards[action])
        facing = state.chips[0] != state.chips[1]
        if facing and action == 0:
            return state._replace(phase=FOLDED)
        passive = 2 if facing else 1
        if action < passive:
            level = max(state.chips)
            if not state.acted:  # the first to act calls the blind or checks: the other may still bet
                return state._replace(chips=(level, level), player=1 - state.player, acted=True)
            return state._replace(chips=(level, level), phase=DEALING if state.phase == PREFLOP else SHOWDOWN)
        chips = list(state.chips)
        chips[state.player] = self.bet_sizes(state)[action - passive][1]
        return state._replace(chips=(chips[0], chips[1]), player=1 - state.player, bets=state.bets + 1, acted=True)

    def hands(self, state: FlopState, player: int) -> Sequence[str]:
        return self._names

    def deal(self, state: FlopState) -> FloatArray:
        return self._deal(state.board)

    def utility(self, state: FlopState) -> FloatArray:
        stake = self.payoff(state).stake
        if state.phase == FOLDED:
            return np.full(self._joint.shape, stake)
        strengths = self.strengths(state.board)
        return np.sign(strengths[:, None] - strengths[None, :]) * stake

    def payoff(self, state: FlopState) -> Payoff:
        if state.phase == FOLDED:
            return Payoff((FOLDED, state.board), -state.chips[0] if state.player == 0 else state.chips[1])
        return Payoff((SHOWDOWN, state.board), state.chips[0])
