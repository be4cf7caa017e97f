"""An agent that asks somebody what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aleator.agents.base import Agent
from aleator.errors import AgentError
from aleator.games.base import FloatArray, Game
from aleator.games.table import Observation
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class HumanAgent(Agent):
    """Plays what a function answers: a prompt in a terminal, a page in a browser."""

    name = "human"

    def __init__(self, game: Game[Any], ask: Callable[[Observation], int]) -> None:
        super().__init__(game)
        self._ask = ask

    def act(self, observation: Observation) -> int:
        """Returns the answer."""
        return self._ask(observation)

    def probabilities(self, observation: Observation) -> FloatArray:
        """Returns [A]: certainty of the answer."""
        return np.asarray(np.eye(len(self.game.actions(observation.state)))[self.act(observation)])

    def policy(self, tree: PublicTree) -> Policy:
        """Raises AgentError: nobody knows."""
        raise AgentError("a human's policy cannot be read")
