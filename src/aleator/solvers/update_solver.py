"""What the solvers of whole trees by the CPU engine share: `cfr` and `fictitious_play` say which update they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.state import TreeSolver, at_root, check_no_leaves
from aleator.solvers.updates import Vectors, WholeUpdate
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class UpdateSolver(TreeSolver):
    """A solver of a whole tree that runs an update.

    Attributes:
        tree: what is solved.
        root_reach: [H0], [H1] of each player at the root of a subgame; None for 1.
    """

    def __init__(self, tree: PublicTree, engine: CpuEngine, update: WholeUpdate, root_reach: Reach | None) -> None:
        check_no_leaves(tree)
        self.tree, self.root_reach, self.iteration = tree, root_reach, 0
        self._engine, self._update = engine, update

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the computation."""
        return self._engine.layout.dtype

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        self._update.run(iterations)
        self.iteration += iterations

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        return self._policy(self._update.average())

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration or, in fictitious play, the last best responses."""
        return self._policy(self._update.current())

    def _policy(self, vectors: Vectors) -> Policy:
        first, second = (self._engine.layout.unpad(player, vectors[player]) for player in (0, 1))
        return Policy(self.tree, (first, second))

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""
        total = 0.0
        for player in (0, 1):
            reach = self._update.average_reach(1 - player)
            values = self._engine.values(player, reach, np.zeros(0, self.dtype), best=True)
            total += at_root(self.tree, player, values, self.root_reach)
        return total

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same tree and rule needs to go on from here."""
        return self._update.state()

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same tree and rule; the results are then equal bit by bit."""
        self._update.restore(iteration, state)
        self.iteration = iteration
