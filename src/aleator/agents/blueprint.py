"""An agent that plays a policy which was found before."""

from __future__ import annotations

from typing import Any

from aleator.agents.base import Agent, node_of
from aleator.errors import AgentError
from aleator.games.base import FloatArray, Game
from aleator.games.table import PublicHistory
from aleator.solvers.limits import Limits, OnProgress
from aleator.solvers.solve import solve
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree


class BlueprintAgent(Agent):
    """Plays a policy of the whole game, and believes that the opponent does, too."""

    name = "blueprint"

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.tree.game)
        self.blueprint = policy

    @classmethod
    def solving(
        cls, game: Game[Any], limits: Limits | None = None, *, on_progress: OnProgress | None = None
    ) -> BlueprintAgent:
        """Returns an agent that plays an approximate equilibrium, found now by DCFR or by the solver of spots."""
        return cls(solve(build_tree(game), limits=limits or Limits(), on_progress=on_progress).policy)

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: the blueprint there."""
        return self.blueprint[node_of(self.blueprint.tree, history.events)]

    def policy(self, tree: PublicTree) -> Policy:
        """Returns the policy."""
        if tree.states != self.blueprint.tree.states:
            raise AgentError(f"the blueprint belongs to another tree of {self.game.name}")
        return Policy(tree, self.blueprint.probabilities)
