"""Games of perfect information without chance, as positions: histories to the same position are one public state.

Everybody sees everything, so each player has one hand and a public state is the whole state of the game. What is left
of it does not depend on how it was reached: tic-tac-toe has 549,946 histories and 5,478 positions. Solvers that build
the tree see the histories; whoever goes by public states (`aleator.learning.rebel.subgames`) sees each position once.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from math import isfinite
from statistics import median
from typing import Protocol

import numpy as np

from aleator.errors import GameError, TooBigError
from aleator.games.base import TERMINAL, FloatArray, Game, Payoff
from aleator.games.extensive.walk import Playable, estimate_histories, size_text
from aleator.meter import Meter

MAX_POSITIONS = 200_000
_HOPELESS = 1e18  # histories of a game that surely has too many positions
_PLAYOUTS = 1000
_DEAL = np.ones((1, 1))


class Position(Playable, Protocol):
    """A position of a game of perfect information without chance; the first one is the start of the game."""

    def child(self, action: int, /) -> Position:
        """Returns the position after an action."""

    def utility(self) -> float:
        """Returns what player 0 wins at the end."""

    def action_name(self, action: int, /) -> str:
        """Returns the name of an action."""

    def key(self) -> Hashable:
        """Returns what the rest of the game depends on: positions with equal keys are the same."""

    def features(self) -> FloatArray | None:
        """Returns what a network is told about the position, None if there is nothing better than its number."""

    def picture(self) -> str:
        """Returns the position as people look at it, in lines of text."""


class NotMergedError(GameError):
    """Two histories with the same key do not go on in the same way."""


class PositionGame(Game[int]):
    """A game found by walking its positions. A state is the number of a position, nearer ones first."""

    def __init__(self, first: Position, *, name: str, max_positions: int = MAX_POSITIONS) -> None:
        """Finds all positions.

        Raises:
            TooBigError: there are more than `max_positions`, or they take more than half of the memory that is free.
            NotMergedError: keys leave out something that the rest of a game depends on.
        """
        self.name = name
        histories = median(estimate_histories(first, name, random.Random(0), look_ahead=False))
        if histories > _HOPELESS:
            raise TooBigError(
                f"{name} has {size_text(histories)} histories; at most {max_positions:,} positions are allowed"
            )
        self._positions: list[Position] = [first]
        self._children: list[tuple[int, ...]] = []
        with Meter(name, f"finding the positions of {name}", "positions", most=max_positions) as meter:
            self._find(meter)
        self._actor = [position.actor() for position in self._positions]
        self._names: dict[int, tuple[str, ...]] = {}
        self._check(first, random.Random(1))

    def _find(self, meter: Meter) -> None:
        """Finds all positions, beginning with the first."""
        number: dict[Hashable, int] = {self._positions[0].key(): 0}
        meter.add()
        for position in self._positions:  # grows on the way
            following = []
            if position.actor() == TERMINAL and not isfinite(position.utility()):
                raise GameError(f"{self.name}: the payoff at {position.key()!r} is not a finite number")
            for action in () if position.actor() == TERMINAL else position.actions():
                child = position.child(action)
                following.append(number.setdefault(child.key(), len(self._positions)))
                if following[-1] == len(self._positions):
                    self._positions.append(child)
                    meter.add()
            self._children.append(tuple(following))

    def _check(self, first: Position, rng: random.Random) -> None:
        """Plays at random and compares with the positions that were found, which may come from other histories."""
        for _ in range(_PLAYOUTS):
            position, state = first, 0
            while True:
                known = self._positions[state]
                over = position.actor() == TERMINAL
                same = position.actor() == known.actor() and position.key() == known.key()
                if same and over:
                    same = position.utility() == known.utility()
                elif same:
                    same = list(position.actions()) == list(known.actions())
                if not same:
                    raise NotMergedError(f"{self.name}: histories that lead to {position.key()!r} go on differently")
                if over:
                    break
                action = rng.randrange(len(self._children[state]))
                position, state = position.child(position.actions()[action]), self._children[state][action]

    def root(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return self._actor[state]

    def actions(self, state: int) -> Sequence[str]:
        if self._actor[state] == TERMINAL:
            return ()
        if state not in self._names:
            position = self._positions[state]
            self._names[state] = tuple(position.action_name(action) for action in position.actions())
        return self._names[state]

    def child(self, state: int, action: int) -> int:
        return self._children[state][action]

    def hands(self, state: int, player: int) -> Sequence[str]:
        return ("-",)

    def num_hands(self, state: int) -> tuple[int, int]:
        return 1, 1

    def deal(self, state: int) -> FloatArray:
        return _DEAL.copy()

    def utility(self, state: int) -> FloatArray:
        return np.array([[self._positions[state].utility()]])

    def payoff(self, state: int) -> Payoff:
        utility = self._positions[state].utility()
        return Payoff("won", utility) if utility else Payoff("nothing", 1.0)

    def features(self, state: int) -> FloatArray | None:
        return self._positions[state].features()

    def picture(self, state: int) -> str:
        return self._positions[state].picture()
