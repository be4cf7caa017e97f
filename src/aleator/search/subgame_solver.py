"""What search asks of a solver of a subgame, and which engine solves it: whoever searches does not care."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from aleator.games.base import FloatArray
from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import LeafValue
from aleator.solvers.holdem.tree import HoldemTreeSolver, is_spot
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.search_rule import SearchRule, find_rule
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame, Watch


class SubgameSolver(Protocol):
    """A solver of a subgame at given beliefs: `DepthLimitedSolver`, or `HoldemTreeSolver` to the end of a spot.

    Attributes:
        last_root_cfvs: [H0], [H1] of the last iteration, if something is watched.
    """

    last_root_cfvs: Reach

    @property
    def iteration(self) -> int:
        """How many iterations were run; one updates both players."""

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Gives a player another reach [H] at the root from now on."""

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""

    def average_block(self, node: int) -> FloatArray:
        """Returns [A, H]: the average policy of a decision."""

    def average_leaf_reach(self) -> Reach:
        """Returns each player's reach [L, H0], [L, H1] at the leaves under the average policy."""

    def watched_cfvs(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs, averaged over the iterations like the policies."""

    def watched_response(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs when it best responds to the average policy."""

    def watched_reach(self, root: FloatArray) -> FloatArray:
        """Returns [K, H]: the watched player's reach by its average policy, given its reach [H] at the root."""


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
    fits_holdem = isinstance(update, RegretRule) and update.alternating and update.minimiser != HEDGE
    if fits_holdem and keep == () and is_spot(subgame.tree):
        assert isinstance(update, RegretRule)
        return HoldemTreeSolver(subgame.tree, update, root_reach=root_reach, watch=watch)
    return DepthLimitedSolver(subgame, leaf_value, rule, root_reach=root_reach, keep=keep, watch=watch)
