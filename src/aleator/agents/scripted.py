"""Agents that follow a script: opponents for comparison and for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aleator.agents.base import Agent
from aleator.errors import AgentError
from aleator.games.base import FloatArray, Game
from aleator.games.table import Observation
from aleator.trees.policy import Policy, block, legal_actions, normalised
from aleator.trees.public_tree import PublicTree

# weights of the legal actions, numbered from 0, of which there are n
_SCRIPTS: dict[str, Callable[[int], FloatArray]] = {
    "uniform": np.ones,
    "first": lambda n: np.eye(n)[0],
    "last": lambda n: np.eye(n)[-1],
}
SCRIPTS = tuple(_SCRIPTS)


class ScriptedAgent(Agent):
    """Plays every legal action alike (`uniform`), or always the first or the last one."""

    def __init__(self, game: Game[Any], script: str = "uniform") -> None:
        super().__init__(game)
        if script not in _SCRIPTS:
            raise AgentError(f"unknown script {script!r}; allowed: {', '.join(SCRIPTS)}")
        self.name = script
        self._weigh = _SCRIPTS[script]

    def probabilities(self, observation: Observation) -> FloatArray:
        """Returns [A]: what the script says."""
        chances = np.zeros(len(self.game.actions(observation.state)))
        chances[list(observation.legal)] = self._weigh(len(observation.legal))
        return np.asarray(chances / chances.sum())

    def policy(self, tree: PublicTree) -> Policy:
        """Returns what the script says everywhere."""
        legal, found = legal_actions(tree), (np.zeros(tree.policy_size[0]), np.zeros(tree.policy_size[1]))
        for node in np.flatnonzero(tree.actor >= 0):
            allowed, here = block(tree, legal, int(node)), block(tree, found, int(node))
            for hand in range(allowed.shape[1]):
                actions = np.flatnonzero(allowed[:, hand])
                here[actions, hand] = self._weigh(len(actions))
        return normalised(tree, found)
