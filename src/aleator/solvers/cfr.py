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

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.regret_rule import DCFR, RegretRule
from aleator.solvers.update_solver import UpdateSolver
from aleator.solvers.updates import CFRUpdate
from aleator.trees.beliefs import Reach
from aleator.trees.public_tree import PublicTree

Nodes = npt.NDArray[np.int64]


class CFR(UpdateSolver):
    """A CFR solver that can be run, asked, saved and resumed.

    `root_reach` ([H0], [H1]) is each player's reach at the root of a subgame, by default 1 for every hand.
    """

    _update: CFRUpdate

    def __init__(
        self,
        tree: PublicTree,
        rule: RegretRule = DCFR,
        *,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
        root_reach: Reach | None = None,
    ) -> None:
        self.rule = rule
        engine = CpuEngine(tree, dtype, threads)
        super().__init__(tree, engine, CFRUpdate(engine, rule, root_reach), root_reach)

    @property
    def engine(self) -> CpuEngine:
        """What walks the tree."""
        return self._engine

    def update(self, player: int) -> None:
        """Runs one player's half of an iteration with alternating updates; player 1's ends the iteration.

        For algorithms that do something in between; `run` does the same without a stop.
        """
        if player == 0:
            self._update.begin(self.iteration + 1)
        self._engine.evaluate(player, self._update.memory[1 - player].reach)
        self._update.traverse(player)
        self._update.move(player)
        self.iteration += player

    def last_cfvs(self, player: int, nodes: Nodes) -> FloatArray:
        """Returns [K, H]: cfvs of some nodes in the last traversal, which must be the player's, padded with 0."""
        side, values = self._engine.layout.sides[player], self._engine.layout.values
        hand = np.arange(int(side.hands[nodes].max(initial=0)))
        real = hand < side.hands[nodes][:, None]
        return np.where(real, values[np.where(real, side.value_at[nodes][:, None] + hand, 0)], 0.0)

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Sets a player's reach [H] at the root from now on: a gadget above the root decides it."""
        vector = self._update.memory[player].reach
        vector[: len(reach)] = reach
        self._update.move(player)

    def average_reach(self, player: int) -> Vector:
        """Returns a player's reach under its average policy, of all nodes; `reach_at` reads it."""
        return self._update.average_reach(player)

    def reach_at(self, player: int, node: int, reach: Vector) -> FloatArray:
        """Returns [H]: a player's reach at a node."""
        side = self.engine.layout.sides[player]
        row: FloatArray = reach[side.reach_at[node] :][: side.hands[node]].astype(np.float64)
        return row

    def match(self) -> None:
        """Goes over to the policies that match the regrets, after these were changed."""
        for player, own in enumerate(self._update.memory):
            self.engine.match_regrets(player, own.regret, own.policy)
            self._update.move(player)

    def lock(self, nodes: Nodes, blocks: FloatArray) -> None:
        """Holds decisions of one player at a policy from now on; calling it again replaces what they are held at.

        Args:
            nodes: [K] decisions of one player with equally many actions.
            blocks: [K, A, H], padded where hands are fewer.
        """
        layout, player = self._engine.layout, int(self.tree.actor[nodes[0]])
        own, side = self._update.memory[player], layout.sides[player]
        action, hand = np.arange(blocks.shape[1]), np.arange(blocks.shape[2])
        start = layout.structure.policy_at[nodes][:, None, None]
        places = start + action[:, None] * side.width[nodes][:, None, None] + hand
        real = np.broadcast_to(hand < side.hands[nodes][:, None, None], places.shape)
        layout.structure.locked[nodes] = True
        for vector in (own.policy, own.policy_sum):
            vector[places[real]] = blocks[real]
        self._update.move(player)
