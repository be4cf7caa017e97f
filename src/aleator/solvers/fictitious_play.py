"""Fictitious play, linear fictitious play, and fictitious linear optimistic play (FLOP).

Algorithm:
    On iteration t a player best responds to a mixture of the opponent's average policy and last best response,
    and mixes the response into its own average, which begins with the uniform policy, with weight w_t:
        fictitious play           responds to the average,                          w_t = 1 / (t + 1)
        linear fictitious play    responds to the average,                          w_t = 2 / (t + 2)
        FLOP                      responds to t/(t+2) average + 2/(t+2) last,       w_t = 2 / (t + 2)
    Policies are mixed as whole policies, that is, their reach is: pi = (1 - w) pi + w pi_t.

Reference: ReBeL App. D.

Deviations:
    The paper writes w_t = 1/t and 2/(t+1), which forget the uniform policy at t = 1; then parts of the tree stay
    unreached and responses there are arbitrary (Liar's Dice 1x6 after 512 updates per player: .22 instead of .039). Here the
    uniform policy counts as one iteration; the authors' release keeps it too. The FP row of the paper's Table 2 was made
    with linear weights, the default of the release: compare it with linear fictitious play.
    Updates alternate unless told otherwise: the second player responds to the first one's new average. Ties between best
    actions go to the first; results depend on how ties are broken, hence on rounding.

Status: tests/solvers/test_fictitious_play.py; ReBeL Table 2 and Fig. 3 by `aleator paper rebel-table2`, `rebel-fig3`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.state import TreeSolver, at_root, check_no_leaves, restore_vectors
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


@dataclass(frozen=True, slots=True, kw_only=True)
class FictitiousRule:
    """Which member of the family: linear weights, an optimistic view of the opponent, updates in turn."""

    linear: bool = False
    optimistic: bool = False
    alternating: bool = True

    def weight(self, iteration: int) -> float:
        """Returns the weight of iteration t (from 1) in the average."""
        return 2.0 / (iteration + 2.0) if self.linear else 1.0 / (iteration + 1.0)


FICTITIOUS_PLAY = FictitiousRule()
LINEAR_FICTITIOUS_PLAY = FictitiousRule(linear=True)
FLOP = FictitiousRule(linear=True, optimistic=True)

FICTITIOUS_RULES: dict[str, FictitiousRule] = {"fp": FICTITIOUS_PLAY, "linear-fp": LINEAR_FICTITIOUS_PLAY, "flop": FLOP}


class FictitiousPlay(TreeSolver):
    """A solver by fictitious play with the same interface as `CFR`, root reach included."""

    def __init__(
        self,
        tree: PublicTree,
        rule: FictitiousRule = FICTITIOUS_PLAY,
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
        engine = self._engine = CpuEngine(tree, dtype, threads)
        self._responses = [np.zeros(size, engine.layout.dtype) for size in engine.layout.vector_size]
        self._last = [engine.layout.new_reach(p, None if root_reach is None else root_reach[p]) for p in (0, 1)]
        for player in (0, 1):
            engine.match_regrets(player, np.zeros_like(self._responses[player]), self._responses[player])
            engine.push_reach(player, self._responses[player], self._last[player])
        self._average = [reach.copy() for reach in self._last]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the computation."""
        return self._engine.layout.dtype

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        for _ in range(iterations):
            self.iteration += 1
            for player in (0, 1):
                self._respond(player)
                if self.rule.alternating:
                    self._mix(player)
            if not self.rule.alternating:
                for player in (0, 1):
                    self._mix(player)

    def _respond(self, player: int) -> None:
        """Finds the best response of a player to what it expects of the opponent."""
        expected = self._average[1 - player]
        if self.rule.optimistic:
            last = 2.0 / (self.iteration + 2.0)
            expected = (1.0 - last) * expected + last * self._last[1 - player]
        self._engine.values(player, expected.astype(self.dtype, copy=False), self._responses[player], best=True)

    def _mix(self, player: int) -> None:
        """Mixes the player's last response into its average."""
        weight = self.dtype.type(self.rule.weight(self.iteration))
        self._engine.push_reach(player, self._responses[player], self._last[player])
        self._average[player] += weight * (self._last[player] - self._average[player])

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        first, second = (self._engine.layout.unpad(player, self._normalised(player)) for player in (0, 1))
        return Policy(self.tree, (first, second))

    def _normalised(self, player: int) -> Vector:
        """Returns the average as probabilities of actions."""
        policy = np.empty_like(self._responses[player])
        sums = self._average[player][: len(policy)]
        self._engine.match_regrets(player, sums, policy)
        return policy

    def current_policy(self) -> Policy:
        """Returns the last best responses."""
        first, second = (self._engine.layout.unpad(player, self._responses[player]) for player in (0, 1))
        return Policy(self.tree, (first, second))

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""
        total = 0.0
        for player in (0, 1):
            values = self._engine.values(player, self._average[1 - player], np.zeros(0, self.dtype), best=True)
            total += at_root(self.tree, player, values, self.root_reach)
        return total

    def state(self) -> dict[str, FloatArray]:
        """Returns everything that another solver of the same tree and rule needs to go on from here."""
        names = ("average", "last", "response")
        vectors = (self._average, self._last, self._responses)
        return {f"{name}{player}": pair[player] for name, pair in zip(names, vectors, strict=True) for player in (0, 1)}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same tree and rule; the results are then equal bit by bit."""
        restore_vectors(self.state(), state)
        self.iteration = iteration
