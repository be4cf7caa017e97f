"""Kuhn poker for several players: one card each of a deck that has one more than there are players, one bet.

Reference: Abou Risk and Szafron 2010 (three players); its equilibria: Szafron, Gibson, Sturtevant 2013.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from aleator.games.base import CHANCE, TERMINAL
from aleator.games.multiplayer.base import MultiplayerGame, check_players, split_pot
from aleator.games.multiplayer.betting import BettingState, act, first_state, legal

_FACES = {3: "JQK", 4: "TJQK", 5: "TJQKA"}


class KuhnHistory(NamedTuple):
    """Cards from 0 up, in the order of the seats, and the betting."""

    cards: tuple[int, ...]
    betting: BettingState


class MultiplayerKuhn(MultiplayerGame[KuhnHistory]):
    """Everybody antes 1; one bet of 1, which all others fold to or call; the highest card wins the pot."""

    def __init__(self, players: int = 3) -> None:
        check_players(players, of="Kuhn poker")
        self.num_players, self.name = players, f"kuhn:players={players}"
        faces = _FACES.get(players + 1, [str(card + 1) for card in range(players + 1)])
        self.cards = tuple(faces)

    def start(self) -> KuhnHistory:
        return KuhnHistory((), first_state(self.num_players, 1.0))

    def actor(self, history: KuhnHistory) -> int:
        if len(history.cards) < self.num_players:
            return CHANCE
        return history.betting.waiting[0] if history.betting.waiting else TERMINAL

    def outcomes(self, history: KuhnHistory) -> Sequence[float]:
        left = len(self.cards) - len(history.cards)
        return [1.0 / left] * left

    def legal(self, history: KuhnHistory) -> Sequence[str]:
        return legal(history.betting, 1)

    def act(self, history: KuhnHistory, action: int) -> KuhnHistory:
        cards, betting = history
        if len(cards) < self.num_players:
            left = [card for card in range(len(self.cards)) if card not in cards]
            return KuhnHistory((*cards, left[action]), betting)
        return KuhnHistory(cards, act(betting, legal(betting, 1)[action], 1.0))

    def infostate(self, history: KuhnHistory, player: int) -> Hashable:
        return history.cards[player], history.betting.moves

    def public(self, history: KuhnHistory) -> Hashable:
        return history.betting.moves

    def returns(self, history: KuhnHistory) -> Sequence[float]:
        betting = history.betting
        return split_pot(betting.chips, [max(betting.live, key=history.cards.__getitem__)])

    def rules(self) -> str:
        return (
            f"{self.num_players} players ante 1 and get one of {len(self.cards)} different cards each. Then you check "
            "or bet 1; facing a bet, you fold or call. The highest card among those who have not folded wins the pot."
        )
