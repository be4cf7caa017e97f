"""An agent that plays a policy which was found before."""

from __future__ import annotations

from itertools import takewhile
from operator import eq
from typing import Any

from aleator.agents.base import Agent
from aleator.games.base import CHANCE, FloatArray, Game
from aleator.games.table import PublicHistory
from aleator.solvers.limits import Limits, OnProgress
from aleator.solvers.solve import solve
from aleator.trees.beliefs import PublicBeliefState
from aleator.trees.policy import HistoryPolicy, Policy
from aleator.trees.public_tree import PublicTree, build_tree


class BlueprintAgent(Agent):
    """Plays a policy of the whole game, and believes that the opponent does, too."""

    name = "blueprint"

    def __init__(self, policy: HistoryPolicy) -> None:
        super().__init__(policy.game)
        self.blueprint = policy
        self._events: tuple[int, ...] = ()
        self._beliefs = [PublicBeliefState.initial(policy.game)]  # before and after each of these events

    @classmethod
    def solving(
        cls, game: Game[Any], limits: Limits | None = None, *, on_progress: OnProgress | None = None
    ) -> BlueprintAgent:
        """Returns an agent that plays an approximate equilibrium, found now by DCFR or by the solver of spots."""
        return cls(solve(build_tree(game), limits=limits or Limits(), on_progress=on_progress).policy)

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: the blueprint there."""
        return self.blueprint.at(history.events)

    def belief(self, history: PublicHistory) -> PublicBeliefState:
        """Returns what everybody believes if both play the blueprint; it goes on from the last history."""
        known = sum(takewhile(bool, map(eq, self._events, history.events)))
        beliefs = self._beliefs[: known + 1]
        for number in range(known, len(history.events)):
            acts = self.game.actor(beliefs[-1].state) != CHANCE
            policy = self.blueprint.at(history.events[:number]) if acts else None
            beliefs.append(beliefs[-1].after(history.events[number], policy))
        self._events, self._beliefs = history.events, beliefs
        return beliefs[-1]

    def policy(self, tree: PublicTree) -> Policy:
        """Returns the policy."""
        return self.blueprint.on(tree)
