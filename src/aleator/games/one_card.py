"""One-card poker: each player gets one of n cards; one round of betting with one bet. Kuhn poker is n = 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleator.errors import GameError
from aleator.games.base import TERMINAL, FloatArray, Game

_FACES = {3: "JQK", 4: "TJQK", 5: "TJQKA"}


class OneCardPoker(Game[str]):
    """Ante 1, bet 1; the higher card wins. A state is the betting so far: p(ass) or b(et) per move."""

    def __init__(self, cards: int = 3, name: str | None = None) -> None:
        if not 2 <= cards <= 1000:
            raise GameError(f"one-card poker needs 2 to 1000 cards, not {cards}")
        self.cards = cards
        self.name = name or f"one-card:{cards}"
        self._names = tuple(_FACES.get(cards, [str(card + 1) for card in range(cards)]))
        self._deal = (1.0 - np.eye(cards)) / (cards * (cards - 1))
        rank = np.arange(cards)
        self._showdown = np.sign(rank[:, None] - rank[None, :]).astype(np.float64)

    def root(self) -> str:
        return ""

    def actor(self, state: str) -> int:
        return TERMINAL if state in ("pp", "bp", "bb", "pbp", "pbb") else len(state) % 2

    def actions(self, state: str) -> Sequence[str]:
        return ("fold", "call") if state.endswith("b") else ("check", "bet")

    def picture(self, state: str) -> str:
        return f"pot {2 + state.count('b')}"

    def child(self, state: str, action: int) -> str:
        return state + "pb"[action]

    def hands(self, state: str, player: int) -> Sequence[str]:
        return self._names

    def deal(self, state: str) -> FloatArray:
        return self._deal

    def utility(self, state: str) -> FloatArray:
        if state == "bp":
            return np.ones_like(self._deal)
        if state == "pbp":
            return -np.ones_like(self._deal)
        stakes: FloatArray = self._showdown * (1.0 if state == "pp" else 2.0)
        return stakes


def kuhn() -> OneCardPoker:
    """Returns Kuhn poker: one-card poker with a jack, a queen and a king; worth -1/18 to player 0."""
    return OneCardPoker(3, name="kuhn")
