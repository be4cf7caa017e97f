"""Agents trained by Deep CFR, SD-CFR, NFSP or Double Neural CFR: networks of infostates, no search.

An agent with one network plays what it says. One with a mixture (SD-CFR) draws a network for every game, as its
training weighs them; what it plays on average is known exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aleator.agents.base import Agent
from aleator.errors import AgentError
from aleator.games.base import FloatArray, Game
from aleator.games.table import PublicHistory
from aleator.learning.sampled.model import TrainedPolicies, load_model
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class SampledAgent(Agent):
    """Plays what a method that samples histories has trained.

    Args:
        game: what it plays.
        kind: the method, which must be the file's.
        file: by `aleator train`.
    """

    def __init__(self, game: Game[Any], kind: str, file: Path | str) -> None:
        super().__init__(game)
        model = load_model(file)
        if model.kind != kind:
            raise AgentError(f"{file} was trained by {model.kind}, not by {kind}: call it {model.kind}:{file}")
        self.name = kind
        self._trained = TrainedPolicies(model, game)
        self._drawn = (0, 0)

    def begin(self, seat: int, rng: np.random.Generator) -> None:
        """Begins a new game, for which a policy is drawn in each seat, where there are several."""
        super().begin(seat, rng)
        first, second = (int(rng.choice(len(own), p=own)) if len(own) > 1 else 0 for own in self._trained.chances)
        self._drawn = (first, second)

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: what the policy that was drawn does there."""
        return self._trained.policy(history.seat, self._drawn[history.seat]).at(history.events)

    def policy(self, tree: PublicTree) -> Policy:
        """Returns what is played on average over all draws."""
        average = self._trained.average()
        if tree.states != average.tree.states:
            raise AgentError(f"the networks belong to another tree of {self.game.name}")
        return Policy(tree, average.probabilities)
