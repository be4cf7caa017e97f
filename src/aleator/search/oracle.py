"""The exact leaf value: solves the game below every leaf at the beliefs that it is asked for.

Algorithm:
    All leaves are solved at once, as one forest, by CFR at the players' normalised beliefs, until at each leaf
    NashConv, per unit of the probability of being there, is at most the precision. A player's values are those of a
    best response to the opponent's average policy: they are defined for hands that the player never holds there, too,
    and exceed the values in equilibrium by at most the precision, taken together.

Reference:
    CFR-D (Burch, Johanson, Bowling 2014) as described in ReBeL App. E: "we solve a subgame rooted at the leaf".

Deviations:
    Beliefs of a player who never comes to a leaf are uniform there, so that the answer is the same whenever it is asked
    for.

Status: tests/search/test_leaf_value.py.
"""

from __future__ import annotations

import numpy as np

from aleator.errors import SolveError
from aleator.search.solved_value import LeafSolver, SolvedValue
from aleator.solvers.regret_rule import PCFR_PLUS
from aleator.solvers.updates import CFRUpdate
from aleator.trees.subgame import Subgame

_FIRST_LOOK, _MOST_ITERATIONS = 16, 1_000_000
_KEPT = 8  # new beliefs begin with the regrets of so many iterations at the old ones


class OracleValue(SolvedValue):
    """Exact leaf values, to a precision.

    Attributes:
        precision: the largest NashConv that a leaf's solution may have, in payoff units given that the leaf is reached.
    """

    def __init__(self, precision: float = 1e-4) -> None:
        if not precision > 0.0:
            raise SolveError(f"the oracle's precision must be positive, not {precision}")
        super().__init__()
        self.precision = precision

    def new_solver(self, subgame: Subgame) -> LeafSolver:
        """Returns CFR on everything below the leaves of a subgame."""
        return _LeafCFR(subgame, self.precision)


class _LeafCFR(LeafSolver):
    """CFR on everything below the leaves of one subgame."""

    def __init__(self, subgame: Subgame, precision: float) -> None:
        super().__init__(subgame)
        self._precision, self._iterations = precision, 0
        self._update = CFRUpdate(self.forest.engine, PCFR_PLUS)

    def find(self) -> int:
        """Solves all leaves at `beliefs`; returns the iterations that it took."""
        mass = np.array(
            [
                deal.total((first[: deal.shape[0]], second[: deal.shape[1]]))
                for first, second, deal in zip(*self.beliefs, self.deals, strict=True)
            ]
        )
        self._update.restart(kept=min(1.0, _KEPT / max(self._iterations, 1)))
        for player, own in enumerate(self._update.memory):
            self.forest.rows.put_reach(player, self.beliefs[player], own.reach)
            self._update.move(player)
        done, chunk = 0, _FIRST_LOOK
        while True:
            self._update.run(chunk)
            done += chunk
            self.policies = self._update.average()
            best = self.forest.cfvs(self.beliefs, self.policies, best=True)
            gain = sum((best[player] * self.beliefs[player]).sum(axis=1) for player in (0, 1))
            if (gain <= self._precision * mass + 1e-15).all():
                self._iterations = done
                return done
            if done >= _MOST_ITERATIONS:
                raise SolveError(f"the oracle did not reach a precision of {self._precision} in {done:,} iterations")
            chunk = max(_FIRST_LOOK, done // 4)
