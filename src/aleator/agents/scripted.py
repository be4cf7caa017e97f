"""Agents that follow a script: opponents for comparison and for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.agents.base import Agent
from aleator.errors import AgentError, check_known
from aleator.games.base import FloatArray, Game
from aleator.games.table import PublicHistory, legal_actions_at

BoolArray = npt.NDArray[np.bool_]

# weights of the actions from what is legal, both [A, H]
_SCRIPTS: dict[str, Callable[[BoolArray], FloatArray]] = {
    "uniform": lambda legal: legal / legal.sum(axis=0),
    "first": lambda legal: legal & (legal.cumsum(axis=0) == 1),
    "last": lambda legal: legal & (legal[::-1].cumsum(axis=0)[::-1] == 1),
}
SCRIPTS = tuple(_SCRIPTS)


class ScriptedAgent(Agent):
    """Plays every legal action alike (`uniform`), or always the first or the last one."""

    def __init__(self, game: Game[Any], script: str = "uniform") -> None:
        super().__init__(game)
        check_known(script, SCRIPTS, "script", AgentError)
        self.name = script
        self._weigh = _SCRIPTS[script]

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: what the script says."""
        return self._weigh(legal_actions_at(self.game, history.state)).astype(np.float64)
