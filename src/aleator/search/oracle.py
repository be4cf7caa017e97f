"""The exact leaf value: solves the game below every leaf at the beliefs that it is asked for.

Algorithm:
    All leaves are solved at once, as one forest, by CFR at the players' normalised beliefs, until at each leaf NashConv, per
    unit of the probability of being there, is at most the precision. A player's values are those of a best response to the
    opponent's average policy: they are defined for hands that the player never holds there, too, and exceed the values in
    equilibrium by at most the precision, taken together.

Reference:
    CFR-D (Burch, Johanson, Bowling 2014) as described in ReBeL App. E: "we solve a subgame rooted at the leaf".

Deviations:
    Beliefs of a player who never comes to a leaf are uniform there, so that the answer is the same whenever it is asked for.

Status: tests/search/test_leaf_value.py.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from aleator.errors import SolveError
from aleator.search.leaf_value import LeafForest, believed
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.regret_rule import PCFR_PLUS, RegretRule
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame

_FIRST_LOOK, _MOST_ITERATIONS = 16, 1_000_000
_KEPT = 8  # new beliefs begin with the regrets of so many iterations at the old ones


class OracleValue:
    """Exact leaf values, to a precision.

    Attributes:
        precision: the largest NashConv that a leaf's solution may have, in payoff units given that the leaf is reached.
        calls, leaves, iterations: how often it was asked, for how many leaves in all, and iterations of CFR that took.
    """

    def __init__(self, precision: float = 1e-4, rule: RegretRule = PCFR_PLUS) -> None:
        if not precision > 0.0:
            raise SolveError(f"the oracle's precision must be positive, not {precision}")
        self.precision = precision
        self.calls = self.leaves = self.iterations = 0
        self._rule = rule
        self._solvers: WeakKeyDictionary[Subgame, _LeafSolver] = WeakKeyDictionary()

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns the values of a solution at the beliefs that `reach` means; see `LeafValue.cfvs`."""
        solver = self.solve(subgame, reach)
        first, second = solver.forest.cfvs(solver.beliefs, solver.policies, best=True)
        return first * reach[1].sum(axis=1, keepdims=True), second * reach[0].sum(axis=1, keepdims=True)

    def cfvs_of_solution_at(self, subgame: Subgame, solved_at: Reach, reach: Reach) -> Reach:
        """Returns the cfvs at `reach` of the policies that solve the leaves at the beliefs of `solved_at` (for CFR-AVE)."""
        solver = self.solve(subgame, solved_at)
        return solver.forest.cfvs(reach, solver.policies)

    def solve(self, subgame: Subgame, reach: Reach) -> _LeafSolver:
        """Returns the solver of a subgame's leaves after solving them at the beliefs that `reach` ([L, H0], [L, H1]) means.

        It is kept as long as the subgame is, and begins where it was left the last time.
        """
        if subgame not in self._solvers:
            self._solvers[subgame] = _LeafSolver(subgame, self._rule)
        solver = self._solvers[subgame]
        self.calls += 1
        self.leaves += len(subgame.leaves)
        self.iterations += solver.solve(reach, self.precision)
        return solver


class _LeafSolver:
    """CFR on everything below the leaves of one subgame.

    Attributes:
        forest: what lies below the leaves.
        beliefs: [L, H0], [L, H1] for which it was solved last.
        policies: the solution, in the engine's order.
    """

    def __init__(self, subgame: Subgame, rule: RegretRule) -> None:
        rule.refuse_sharp_matching()
        self.forest = LeafForest(subgame)
        self.beliefs: Reach = (np.zeros((0, 0)), np.zeros((0, 0)))
        layout = self.forest.engine.layout
        self.policies: tuple[Vector, Vector] = (np.zeros(layout.vector_size[0]), np.zeros(layout.vector_size[1]))
        self._rule = rule
        self._real = subgame.leaf_mask(0), subgame.leaf_mask(1)
        self._iterations = 0
        self._memory = (
            layout.memory(0, optimistic=rule.optimistic),
            layout.memory(1, optimistic=rule.optimistic),
        )
        self._deals = [subgame.tree.game.deal(subgame.tree.states[leaf]) for leaf in subgame.leaves]
        for player, own in enumerate(self._memory):
            self.forest.engine.match_regrets(player, own.regret, own.policy)

    def policy(self) -> Policy:
        """Returns the solution as a policy of the forest."""
        layout = self.forest.engine.layout
        return Policy(self.forest.tree, (layout.unpad(0, self.policies[0]), layout.unpad(1, self.policies[1])))

    def solve(self, reach: Reach, precision: float) -> int:
        """Solves all leaves at the beliefs of `reach`; returns the iterations that it took, none if they are the last ones."""
        engine = self.forest.engine
        beliefs = (believed(reach[0], self._real[0]), believed(reach[1], self._real[1]))
        if self._iterations and all(np.array_equal(new, old) for new, old in zip(beliefs, self.beliefs, strict=True)):
            return 0
        self.beliefs = beliefs
        mass = np.array(
            [b0[: len(d)] @ d @ b1[: len(d.T)] for b0, b1, d in zip(*self.beliefs, self._deals, strict=True)]
        )
        for player, own in enumerate(self._memory):
            own.policy_sum[:] = 0.0
            own.regret[:] *= min(1.0, _KEPT / max(self._iterations, 1))
            own.instant[:] = 0.0
            self.forest.rows.put_reach(player, self.beliefs[player], own.reach)
            engine.push_reach(player, own.policy, own.reach)
        done, chunk = 0, _FIRST_LOOK
        while True:
            schedule = self._rule.schedule(done + 1, chunk)
            engine.iterate(self._memory, schedule, done + 1, hedge=False, alternating=self._rule.alternating)
            done += chunk
            for player, own in enumerate(self._memory):
                engine.match_regrets(player, own.policy_sum, self.policies[player])
            best = self.forest.cfvs(self.beliefs, self.policies, best=True)
            gain = sum((best[player] * self.beliefs[player]).sum(axis=1) for player in (0, 1))
            if (gain <= precision * mass + 1e-15).all():
                self._iterations = done
                return done
            if done >= _MOST_ITERATIONS:
                raise SolveError(f"the oracle did not reach a precision of {precision} in {done:,} iterations")
            chunk = max(_FIRST_LOOK, done // 4)
