"""Counterfactual regret minimisation on a public tree; the rule says which member of the family.

Algorithm:
    Repeat: for each player i push the opponent's reach pi_{-i} down the tree, evaluate the terminals, pull the
    counterfactual values v(I, a) up; regret r(I, a) = v(I, a) - v(I); the regret rule turns regrets into the next
    policy. The average of the policies, weighted by the player's own reach, converges to an equilibrium.

Reference: thesis 2.3.4 to 2.3.7 and 3.1; the rules are in `regret_rule`.
Deviations: none. Updates alternate unless the rule says otherwise; an *iteration* updates both players.
Status: equal to OpenSpiel's CFR, CFR+ and DCFR iterate by iterate (tests/solvers/test_against_openspiel.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Memory, Vector
from aleator.solvers.regret_rule import DCFR, HEDGE, RegretRule
from aleator.solvers.state import TreeSolver, at_root, check_no_leaves, restore_vectors
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

Nodes = npt.NDArray[np.int64]


class CFR(TreeSolver):
    """A CFR solver that can be run, asked, saved and resumed.

    `root_reach` ([H0], [H1]) is each player's reach at the root of a subgame, by default 1 for every hand.
    """

    def __init__(
        self,
        tree: PublicTree,
        rule: RegretRule = DCFR,
        *,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
        root_reach: Reach | None = None,
    ) -> None:
        check_no_leaves(tree)
        self.tree = tree
        self.rule = rule
        self.root_reach = root_reach
        self.iteration = 0
        self._engine = CpuEngine(tree, dtype, threads)
        self._memory = (self._new_memory(0), self._new_memory(1))
        for player in (0, 1):
            own = self._memory[player]
            self._engine.match_regrets(player, own.regret, own.policy)
            self._engine.push_reach(player, own.policy, own.reach)

    def _new_memory(self, player: int) -> Memory:
        rule = self.rule
        return self._engine.layout.memory(
            player, optimistic=rule.optimistic, hedge=rule.minimiser == HEDGE, root_reach=self._root(player)
        )

    def _root(self, player: int) -> FloatArray | None:
        """Returns the player's reach at the root, None for 1."""
        return None if self.root_reach is None else self.root_reach[player]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the computation."""
        return self._engine.layout.dtype

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        schedule = self.rule.schedule(self.iteration + 1, iterations)
        self._engine.iterate(
            self._memory,
            schedule,
            self.iteration + 1,
            minimiser=self.rule.minimiser,
            alternating=self.rule.alternating,
        )
        self.iteration += iterations

    def update(self, player: int) -> None:
        """Runs one player's half of an iteration with alternating updates; player 1's ends the iteration.

        For algorithms that do something in between; `run` does the same without a stop.
        """
        engine, own = self._engine, self._memory[player]
        discounts = self.rule.schedule(self.iteration + 1, 1)[0]
        engine.evaluate(player, self._memory[1 - player].reach)
        engine.update(player, own, discounts, self.iteration + 1, minimiser=self.rule.minimiser)
        engine.push_reach(player, own.policy, own.reach)
        self.iteration += player

    def last_cfvs(self, player: int, nodes: Nodes) -> FloatArray:
        """Returns [K, H]: the cfvs of some nodes in the last traversal, which must have been the player's; padded with 0."""
        side, values = self._engine.layout.sides[player], self._engine.layout.values
        hand = np.arange(int(side.hands[nodes].max(initial=0)))
        real = hand < side.hands[nodes][:, None]
        return np.where(real, values[np.where(real, side.value_at[nodes][:, None] + hand, 0)], 0.0)

    def lock(self, nodes: Nodes, blocks: FloatArray) -> None:
        """Holds decisions of one player at a policy from now on; calling it again replaces what they are held at.

        Args:
            nodes: [K] decisions of one player with equally many actions.
            blocks: [K, A, H], padded where hands are fewer.
        """
        layout, player = self._engine.layout, int(self.tree.actor[nodes[0]])
        own, side = self._memory[player], layout.sides[player]
        action, hand = np.arange(blocks.shape[1]), np.arange(blocks.shape[2])
        start = layout.structure.policy_at[nodes][:, None, None]
        places = start + action[:, None] * side.width[nodes][:, None, None] + hand
        real = np.broadcast_to(hand < side.hands[nodes][:, None, None], places.shape)
        layout.structure.locked[nodes] = True
        for vector in (own.policy, own.policy_sum):
            vector[places[real]] = blocks[real]
        self._engine.push_reach(player, own.policy, own.reach)

    def lock_policy(self, policy: Policy, nodes: Iterable[int]) -> None:
        """Holds some decisions at a policy of the same tree from now on."""
        for node in nodes:
            self.lock(np.array([node]), policy[int(node)][None])

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        return self._policy(tuple(self._average(player) for player in (0, 1)))

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration."""
        return self._policy(tuple(own.policy for own in self._memory))

    def _policy(self, vectors: tuple[Vector, ...]) -> Policy:
        first, second = (self._engine.layout.unpad(player, vectors[player]) for player in (0, 1))
        return Policy(self.tree, (first, second))

    def _average(self, player: int) -> Vector:
        """Returns the average policy in the engine's order."""
        policy = np.empty_like(self._memory[player].policy)
        self._engine.match_regrets(player, self._memory[player].policy_sum, policy)
        return policy

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""
        engine, total = self._engine, 0.0
        for player in (0, 1):
            reach = engine.layout.new_reach(1 - player, self._root(1 - player))
            engine.push_reach(1 - player, self._average(1 - player), reach)
            values = engine.values(player, reach, np.zeros(0, self.dtype), best=True)
            total += at_root(self.tree, player, values, self.root_reach)
        return total

    def state(self) -> dict[str, FloatArray]:
        """Returns everything that another solver of the same tree and rule needs to go on from here."""
        return {
            f"{name}{player}": getattr(self._memory[player], name)
            for player in (0, 1)
            for name in ("regret", "policy", "policy_sum", "instant", "moments")
        }

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same tree and rule; the results are then equal bit by bit."""
        restore_vectors(self.state(), state)
        for player in (0, 1):
            self._engine.push_reach(player, self._memory[player].policy, self._memory[player].reach)
        self.iteration = iteration
