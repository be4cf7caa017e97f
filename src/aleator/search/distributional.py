"""Distributional alternative payoffs: the resolve gadget when what opting out is worth is a random variable.

Algorithm:
    The opponent sees the outcome x of X ~ N(mean, deviation^2) for its hand and then enters or takes x. That game is
    infinite, but all outcomes of a hand enter the same subgame, so only the probability of entering matters. It is
    found in each iteration t, while CFR+ runs below:
      hedge          E_X[ 1 / (1 + exp(eta_t (t X - sum of v over iterations))) ],  v the value of entering;
      best response  P(X <= v) with the v of this iteration.
    eta_t = sqrt(ln 2) / (3 sqrt(variance of v) sqrt(t)).

Reference: thesis 5.1.5 (Theorem 22), 5.1.6 (Eq. 5.3).
Deviations: X is replaced by the means of `OUTCOMES` equally likely parts of the normal distribution.
Status: tests/search/test_distributional.py (the finite game of all outcomes by linear programming).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, ndtr, ndtri

from aleator.games.base import FloatArray
from aleator.search.gadgets import FOLLOW
from aleator.solvers.cfr import CFR
from aleator.trees.public_tree import Int64Array

OUTCOMES = 32
ENTRIES = ("hedge", "best-response")


def outcomes(mean: FloatArray, deviation: FloatArray, count: int = OUTCOMES) -> FloatArray:
    """Returns [count, ...]: equally likely values in place of normal variables."""
    edges = ndtri(np.linspace(0.0, 1.0, count + 1))
    density = np.exp(-0.5 * edges**2) / np.sqrt(2.0 * np.pi)  # the mean of a part is the difference of densities
    centres = count * (density[:-1] - density[1:])
    shape = (count,) + (1,) * np.ndim(mean)
    values: FloatArray = mean + deviation * centres.reshape(shape)
    return values


class EntryPolicy:
    """The probability with which each hand enters, from the values of entering in all iterations so far."""

    def __init__(
        self, mean: FloatArray, deviation: FloatArray, kind: str = "hedge", *, num_outcomes: int = OUTCOMES
    ) -> None:
        self.mean, self.deviation, self.kind = mean, deviation, kind
        self._outcomes = outcomes(mean, deviation, num_outcomes)
        self._count = 0
        self._sum = np.zeros(mean.shape)
        self._squares = np.zeros(mean.shape)

    def update(self, value: FloatArray) -> FloatArray:
        """Returns the probability of entering in the next iteration, given the value of entering in this one."""
        if self.kind == "best-response":
            spread = np.where(self.deviation > 0, self.deviation, 1.0)
            return np.where(self.deviation > 0, ndtr((value - self.mean) / spread), (value > self.mean) * 1.0)
        self._count += 1
        self._sum += value
        self._squares += value**2
        count = self._count
        variance = np.maximum(self._squares / count - (self._sum / count) ** 2, 0.0)
        rate = np.sqrt(np.log(2.0)) / (3.0 * np.sqrt(np.maximum(variance, 1e-12) * count))
        entering: FloatArray = expit(rate * (self._sum - count * self._outcomes)).mean(axis=0)
        return entering


def run_distributional(
    solver: CFR, roots: Int64Array, opponent: int, entry: EntryPolicy, cf_reach: FloatArray, iterations: int
) -> None:
    """Runs some more iterations of CFR on resolve gadgets whose roots follow an entry policy.

    Args:
        solver: of a tree of K resolve gadgets.
        roots: [K] the gadgets' roots.
        opponent: who acts there.
        entry: the policy at the roots, [K, H], padded where hands are fewer.
        cf_reach: [K, H]: by what the cfv of a hand at a root is divided to give its value.
        iterations: how many.
    """
    follow = solver.tree.first_child[roots].astype(np.int64) + FOLLOW
    if not solver.iteration:
        solver.lock(roots, np.full((len(roots), 2, cf_reach.shape[1]), 0.5))
    for _ in range(iterations):
        for player in (0, 1):
            solver.update(player)
            if player == opponent:
                cfvs = solver.last_cfvs(player, follow)
                entering = entry.update(np.divide(cfvs, cf_reach, out=np.zeros(cfvs.shape), where=cf_reach > 0))
                solver.lock(roots, np.stack([1.0 - entering, entering], axis=1))


def stack_rows(rows: Sequence[FloatArray]) -> FloatArray:
    """Returns [K, H] of K rows, padded with 0."""
    stacked = np.zeros((len(rows), max(len(row) for row in rows)))
    for index, row in enumerate(rows):
        stacked[index, : len(row)] = row
    return stacked
