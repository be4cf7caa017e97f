"""CFR+ in an abstraction, where the hands of a bucket share one policy: blueprints of different quality.

Algorithm:
    CFR+ with linear averages on the whole tree. Instant regrets of the hands in a bucket are summed, and all of them
    play the bucket's policy. A blueprint may be exact before the subgames and coarse inside them.

Reference: thesis 2.4 and 5.1.8, where blueprints are abstracted.
Deviations: the last iteration's policy, nearly a best response within the abstraction, can be had, too.
Status: tests/apps/test_safe_papers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.trees.policy import Policy
from aleator.trees.public_tree import IDENTITY, PublicTree

Buckets = Callable[[Any, int], npt.NDArray[np.int64] | None]


class BucketedCFR:
    """CFR+ with linear averaging on a tree with public moves only.

    Args:
        tree: the tree.
        buckets: `buckets(state, player)` returns [H] the bucket of each hand, None where each hand has its own.
    """

    def __init__(self, tree: PublicTree, buckets: Buckets) -> None:
        if (tree.origin_start != IDENTITY).any():
            raise ValueError("buckets are for games in which hands keep their numbers")
        self.tree = tree
        self.iteration = 0
        self._engine = CpuEngine(tree)
        self._sides = tuple(_Side(self._engine, player, buckets) for player in (0, 1))

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each for both players in turn."""
        for _ in range(iterations):
            self.iteration += 1
            for player in (0, 1):
                reach = self._sides[1 - player].reach(self._engine)
                self._sides[player].update(self._engine, reach, self.iteration)

    def average_policy(self) -> Policy:
        """Returns the blueprint."""
        return Policy(self.tree, (self._sides[0].match("policy_sum"), self._sides[1].match("policy_sum")))

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration."""
        return Policy(self.tree, (self._sides[0].match("regret"), self._sides[1].match("regret")))


class _Side:
    """One player: entries k of the flat policy vector, and for each of them its bucket's entry."""

    def __init__(self, engine: CpuEngine, player: int, buckets: Buckets) -> None:
        tree, side = engine.tree, engine.layout.sides[player]
        self.player = player
        size = tree.policy_size[player]
        self._child, self._node, self._reach, self._entry, self._infostate = np.zeros((5, size), dtype=np.int64)
        places = infostates = 0
        known: dict[Any, Any] = {}
        for node in tree.decisions(player):
            actions, hands = int(tree.num_actions[node]), int(tree.num_hands[player, node])
            state = tree.states[node]
            if state not in known:
                bucket = buckets(state, player)
                known[state] = np.arange(hands) if bucket is None else np.unique(bucket, return_inverse=True)[1]
            bucket = known[state]
            count = int(bucket.max()) + 1
            block = slice(int(tree.policy_start[node]), int(tree.policy_start[node]) + actions * hands)
            action, hand = np.divmod(np.arange(actions * hands), hands)
            self._child[block] = side.value_at[tree.first_child[node] + action] + hand
            self._node[block] = side.value_at[node] + hand
            self._reach[block] = side.reach_at[node] + hand
            self._entry[block] = places + action * count + bucket[hand]
            self._infostate[block] = infostates + bucket[hand]
            places += actions * count
            infostates += count
        self.regret, self.policy_sum = np.zeros((2, places))
        self._infostate_of = np.zeros(places, dtype=np.int64)
        self._infostate_of[self._entry] = self._infostate

    def match(self, name: str) -> FloatArray:
        """Returns the policy in proportion to regrets or sums of policies, uniform where there are none."""
        weights: FloatArray = getattr(self, name)
        infostate = self._infostate_of
        total = np.bincount(infostate, weights)
        filled = np.where(total[infostate] > 0, weights, 1.0)
        policy: FloatArray = (filled / np.bincount(infostate, filled)[infostate])[self._entry]
        return policy

    def reach(self, engine: CpuEngine) -> npt.NDArray[Any]:
        """Returns the player's reach under the current policy, in the engine's order."""
        reach = engine.layout.new_reach(self.player)
        engine.push_reach(self.player, engine.layout.pad(self.player, self.match("regret")), reach)
        return reach

    def update(self, engine: CpuEngine, opponent_reach: npt.NDArray[Any], iteration: int) -> None:
        """Adds the iteration's regrets and policy, hand by hand, to those of the buckets."""
        policy, reach = self.match("regret"), self.reach(engine)[self._reach]
        padded = engine.layout.pad(self.player, policy)
        values = engine.values(self.player, opponent_reach, padded, best=False)
        instant = np.bincount(self._entry, values[self._child] - values[self._node], minlength=len(self.regret))
        self.regret = np.maximum(self.regret + instant, 0.0)
        self.policy_sum += iteration * np.bincount(self._entry, reach * policy, minlength=len(self.regret))
