"""Leduc hold'em for several players: two rounds, one private card each, one public card.

Suits do not matter, so cards are ranks and chance's probabilities carry the number of cards behind each. The deck has
one rank more than there are players, in two suits, as OpenSpiel's has, unless another is asked for.

Reference: Southey et al. 2005 (Leduc); Abou Risk and Szafron 2010 (three players).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from aleator.caching import lru_cache
from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL
from aleator.games.multiplayer.base import MultiplayerGame, check_players, split_pot
from aleator.games.multiplayer.betting import BettingState, act, first_state, legal, next_round


class LeducHistory(NamedTuple):
    """Ranks from 0 up, in the order of the seats, the public one last, and the betting."""

    cards: tuple[int, ...]
    betting: BettingState


class MultiplayerLeduc(MultiplayerGame[LeducHistory]):
    """Leduc hold'em.

    Args:
        players: 2 to 10.
        bets: what a bet or a raise is, in each of the two rounds.
        cap: bets and raises allowed in a round.
        ranks, suits: the deck; one rank more than there are players, and two suits.
        name: what it is called.
    """

    def __init__(
        self,
        players: int = 3,
        *,
        bets: tuple[float, float] = (2.0, 4.0),
        cap: int = 2,
        ranks: int | None = None,
        suits: int = 2,
        name: str | None = None,
    ) -> None:
        check_players(players, of="Leduc")
        ranks = players + 1 if ranks is None else ranks
        if not 2 <= ranks <= 20 or not 1 <= suits <= 20 or ranks * suits <= players:
            raise GameError(
                f"Leduc for {players} players needs 2 to 20 ranks, 1 to 20 suits and more cards than players, not "
                f"{ranks} ranks of {suits} suits"
            )
        if cap < 1 or min(bets) <= 0:
            raise GameError(f"Leduc needs positive bets and a cap of at least 1 a round, not {bets} and {cap}")
        self.num_players, self.bets, self.cap, self.ranks, self.suits = players, bets, cap, ranks, suits
        self.name = name or f"leduc:players={players}"

    def start(self) -> LeducHistory:
        return LeducHistory((), first_state(self.num_players, 1.0))

    def actor(self, history: LeducHistory) -> int:
        cards, betting = history
        if len(cards) < self.num_players:
            return CHANCE
        if betting.waiting:
            return betting.waiting[0]
        return CHANCE if len(cards) == self.num_players and not betting.is_over else TERMINAL

    def outcomes(self, history: LeducHistory) -> Sequence[float]:
        return _chances(history.cards, self.ranks, self.suits)[1]

    def legal(self, history: LeducHistory) -> Sequence[str]:
        return legal(history.betting, self.cap)

    def act(self, history: LeducHistory, action: int) -> LeducHistory:
        cards, betting = history
        if len(cards) < self.num_players or not betting.waiting:
            after = betting if len(cards) < self.num_players else next_round(betting)
            return LeducHistory((*cards, _chances(cards, self.ranks, self.suits)[0][action]), after)
        return LeducHistory(cards, act(betting, legal(betting, self.cap)[action], self.bets[betting.round]))

    def infostate(self, history: LeducHistory, player: int) -> Hashable:
        cards = history.cards
        return cards[player], cards[self.num_players :], history.betting.moves

    def public(self, history: LeducHistory) -> Hashable:
        return history.cards[self.num_players :], history.betting.moves

    def returns(self, history: LeducHistory) -> Sequence[float]:
        cards, betting = history
        live = betting.live
        if len(live) == 1:
            return split_pot(betting.chips, live)
        board = cards[self.num_players]
        strength = [self.ranks if cards[player] == board else cards[player] for player in live]
        return split_pot(betting.chips, [p for p, own in zip(live, strength, strict=True) if own == max(strength)])

    def rules(self) -> str:
        first, second = self.bets
        return (
            f"{self.num_players} players ante 1 and get one of {self.ranks * self.suits} cards each, of {self.ranks} "
            f"ranks in {self.suits} suits. After a round of betting one card is dealt face up, and a second round "
            f"follows. Bets and raises are {first:g} in the first round and {second:g} in the second, at most "
            f"{self.cap} in each. A pair with the card on the table wins, else the higher card; equal cards split the "
            "pot."
        )


@lru_cache(maxsize=100_000)
def _chances(cards: tuple[int, ...], ranks: int, suits: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Returns the ranks that are left after some cards, and their probabilities."""
    left = [suits - cards.count(rank) for rank in range(ranks)]
    there = tuple(rank for rank in range(ranks) if left[rank])
    return there, tuple(left[rank] / sum(left) for rank in there)
