"""Leduc hold'em with any bet sizes and caps: two rounds, one private card each, one public card.

Suits do not matter, so hands and boards are ranks and the deal carries the number of cards behind each: standard Leduc
has 288 infostates this way, up to suit symmetry; a count that tells suits apart, as OpenSpiel's does, gives 936.

Reference: thesis 2.4.1 (Leduc and Leduc-5); Double Neural CFR, experiments (no-limit Leduc with stack 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff

_RANKS = "JQKA"
BETTING, DEALING, SHOWDOWN, FOLDED = range(4)
MAX_STACK = 25  # of no-limit Leduc: 16 million public states; every chip more adds two fifths


class LeducState(NamedTuple):
    """The public part of a hand of Leduc.

    `chips` is what each player has put in, `bets` the number of bets and raises of this round, `raised` the size of the
    last of them (no-limit only), `checked` whether this round began with a check. `history` has the labels of all moves
    where menus depend on it (continuous Leduc), else nothing.
    """

    chips: tuple[float, float]
    player: int = 0
    board: int = -1
    bets: int = 0
    raised: float = 0.0
    checked: bool = False
    phase: int = BETTING
    history: tuple[str, ...] = ()


class Leduc(Game[LeducState]):
    """Leduc hold'em.

    Args:
        bets: for each of the two rounds, by how much one may bet or raise.
        max_bets: bets and raises allowed per round; None for no cap.
        stack: chips of each player, the ante included; None for as many as needed.
        no_limit: every whole number of chips may be bet, from the last raise (at least the ante) to the stack.
        ranks, suits: the deck.
    """

    ante = 1.0  # chips put in before the deal

    def __init__(
        self,
        bets: tuple[Sequence[float], Sequence[float]] = ((2,), (4,)),
        *,
        max_bets: int | None = 2,
        stack: float | None = None,
        no_limit: bool = False,
        ranks: int = 3,
        suits: int = 2,
        name: str = "leduc",
    ) -> None:
        if not 2 <= ranks <= 100 or not 1 <= suits <= 100 or ranks * suits < 3:
            raise GameError(
                f"Leduc needs 2 to 100 ranks, 1 to 100 suits and 3 cards, not {ranks} ranks of {suits} suits"
            )
        if max_bets is not None and max_bets < 1:
            raise GameError(f"Leduc's cap must allow at least 1 bet a round, not {max_bets}")
        if stack is not None and not isfinite(stack):
            raise GameError(f"Leduc's stack must be a finite number, not {stack}")
        if no_limit and stack is None:
            raise GameError("no-limit Leduc needs a stack")
        if max_bets is None and stack is None:
            raise GameError("Leduc needs a cap on bets or a stack, or a hand would never end")
        if stack is not None and stack <= self.ante:
            raise GameError(f"Leduc needs a stack above the ante of {self.ante:g}, not {stack}")
        if any(not 0 < size < inf for sizes in bets for size in sizes) or any(
            len(set(sizes)) < len(sizes) for sizes in bets
        ):
            raise GameError(f"Leduc's bets must be positive and distinct, not {bets}")
        self.name = name
        self.bets, self.max_bets, self.stack, self.no_limit = bets, max_bets, stack, no_limit
        self.ranks, self.suits = ranks, suits
        self._names = tuple(_RANKS[:ranks] if ranks <= len(_RANKS) else map(str, range(1, ranks + 1)))
        cards = ranks * suits
        same = np.eye(ranks)
        pairs = suits * (suits - same)  # ways to deal ranks i and j
        left = suits - same[:, None, :] - same[None, :, :]  # [i, j, b] cards of rank b left
        self._deals = np.concatenate(
            [
                np.moveaxis(pairs[:, :, None] * np.maximum(left, 0) / (cards * (cards - 1) * (cards - 2)), 2, 0),
                pairs[None] / (cards * (cards - 1)),  # board -1: not dealt yet
            ]
        )
        rank = np.arange(ranks)
        strength = rank[None, :] + ranks * np.eye(ranks)  # [board, hand]: a pair beats any card
        self._wins = np.sign(strength[:, :, None] - strength[:, None, :])

    def root(self) -> LeducState:
        return LeducState((self.ante, self.ante))

    def actor(self, state: LeducState) -> int:
        if state.phase == BETTING:
            return state.player
        return CHANCE if state.phase == DEALING else TERMINAL

    def raises(self, state: LeducState) -> list[float]:
        """Returns the sizes by which the player to act may bet or raise, on top of a call."""
        if self.max_bets is not None and state.bets >= self.max_bets:
            return []
        room = float("inf") if self.stack is None else self.stack - max(state.chips)
        if not self.no_limit:
            return [float(size) for size in self.bets[0 if state.board < 0 else 1] if size <= room]
        least = max(self.ante, state.raised)
        return [float(size) for size in range(1, int(room) + 1) if size >= least or size == room]

    def actions(self, state: LeducState) -> Sequence[str]:
        if state.phase == DEALING:
            return self._names
        facing = state.chips[0] != state.chips[1]
        names = ["fold", "call"] if facing else ["check"]
        return names + [f"{'raise' if state.bets else 'bet'} {size:g}" for size in self.raises(state)]

    def picture(self, state: LeducState) -> str:
        board = "" if state.board < 0 else f"{self._names[state.board]} on the table, "
        return f"{board}pot {sum(state.chips):g}"

    def child(self, state: LeducState, action: int) -> LeducState:
        if state.phase == DEALING:
            all_in = self.stack is not None and min(state.chips) >= self.stack
            return LeducState(state.chips, board=action, phase=SHOWDOWN if all_in else BETTING)
        player, other = state.player, 1 - state.player
        facing = state.chips[0] != state.chips[1]
        if facing and action == 0:
            return state._replace(phase=FOLDED)
        passive = 2 if facing else 1
        if action < passive:
            chips = (max(state.chips),) * 2
            if not facing and not state.checked:
                return state._replace(player=other, checked=True)
            return LeducState(chips, board=state.board, phase=DEALING if state.board < 0 else SHOWDOWN)
        size = self.raises(state)[action - passive]
        put_in = list(state.chips)
        put_in[player] = max(state.chips) + size
        return state._replace(
            chips=(put_in[0], put_in[1]), player=other, bets=state.bets + 1, raised=size if self.no_limit else 0.0
        )

    def hands(self, state: LeducState, player: int) -> Sequence[str]:
        return self._names

    def deal(self, state: LeducState) -> FloatArray:
        deal: FloatArray = self._deals[state.board]
        return deal

    def utility(self, state: LeducState) -> FloatArray:
        if state.phase == FOLDED:
            return np.full((self.ranks, self.ranks), self.payoff(state).stake)
        wins: FloatArray = self._wins[state.board] * state.chips[0]
        return wins

    def payoff(self, state: LeducState) -> Payoff:
        if state.phase == FOLDED:
            loser = state.player
            return Payoff((FOLDED, state.board), state.chips[0] * (-1 if loser == 0 else 0) + state.chips[1] * loser)
        return Payoff((SHOWDOWN, state.board), state.chips[0])


def leduc5() -> Leduc:
    """Returns Leduc-5 of thesis 2.4.1: five bet sizes a round; 34,224 infostates up to suit symmetry."""
    return Leduc(((0.5, 1, 2, 4, 8), (1, 2, 4, 8, 16)), name="leduc:5")


def no_limit_leduc(stack: int = 5) -> Leduc:
    """Returns no-limit Leduc as in Double Neural CFR: bets are whole chips, a raise is at least as large as the last.

    Raises:
        GameError: the stack is larger than `MAX_STACK`, where there are too many public states to solve and even to
            count.
    """
    if stack > MAX_STACK:
        raise GameError(f"no-limit Leduc is played with stacks of 2 to {MAX_STACK}, not {stack}")
    return Leduc(
        no_limit=True, stack=stack, max_bets=None, name="leduc:nolimit" if stack == 5 else f"leduc:nolimit{stack}"
    )
