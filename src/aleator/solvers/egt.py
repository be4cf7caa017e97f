"""The excessive gap technique (EGT): a first-order method on smoothed values of the game, with dynamic thresholding.

Algorithm:
    For reaches (sequence-form strategies) z_i and smoothing mu_i let
        V_i(z_{-i}) = max over x of  u_i(x, z_{-i}) - mu_i d_i(x),
    d_i being the dilated entropy: the sum over infostates of beta(I) x reach(I) x (entropy of uniform - entropy of the
    policy). The pair (z_0, z_1) is kept in the *excessive gap* V_0 + V_1 <= 0, so that its NashConv is at most
    mu_0 max d_0 + mu_1 max d_1, and the larger of the two mu is shrunk by 1 - tau in every iteration:
        x = argmax of V_i;   y = argmax of V_{-i} against (1 - tau) z_i + tau x;
        x' = the best against y that stays near x: max tau / ((1 - tau) mu_i) u_i(x', y) - D(x', x);
        z_i <- (1 - tau) z_i + tau x';   z_{-i} <- (1 - tau) z_{-i} + tau y;   mu_i <- (1 - tau) mu_i.
    tau begins at 1/2 and is halved whenever a step would leave the excessive gap. The gradients u_i(., z) come from
    walks of the tree, which with a threshold c leave out histories that chance and the opponent reach with a
    probability below c / t.

Reference:
    Nesterov 2005; Hoda, Gilpin, Pena, Sandholm 2010 (sequence form); Kroer, Waugh, Kilinc-Karzan, Sandholm (weights
    beta = 2 alpha, alpha(I) = 1 + max_a sum of 2 alpha below; steps as large as the excessive gap allows).
    Thresholding: thesis 3.4.3.

Deviations:
    mu begins at the smallest power of 2 that puts the first pair into the excessive gap; that pair is found without a
    threshold. With one, gradients are inexact, and so is the test of the gap; nothing is proven then, here as in the
    thesis.

Status:
    tests/solvers/test_egt.py: gradients and smoothed responses against their definitions, the gap in every
    iteration, convergence. `aleator paper thresholding-leduc` and `thresholding-leduc5` reproduce thesis Fig. 3.16 f.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.algorithms import GapRule
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandLayout
from aleator.solvers.engines.by_hand.smoothing import dilated_weights, gradient, smoothed_response
from aleator.solvers.state import TreeSolver, check_no_leaves, restore_vectors
from aleator.trees.policy import Policy, normalised
from aleator.trees.public_tree import PublicTree

_FIRST_STEP, _LEAST_STEP = 0.5, 1e-12
_ROUNDING, _FIRST_SMOOTHING = 1e-12, 2.0**-20  # in the tree's unit


class EGT(TreeSolver):
    """The excessive gap technique on a public tree, in float64.

    Attributes:
        tree: of the game.
        threshold: c; 0 to walk the whole tree.
        iteration: how often one of the two smoothings has been shrunk.
    """

    def __init__(self, tree: PublicTree, rule: GapRule | None = None) -> None:
        check_no_leaves(tree)
        self.tree, self.threshold, self.iteration = tree, (rule or GapRule()).threshold, 0
        self._touched = 0
        self._layout = HandLayout(tree)
        self._sizes = tree.policy_size
        self._stack = np.zeros(tree.num_nodes + 1, dtype=np.int32)
        self._scratch = tuple(np.zeros(size + 1) for size in self._sizes)
        self._weights = tuple(np.ones(size) for size in self._layout.num_infostates)
        self._uniform = tuple(self._new_uniform(player) for player in (0, 1))
        for player in (0, 1):
            dilated_weights(
                self._layout.shape, self._layout.sides[player], self._scratch[player], self._weights[player]
            )
        # reaches z and gradients [places + 1] of both players, smoothing of both, and the step
        self._reach = [np.zeros(size + 1) for size in self._sizes]
        self._worth = [np.zeros(size + 1) for size in self._sizes]
        self._numbers = np.array([1.0, 1.0, _FIRST_STEP])
        self._begin()

    @property
    def nodes_touched(self) -> int:
        """Histories visited by gradients so far, up to symmetry."""
        return self._touched

    def _new_uniform(self, player: int) -> FloatArray:
        places = self._layout.sides[player].places
        choices = np.bincount(places[:, col.INFOSTATE], places[:, col.LEGAL], self._layout.num_infostates[player])
        uniform: FloatArray = places[:, col.LEGAL] / np.maximum(choices[places[:, col.INFOSTATE]], 1.0)
        return uniform

    def _gradient(self, player: int, reach: FloatArray) -> FloatArray:
        """Returns [places + 1] what each of a player's places is worth against the opponent's reach."""
        slopes, sides = np.empty(self._sizes[player] + 1), self._layout.sides
        least = self.threshold / self.iteration if self.iteration else 0.0
        self._touched += gradient(
            self._layout.shape, sides[player], sides[1 - player], reach, least, self._stack, slopes
        )
        return slopes

    def _respond(
        self, player: int, worth: FloatArray, smoothing: float, center: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Returns (value, policy, reach) of a smoothed best response."""
        policy, reach = np.zeros(self._sizes[player]), np.zeros(self._sizes[player] + 1)
        value = smoothed_response(
            self._layout.shape, self._layout.sides[player], worth, self._weights[player], smoothing, center,
            self._scratch[player], policy, reach,
        )  # fmt: skip
        return value, policy, reach

    def gap(self) -> float:
        """Returns V_0 + V_1; the excessive gap condition is that this is not positive."""
        return self._gap(self._worth, self._numbers[:2])

    def _gap(self, worth: list[FloatArray], smoothing: FloatArray) -> float:
        return sum(self._respond(p, worth[p], float(smoothing[p]), self._uniform[p])[0] for p in (0, 1))

    def _begin(self) -> None:
        """Finds the first pair: with strong smoothing it is in the excessive gap."""
        smoothing = _FIRST_SMOOTHING * self.tree.unit
        center = np.zeros(self._sizes[0] + 1)
        smoothed_response(
            self._layout.shape, self._layout.sides[0], self._scratch[0] * 0.0, self._weights[0], 1.0, self._uniform[0],
            self._scratch[0], np.zeros(self._sizes[0]), center,
        )  # fmt: skip
        worth = self._gradient(1, center)
        while True:
            self._numbers[:2] = smoothing
            _, _, self._reach[1] = self._respond(1, worth, smoothing, self._uniform[1])
            self._worth[0] = self._gradient(0, self._reach[1])
            _, _, self._reach[0] = self._respond(0, self._worth[0], smoothing, self._uniform[0])
            self._worth[1] = self._gradient(1, self._reach[0])
            if self.gap() <= _ROUNDING * self.tree.unit:
                return
            smoothing *= 2.0

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        for _ in range(iterations):
            self.iteration += 1
            self._shrink(int(self._numbers[1] > self._numbers[0]))

    def _shrink(self, player: int) -> None:
        """Shrinks a player's smoothing by the largest step that stays in the excessive gap."""
        other, smoothing = 1 - player, self._numbers[:2].copy()
        _, policy, near = self._respond(player, self._worth[player], float(smoothing[player]), self._uniform[player])
        against_near = self._gradient(other, near)
        while self._numbers[2] >= _LEAST_STEP:
            step = float(self._numbers[2])
            ahead = _mix(self._worth[other], against_near, step)
            _, _, response = self._respond(other, ahead, float(smoothing[other]), self._uniform[other])
            against_response = self._gradient(player, response)
            _, _, moved = self._respond(player, against_response, float(smoothing[player]) * (1 - step) / step, policy)
            worth = [self._worth[0], self._worth[1]]
            worth[player] = _mix(self._worth[player], against_response, step)
            worth[other] = _mix(self._worth[other], self._gradient(other, moved), step)
            smaller = smoothing.copy()
            smaller[player] *= 1 - step
            if self._gap(worth, smaller) <= _ROUNDING * self.tree.unit:
                self._reach[player] = _mix(self._reach[player], moved, step)
                self._reach[other] = _mix(self._reach[other], response, step)
                self._worth, self._numbers[:2] = worth, smaller
                return
            self._numbers[2] = step / 2

    def average_policy(self) -> Policy:
        """Returns the policy found so far; EGT averages as it goes."""
        return normalised(self.tree, (self._reach[0][:-1].copy(), self._reach[1][:-1].copy()))

    def current_policy(self) -> Policy:
        """Returns the smoothed best responses of both players."""
        first, second = (self._respond(p, self._worth[p], float(self._numbers[p]), self._uniform[p])[1] for p in (0, 1))
        return normalised(self.tree, (first, second))

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same tree and threshold needs to go on from here."""
        state: dict[str, npt.NDArray[Any]] = {
            f"{name}{player}": vectors[player]
            for player in (0, 1)
            for name, vectors in (("reach", self._reach), ("worth", self._worth))
        }
        return state | {"numbers": self._numbers, "nodes_touched": np.array([self.nodes_touched], np.int64)}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from another solver of the same tree and threshold; results are then equal bit by bit."""
        own = self.state()
        restore_vectors(own, state)
        self.iteration, self._touched = iteration, int(own["nodes_touched"][0])


def _mix(old: FloatArray, new: FloatArray, share: float) -> FloatArray:
    """Returns (1 - share) old + share new."""
    return (1.0 - share) * old + share * new
