"""What all iterative solvers share: the interface by which they are run, asked, saved and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class Solver(Protocol):
    """An iterative solver.

    Attributes:
        iteration: how many iterations have been run; one updates both players.
        num_players: how many play; two unless the game is one of many players.
        first_check: after how many a first look at the exploitability is worth its time.
    """

    iteration: int
    num_players: int = 2
    first_check: ClassVar[int] = 1

    @property
    def nodes_touched(self) -> int | None:
        """Histories visited so far, if the solver counts them; the others visit all in every iteration."""
        return None

    def run(self, iterations: int) -> None:
        """Runs so many more iterations."""

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything another solver of the same game and rule needs to go on, by name; no copies."""

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver after so many iterations; results are then equal bit by bit.

        Raises:
            ValueError: the state is not that of a solver of this game and rule.
        """


class TreeSolver(Solver, Protocol):
    """An iterative solver of a public tree."""

    tree: PublicTree

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision, float64 or float32."""
        return np.dtype(np.float64)

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""
        from aleator.solvers.best_response import nash_conv  # loads the compiler

        return nash_conv(self.average_policy())

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration."""


def restore_vectors(own: Mapping[str, npt.NDArray[Any]], saved: Mapping[str, npt.NDArray[Any]]) -> None:
    """Copies saved vectors over a solver's own.

    Raises:
        ValueError: a vector is missing or has another shape or type.
    """
    for name, vector in own.items():
        given_vector = saved.get(name)
        if given_vector is None or given_vector.shape != vector.shape or given_vector.dtype != vector.dtype:
            given = "missing" if given_vector is None else f"{given_vector.dtype}{list(given_vector.shape)}"
            raise ValueError(f"{name} is {given}, expected {vector.dtype}{list(vector.shape)}")
        vector[:] = given_vector


def at_root(tree: PublicTree, player: int, values: npt.NDArray[Any], root_reach: Reach | None) -> float:
    """Returns what a player wins in all, from its cfvs at the root and its own reach there (None: 1 for every hand)."""
    cfvs = values[: tree.num_hands[player, 0]].astype(np.float64)
    return float(cfvs.sum() if root_reach is None else cfvs @ root_reach[player])


def check_no_leaves(tree: PublicTree) -> None:
    """Raises SolveError if a depth limit cuts the tree: then values of leaves are needed (`aleator.search`)."""
    if len(tree.leaves):
        raise SolveError(
            f"a depth limit cuts this tree at {len(tree.leaves)} leaves; solve it with "
            "aleator.search.DepthLimitedSolver"
        )
