"""Subgames of hold'em spots that go to the end of the game, solved by the engine of hold'em instead of the general one.

`make_subgame_solver` chooses: what searches asks for a solver of a subgame and does not care which one it gets.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import CHANCE, FloatArray
from aleator.search.depth_limited import DepthLimitedSolver, Watch
from aleator.search.leaf_value import LeafValue
from aleator.solvers.holdem.tree import SpotCFR, is_spot
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.search_rule import SearchRule, find_rule
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame

Floats = npt.NDArray[np.floating[Any]]


class SpotSolver:
    """What `DepthLimitedSolver` is, for a subgame of a hold'em spot without leaves.

    Attributes:
        subgame: what is solved.
        last_root_cfvs: [H0], [H1] of the last iteration, as the general engine has them.
    """

    def __init__(
        self, subgame: Subgame, rule: RegretRule, *, root_reach: Reach | None = None, watch: Watch | None = None
    ) -> None:
        """Prepares a solve.

        Args:
            subgame: to be solved.
            rule: the regret rule.
            root_reach: by default 1 for every hand.
            watch: where a player's cfvs are wanted: on the first street, and right behind the first card.
        """
        self.subgame = subgame
        tree = subgame.tree
        self._cfr = SpotCFR(tree, rule, root_reach=root_reach, watch=None if watch is None else watch.player)
        first, second = tree.num_hands[:, 0]
        self.last_root_cfvs: Reach = (np.zeros(first), np.zeros(second))
        self._watch, self._weight = watch, 0.0
        if watch is None:
            return
        solver = self._cfr.solver
        streets = solver.plan.nodes
        lines = {int(node) + 1: line for line, node in enumerate(streets[0][solver.plan.forests[0].next_nodes])}
        found = [self._cfr.place(int(node)) for node in watch.nodes]
        dealt = np.array([level == 1 for level, _, _ in found], np.bool_)
        behind = tree.actor[tree.parent[watch.nodes]] == CHANCE
        if any(level > 1 or (level and not card) for (level, _, _), card in zip(found, behind, strict=True)):
            raise SolveError("only the first street and what lies right behind the first card can be watched")
        self._first = np.flatnonzero(~dealt), np.array([place for level, _, place in found if not level], np.int64)
        self._second = [
            (k, board, lines[int(streets[1][place])]) for k, (level, board, place) in enumerate(found) if level
        ]
        self._mean = np.zeros((len(self._first[1]), solver.plan.widths[0][watch.player]))

    @property
    def iteration(self) -> int:
        """How many iterations were run; one updates both players."""
        return self._cfr.iteration

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        if self._watch is None:
            self._cfr.run(iterations)
            return
        solver = self._cfr.solver
        for _ in range(iterations):
            self._weight = self._weight * solver.discounts()[0, 2] + 1.0
            for player in (0, 1):
                cfvs = solver.update(player)[solver.engine.root_rows[player]]
                self.last_root_cfvs[player][:] = self._cfr.cfvs(player, self._cfr.hands(player, 0, 0), cfvs)
                if player == self._watch.player:
                    rows = solver.engine.street_values(player)[self._first[1]]
                    self._mean += (rows - self._mean) / self._weight

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Gives a player another reach [H] at the root from now on."""
        self._cfr.set_root_reach(player, reach)

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        return self._cfr.average_policy()

    def average_block(self, node: int) -> FloatArray:
        """Returns [A, H]: the average policy of a decision."""
        return self._cfr.average_block(node)

    def average_leaf_reach(self) -> Reach:
        """Returns [0, H0], [0, H1]: there are no leaves."""
        first, second = self.subgame.leaf_hands
        return np.zeros((0, first)), np.zeros((0, second))

    def watched_cfvs(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs, averaged over the iterations like the policies."""
        if not self.iteration:
            raise SolveError("nothing was watched yet: run the solver")
        engine = self._cfr.solver.engine
        second = engine.board_values() / (engine.averaging[0] * self._weight) if self._second else None
        return self._gather(self._mean, second)

    def watched_response(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs when it best responds to the average policy."""
        watch, solver = self._watched(), self._cfr.solver
        second = solver.engine.best_board_values() if self._second else None
        if second is None:
            solver.root_values(watch.player, best=True)
        return self._gather(solver.engine.street_values(watch.player)[self._first[1]], second)

    def watched_reach(self, root: FloatArray) -> FloatArray:
        """Returns [K, H]: the watched player's reach by its average policy, given its reach [H] at the root."""
        watch, tree = self._watched(), self.subgame.tree
        known = {0: root}

        def reach(node: int) -> FloatArray:
            if node not in known:
                parent = int(tree.parent[node])
                above = reach(parent)
                if tree.actor[parent] == watch.player:
                    above = above * self.average_block(parent)[node - int(tree.first_child[parent])]
                known[node] = above
            return known[node]

        return np.stack([reach(int(node)) for node in watch.nodes])

    def _watched(self) -> Watch:
        if self._watch is None:
            raise SolveError("nothing is watched: give `watch` to the solver")
        return self._watch

    def _gather(self, first: Floats, second: Floats | None) -> FloatArray:
        """Returns [K, H] in the general engine's form from rows [., W] of the first street, [B, L, W] of the second."""
        watch, cfr = self._watched(), self._cfr
        found = np.zeros((len(watch.nodes), int(self.subgame.tree.num_hands[watch.player, 0])))
        found[self._first[0]] = cfr.cfvs(watch.player, cfr.hands(watch.player, 0, 0), first)
        for k, board, line in self._second:
            assert second is not None
            found[k] = cfr.cfvs(watch.player, cfr.hands(watch.player, 1, board), second[board, line])
        return found


SubgameSolver = DepthLimitedSolver | SpotSolver


def make_subgame_solver(
    subgame: Subgame,
    leaf_value: LeafValue,
    rule: SearchRule | str = "cfr-d",
    *,
    root_reach: Reach | None = None,
    keep: Container[int] = (),
    watch: Watch | None = None,
) -> SubgameSolver:
    """Returns a solver of a subgame: by the engine of hold'em if it is the rest of a spot; see `DepthLimitedSolver`."""
    update = find_rule(rule).update
    suits = isinstance(update, RegretRule) and update.alternating and update.minimiser != HEDGE
    if suits and keep == () and is_spot(subgame.tree):
        assert isinstance(update, RegretRule)
        return SpotSolver(subgame, update, root_reach=root_reach, watch=watch)
    return DepthLimitedSolver(subgame, leaf_value, rule, root_reach=root_reach, keep=keep, watch=watch)
