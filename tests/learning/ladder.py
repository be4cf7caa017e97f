"""A game with far more public states than can be listed: each of two players goes up or stays, in turn, many times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game


class Ladder(Game[tuple[int, ...]]):
    """Each player has one of three hands; every four moves a public coin is tossed, which good hands make show 1.

    At the end the better hand wins one more than the moves that differ from the first.
    """

    def __init__(self, moves: int = 24) -> None:
        self.moves, self.name = moves, f"ladder:{moves}"
        self._deal = (1.0 + np.eye(3)) / 12.0
        self._shows_one = 0.3 + 0.1 * np.add.outer(np.arange(3), np.arange(3))

    def root(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        if len(state) == self.moves:
            return TERMINAL
        return CHANCE if len(state) % 5 == 4 else len(state) % 2

    def actions(self, state: tuple[int, ...]) -> Sequence[str]:
        return ("stay", "up")

    def child(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def hands(self, state: tuple[int, ...], player: int) -> Sequence[str]:
        return ("low", "middle", "high")

    def deal(self, state: tuple[int, ...]) -> FloatArray:
        result = self._deal
        for coin in state[4::5]:
            result = result * (self._shows_one if coin else 1.0 - self._shows_one)
        return result

    def utility(self, state: tuple[int, ...]) -> FloatArray:
        better = np.sign(np.subtract.outer(np.arange(3), np.arange(3)))
        return better * (1.0 + sum(move != state[0] for move in state))

    def features(self, state: tuple[int, ...]) -> FloatArray:
        features = np.zeros(self.moves)
        features[: len(state)] = 2.0 * np.array(state, dtype=np.float64) - 1.0
        return features
