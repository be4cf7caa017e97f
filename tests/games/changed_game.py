"""Random games in any unit, in which an answer of the rules can be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aleator.games.base import TERMINAL
from tests.games.random_game import RandomGame


class Changed(RandomGame):
    """A random game in which one answer of the rules is changed.

    Args:
        seed: of the game.
        method: whose answer.
        change: from the right answer and the state to what the rules say.
        unit: what all payoffs are counted in.
    """

    def __init__(
        self, seed: int, method: str = "", change: Callable[[Any, int], Any] | None = None, unit: float = 1.0
    ) -> None:
        super().__init__(seed)
        for node in self._nodes:
            if node.utility is not None:
                node.utility = node.utility * unit
        if change is not None:
            right = getattr(self, method)
            setattr(self, method, lambda state, *rest: change(right(state, *rest), state))

    def hands(self, state: int, player: int) -> list[str]:
        return [f"hand {k}" for k in range(self._nodes[state].deal.shape[player])]

    def states(self, *, terminal: bool) -> list[int]:
        """Returns the states that are terminals, or those that are not."""
        return [state for state in range(len(self._nodes)) if (self.actor(state) == TERMINAL) == terminal]
