"""Re-solving a hold'em spot: the fast solver of `aleator.solvers.holdem.solver` with a gadget above its root.

Algorithm:
    The opponent's hands enter the spot as a `RangeGadget` (re-solving) or a `MarginGadget` (maxmargin) has it, updated
    after each of the opponent's traversals; below the root nothing changes.

Reference: thesis 5.1.2, 5.1.10; DeepStack, Algorithm 1.
Deviations: none.
Status: tests/search/test_holdem_resolving.py; `aleator bench search` (a river decision, a turn decision).
"""

from __future__ import annotations

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS, without_common_cards
from aleator.games.holdem.spot import Spot
from aleator.search.range_gadget import MarginGadget, RangeGadget, RootGadget
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import CFR_PLUS, RegretRule


class HoldemReSolver:
    """A hold'em spot with a gadget above it.

    Args:
        spot: the situation. The searcher's hand range is its reach; the opponent's says which hands exist at all.
        searcher: 0 (out of position) or 1.
        constraint: [1326] the opponent's cfvs that opting out is worth, in the unit of `HoldemSolver.root_cfvs`.
        gadget: "resolve" or "maxmargin".
        rule: the regret rule.
        threads: of the solver.
        isomorphism: boards that differ by a renaming of suits are solved once; right if ranges and constraint do not
            tell suits apart.

    Attributes:
        solver: the solver below the gadget; its average policy of the searcher is the result.
    """

    def __init__(
        self,
        spot: Spot,
        searcher: int,
        constraint: FloatArray,
        *,
        gadget: str = "resolve",
        rule: RegretRule = CFR_PLUS,
        threads: int = 1,
        isomorphism: bool = True,
    ) -> None:
        if searcher not in (0, 1):
            raise SolveError(f"the searcher is player 0 or 1, not {searcher}")
        if constraint.shape != (NUM_HANDS,) or not np.isfinite(constraint).all():
            raise SolveError(f"the constraint must be {NUM_HANDS:,} finite numbers, not of shape {constraint.shape}")
        if gadget not in ("resolve", "maxmargin"):
            raise SolveError(f"unknown gadget {gadget!r}; allowed: resolve, maxmargin")
        self.solver = HoldemSolver(spot, rule, threads=threads, isomorphism=isomorphism)
        self.searcher, self._opponent = searcher, 1 - searcher
        weights = self.solver.plan.weights
        exists = np.zeros(NUM_HANDS, dtype=np.bool_)
        exists[self.solver.engine.root_rows[self._opponent]] = True  # those that the board does not block
        self._gadget: RootGadget
        if gadget == "resolve":
            self._gadget = RangeGadget(constraint, exists.astype(np.float64), np.zeros(NUM_HANDS))
        else:
            reach = np.where(exists, without_common_cards(weights[searcher]), 0.0)
            value = np.divide(constraint, reach, out=np.zeros(NUM_HANDS), where=reach > 0.0)
            self._gadget = MarginGadget(value, reach)
        self.solver.set_reach(self._opponent, self._gadget.reach)

    @property
    def iteration(self) -> int:
        """How many have been run."""
        return self.solver.iteration

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each of which updates both players and the gadget."""
        for _ in range(iterations):
            for player in (0, 1):
                cfvs = self.solver.update(player)
                if player == self._opponent:
                    self.solver.set_reach(player, self._gadget.update(cfvs))

    def opponent_cfvs(self) -> FloatArray:
        """Returns [1326]: what the opponent's best response gets per hand against the searcher's average policy."""
        cfvs: FloatArray = self.solver.root_cfvs(best=True)[self._opponent]
        return cfvs
