"""Smuggler: customs, but the traveller decides in secret what to pack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from customs import ITEMS, Customs, Moves

from aleator.games import Child


class Smuggler(Customs):
    """A state is () before packing, then "packed" and the moves of customs."""

    name = "smuggler"

    def actor(self, state: Moves) -> int:
        return super().actor(state[1:]) if state else 0

    def actions(self, state: Moves) -> Sequence[str]:
        return super().actions(state[1:]) if state else [f"pack {items}" for items in ITEMS]

    def children(self, state: Moves) -> Sequence[Child[Moves]]:
        if state:
            return super().children(state)
        traveller = ITEMS * 1 + 0  # hand h' arises by action h' from hand 0 of 1: action * H + h
        inspector = np.array([0, 0])  # whatever the dog does, the inspector had hand 0 before
        return [Child(("packed",), "packed", (traveller, inspector))]

    def hands(self, state: Moves, player: int) -> Sequence[str]:
        return super().hands(state[1:], player) if state else ["-"]

    def deal(self, state: Moves) -> npt.NDArray[np.float64]:
        return super().deal(state[1:]) * len(ITEMS) if state else np.ones((1, 1))  # chance has only the dog left

    def utility(self, state: Moves) -> npt.NDArray[np.float64]:
        return super().utility(state[1:])
