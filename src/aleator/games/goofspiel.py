"""Goofspiel with hidden bids and a known order of prizes.

Both players hold the cards 1..n. For each prize both bid a card face down; everybody learns who bid higher and takes
the prize (equal bids split it), but not the cards. A hand is therefore the sequence of one's own bids; the last bid is
forced and played automatically.

Reference: thesis 2.4.5 and 3.1.3 (prizes ascending).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aleator.caching import cache
from aleator.errors import GameError
from aleator.games.base import TERMINAL, Child, FloatArray, Game, IntArray

Bids = tuple[int, ...]
_RESULTS = {1: "player 0 wins", 0: "tie", -1: "player 1 wins"}


class GoofspielState(NamedTuple):
    """`results`: for each past prize 1, 0 or -1 (who bid higher); `pending`: player 0 has bid for the next one."""

    results: tuple[int, ...] = ()
    pending: bool = False


class _Hands(NamedTuple):
    """The hands that the results allow, and which pairs of them can occur together: [H0, H1] of 0 and 1."""

    bids: tuple[tuple[Bids, ...], tuple[Bids, ...]]
    compatible: FloatArray


class Goofspiel(Game[GoofspielState]):
    """Goofspiel with n cards; pays the difference in points or, with `win_loss`, 1 to the player with more."""

    def __init__(self, cards: int = 5, *, descending: bool = False, win_loss: bool = False) -> None:
        if not 2 <= cards <= 6:
            raise GameError(f"Goofspiel needs 2 to 6 cards, not {cards}")
        self.cards, self.win_loss = cards, win_loss
        self.prizes = tuple(range(cards, 0, -1) if descending else range(1, cards + 1))
        self.name = f"goofspiel:{cards}" + ",descending" * descending + ",win-loss" * win_loss
        self._hands = cache(self._derive_hands)
        self._resolved = cache(self._resolve)

    def root(self) -> GoofspielState:
        return GoofspielState()

    def actor(self, state: GoofspielState) -> int:
        return TERMINAL if len(state.results) == self.cards - 1 else int(state.pending)

    def actions(self, state: GoofspielState) -> Sequence[str]:
        return tuple(
            f"card {index + 1} of {left}" for left in [self.cards - len(state.results)] for index in range(left)
        )

    def action_name(self, state: GoofspielState, hand: int, action: int) -> str:
        return str(self._left(self._hands(state).bids[int(state.pending)][hand])[action])

    def picture(self, state: GoofspielState) -> str:
        won = [
            sum(prize * (1 + sign * result) / 2 for prize, result in zip(self.prizes, state.results, strict=False))
            for sign in (1, -1)
        ]
        prize = self.prizes[len(state.results)]
        left = "goes to the higher card left" if self.actor(state) == TERMINAL else "is up"
        return f"prize {prize} {left}; points: player 0 {won[0]:g}, player 1 {won[1]:g}"

    def _left(self, bids: Bids) -> list[int]:
        return [card for card in range(1, self.cards + 1) if card not in bids]

    def _extended(self, bids: Sequence[Bids]) -> tuple[list[Bids], IntArray]:
        """Returns all hands one bid longer, action by action, with their origins."""
        left = [self._left(hand) for hand in bids]
        longer = [
            (*hand, cards[index]) for index in range(len(left[0])) for hand, cards in zip(bids, left, strict=True)
        ]
        return longer, np.arange(len(longer))

    def _derive_hands(self, state: GoofspielState) -> _Hands:
        if state.pending:
            before = self._hands(GoofspielState(state.results))
            longer, _ = self._extended(before.bids[0])
            return _Hands(
                (tuple(longer), before.bids[1]), np.tile(before.compatible, (len(longer) // len(before.bids[0]), 1))
            )
        if not state.results:
            return _Hands((((),), ((),)), np.ones((1, 1)))
        return self._resolved(GoofspielState(state.results[:-1], pending=True), state.results[-1])[0]

    def _resolve(self, pending: GoofspielState, result: int) -> tuple[_Hands, tuple[IntArray, IntArray]]:
        """Returns the hands left once both have bid and `result` is known, with their origins."""
        before = self._hands(pending)
        first = before.bids[0]
        second, _ = self._extended(before.bids[1])
        compatible = np.tile(before.compatible, (1, len(second) // len(before.bids[1])))
        last = [np.array([bids[-1] for bids in hands]) for hands in (first, second)]
        compatible = compatible * (np.sign(last[0][:, None] - last[1][None, :]) == result)
        keep = compatible.any(axis=1).nonzero()[0], compatible.any(axis=0).nonzero()[0]
        bids = tuple(first[hand] for hand in keep[0]), tuple(second[hand] for hand in keep[1])
        return _Hands(bids, compatible[np.ix_(*keep)]), keep

    def children(self, state: GoofspielState) -> Sequence[Child[GoofspielState]]:
        if not state.pending:
            _, origin = self._extended(self._hands(state).bids[0])
            return [Child(GoofspielState(state.results, pending=True), "bid", (origin, None))]
        children = []
        for result, label in _RESULTS.items():
            hands, origins = self._resolved(state, result)
            if hands.compatible.size:
                children.append(Child(GoofspielState((*state.results, result)), label, origins))
        return children

    def hands(self, state: GoofspielState, player: int) -> Sequence[str]:
        return tuple(" ".join(map(str, bids)) or "-" for bids in self._hands(state).bids[player])

    def num_hands(self, state: GoofspielState) -> tuple[int, int]:
        bids = self._hands(state).bids
        return len(bids[0]), len(bids[1])

    def deal(self, state: GoofspielState) -> FloatArray:
        return self._hands(state).compatible

    def utility(self, state: GoofspielState) -> FloatArray:
        points = sum(result * prize for result, prize in zip(state.results, self.prizes, strict=False))
        last = [np.array([self._left(bids)[0] for bids in hands]) for hands in self._hands(state).bids]
        difference = points + self.prizes[-1] * np.sign(last[0][:, None] - last[1][None, :])
        payoff: FloatArray = (np.sign(difference) if self.win_loss else difference).astype(np.float64)
        return payoff
