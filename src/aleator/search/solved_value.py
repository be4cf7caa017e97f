"""Leaf values by solving: what lies below every leaf is solved at the beliefs asked about, and kept for the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from weakref import WeakKeyDictionary

import numpy as np

from aleator.search.leaf_value import LeafForest, believed
from aleator.solvers.engines.cpu.layout import Vector
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame


class LeafSolver(ABC):
    """What solves everything below the leaves of one subgame.

    Attributes:
        forest: what lies below the leaves.
        deals: per leaf, chance's part in coming there with each pair of hands.
        beliefs: [L, H0], [L, H1] for which it was solved last.
        policies: the solution, in the engine's order.
    """

    def __init__(self, subgame: Subgame) -> None:
        self.forest = LeafForest(subgame)
        self.deals = [subgame.tree.game.deal_operator(subgame.tree.states[leaf]) for leaf in subgame.leaves]
        self.beliefs: Reach = (np.zeros((0, 0)), np.zeros((0, 0)))
        layout = self.forest.engine.layout
        self.policies: tuple[Vector, Vector] = (np.zeros(layout.vector_size[0]), np.zeros(layout.vector_size[1]))
        self._real = subgame.leaf_mask(0), subgame.leaf_mask(1)

    def solve(self, reach: Reach) -> int:
        """Solves all leaves at the beliefs of `reach`; returns the iterations taken, none if they are the last."""
        beliefs = (believed(reach[0], self._real[0]), believed(reach[1], self._real[1]))
        if all(np.array_equal(new, old) for new, old in zip(beliefs, self.beliefs, strict=True)):
            return 0
        self.beliefs = beliefs
        return self.find()

    @abstractmethod
    def find(self) -> int:
        """Solves all leaves at `beliefs`; returns the iterations that it took."""

    def policy(self) -> Policy:
        """Returns the solution as a policy of the forest."""
        layout = self.forest.engine.layout
        return Policy(self.forest.tree, (layout.unpad(0, self.policies[0]), layout.unpad(1, self.policies[1])))


class SolvedValue(ABC):
    """Leaf values by solving below the leaves.

    Attributes:
        calls, leaves, iterations: how often it was asked, for how many leaves in all, and the iterations that took.
    """

    def __init__(self) -> None:
        self.calls = self.leaves = self.iterations = 0
        self._solvers: WeakKeyDictionary[Subgame, LeafSolver] = WeakKeyDictionary()

    @abstractmethod
    def new_solver(self, subgame: Subgame) -> LeafSolver:
        """Returns a solver of what lies below the leaves of a subgame."""

    def solve(self, subgame: Subgame, reach: Reach) -> LeafSolver:
        """Returns the solver of a subgame's leaves after solving them at the beliefs of `reach` ([L, H0], [L, H1]).

        It is kept as long as the subgame is, and begins where it was left the last time.
        """
        if subgame not in self._solvers:
            self._solvers[subgame] = self.new_solver(subgame)
        solver = self._solvers[subgame]
        self.calls += 1
        self.leaves += len(subgame.leaves)
        self.iterations += solver.solve(reach)
        return solver

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns the values of best responses to the solution at the beliefs of `reach`; see `LeafValue.cfvs`."""
        solver = self.solve(subgame, reach)
        first, second = solver.forest.cfvs(solver.beliefs, solver.policies, best=True)
        return first * reach[1].sum(axis=1, keepdims=True), second * reach[0].sum(axis=1, keepdims=True)

    def cfvs_of_solution_at(self, subgame: Subgame, solved_at: Reach, reach: Reach) -> Reach:
        """Returns the cfvs at `reach` of the policies that solve leaves at the beliefs `solved_at` (for CFR-AVE)."""
        solver = self.solve(subgame, solved_at)
        return solver.forest.cfvs(reach, solver.policies)
