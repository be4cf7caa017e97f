"""An agent that asks somebody what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aleator.agents.base import Agent
from aleator.errors import AgentError
from aleator.games.base import FloatArray, Game
from aleator.games.table import Observation, PublicHistory


class HumanAgent(Agent):
    """Plays what a function answers: a prompt in a terminal, a page in a browser."""

    name = "human"

    def __init__(self, game: Game[Any], ask: Callable[[Observation], int]) -> None:
        super().__init__(game)
        self._ask = ask

    def act(self, observation: Observation) -> int:
        """Returns the answer."""
        return self._ask(observation)

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Raises AgentError: nobody knows."""
        raise AgentError("a human's policy cannot be read")

    def belief(self, history: PublicHistory) -> None:
        """Returns None: nobody knows that either."""
