"""What a game of many players is: whoever walks or samples its histories asks the questions below and nothing else.

Two-player games are described from the public's point of view (`aleator.games.base.Game`), which is what makes them
quick. Here a history is asked by itself, for any number of players and any payoffs. A history is a small hashable value
that has everything: what chance dealt and what was done. `two_players` turns every two-player game into such a game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from aleator.errors import GameError
from aleator.games.base import CHANCE

MAX_PLAYERS = 10
History = TypeVar("History")


class MultiplayerGame(ABC, Generic[History]):
    """A game of P players with perfect recall.

    Attributes:
        name: how it is called.
        num_players: P.
    """

    name: str
    num_players: int

    @abstractmethod
    def start(self) -> History:
        """Returns the history in which nothing has happened."""

    @abstractmethod
    def actor(self, history: History) -> int:
        """Returns who moves: a player, CHANCE or TERMINAL."""

    @abstractmethod
    def outcomes(self, history: History) -> Sequence[float]:
        """Returns the probabilities of chance's moves; where chance moves."""

    @abstractmethod
    def legal(self, history: History) -> Sequence[str]:
        """Returns the names of the actions that the actor has; where a player moves."""

    @abstractmethod
    def act(self, history: History, action: int) -> History:
        """Returns the history after an action or a move of chance, by its number."""

    @abstractmethod
    def infostate(self, history: History, player: int) -> Hashable:
        """Returns all that a player knows, whoever moves."""

    def public(self, history: History) -> Hashable:
        """Returns all that everybody knows; None if the game does not say, which is enough unless one searches."""
        return None

    @abstractmethod
    def returns(self, history: History) -> Sequence[float]:
        """Returns what each player has won; where the game is over."""

    def rules(self) -> str:
        """Returns the rules in a paragraph, for whoever sits down to play."""
        return "This game does not say its rules."

    def deal(self, rng: np.random.Generator) -> History:
        """Returns a history in which chance has moved until a player is to act."""
        return self.settle(self.start(), rng)

    def settle(self, history: History, rng: np.random.Generator) -> History:
        """Returns the history after all moves of chance that are due."""
        while self.actor(history) == CHANCE:
            history = self.act(history, int(rng.choice(len(chances := self.outcomes(history)), p=chances)))
        return history

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def check_players(players: int, most: int = MAX_PLAYERS, *, of: str) -> None:
    """Raises GameError unless a game can have so many players."""
    if not 2 <= players <= most:
        raise GameError(f"{of} has 2 to {most} players, not {players}")


def split_pot(chips: Sequence[float], winners: Sequence[int]) -> tuple[float, ...]:
    """Returns what each player wins who has put in that many chips, if the winners share all of them."""
    share = sum(chips) / len(winners)
    return tuple((share if player in winners else 0.0) - paid for player, paid in enumerate(chips))
