"""The subtraction game: take one, two or three of some matches in turn; whoever takes the last one wins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from aleator.games.base import TERMINAL, FloatArray
from aleator.games.extensive.positions import PositionGame


class Matches(NamedTuple):
    """`left` matches, `player` to move after `moves` moves; `keyed` says what a position's key tells of that."""

    left: int
    player: int = 0
    moves: int = 0
    keyed: tuple[str, ...] = ("left", "player")

    def actor(self) -> int:
        return self.player if self.left else TERMINAL

    def actions(self) -> Sequence[int]:
        return range(1, min(self.left, 3) + 1)

    def outcomes(self) -> Sequence[tuple[int, float]]:
        return ()

    def child(self, action: int, /) -> Matches:
        return self._replace(left=self.left - action, player=1 - self.player, moves=self.moves + 1)

    def utility(self) -> float:
        return 1.0 if self.player == 1 else -1.0

    def action_name(self, action: int, /) -> str:
        return f"take {action}"

    def key(self) -> Hashable:
        return tuple(getattr(self, name) for name in self.keyed)

    def features(self) -> FloatArray:
        return np.array([self.left / 10, float(self.left % 2), float(self.left % 4 == 0)])

    def picture(self) -> str:
        return "|" * self.left


def subtraction(matches: int = 10) -> PositionGame:
    """Returns the game; whoever faces a multiple of four loses."""
    return PositionGame(Matches(matches), name=f"subtraction:{matches}")


class Subtraction(PositionGame):
    """The game with ten matches, for `python:FILE.py:Subtraction`."""

    def __init__(self) -> None:
        super().__init__(Matches(10), name="subtraction")
