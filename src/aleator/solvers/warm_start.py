"""Warm starts: CFR that begins as if it had already run for T iterations with a given average policy.

Algorithm:
    The given policy stands for the average of T iterations. What those iterations won is unknown and not needed: any
    substitute v'(I) does that adds up to at most 0 over the players and keeps the regrets within CFR's bound. Bottom
    up, v'(I, a) is the sum of what follows the action against that policy, and v'(I) a soft best response:
        sum_a (v'(I, a) - v'(I))_+^2 = lambda x cf_reach(I) x L(I)^2 x |A(I)| / T.
    Regrets begin at T x (v'(I, a) - v'(I)). T is read off a short run from scratch, whose NashConv is taken to fall as
    c / T; lambda, the same for both players, is the smallest for which v'_1 + v'_2 <= 0.

Reference:
    Thesis 3.2.2 to 3.2.4, Eq. 3.4 to 3.6. ReBeL Appendix J is `softness=0, iterations=15`: an exact best response,
    regrets scaled up by 15.

Deviations:
    The equation in 3.2.4 has the signs of (3.6) turned round; (3.6) is used. Rules that discount get the regret and the
    sum of policies that T equal iterations would have left. Where a hand has no positive regret, the first policy is
    the given one instead of uniform: with lambda = 0 that is everywhere, and ReBeL needs it there. Theorem 6 is about
    plain CFR; CFR+ and DCFR go on from a warm start, too, but lose more by it.

Status: tests/solvers/test_warm_start.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.solvers.best_response import nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandLayout
from aleator.solvers.engines.by_hand.response import push_reach, soft_response
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.trees.policy import Policy, normalised
from aleator.trees.public_tree import PublicTree

REBEL_ITERATIONS = 15
_PROBE_ITERATIONS = 10


class Substitutes(NamedTuple):
    """Substitute counterfactual values of one player.

    Attributes:
        value: v'_i, of the whole game.
        regrets: [places] v'(I, a) - v'(I), 0 where the action is not legal.
        reach: [places] the player's own reach after each action under the policy.
    """

    value: float
    regrets: FloatArray
    reach: FloatArray


class WarmStarter:
    """Warm starts on one tree; keeps what does not depend on the policy."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self._layout = HandLayout(tree)
        self._infostate = tuple(side.places[:, col.INFOSTATE] for side in self._layout.sides)
        self._span = tuple(self._layout.span(player) for player in (0, 1))

    def substitutes(self, policy: Policy, player: int, softness: float, iterations: int) -> Substitutes:
        """Returns a player's substitute values against the other's part of a policy, for lambda and T."""
        return self._respond(player, self._reach(policy), softness / iterations)

    def _reach(self, policy: Policy) -> list[FloatArray]:
        """Returns per player [places + 1] the reach under a policy."""
        reach = [np.ones(size + 1) for size in self.tree.policy_size]
        for player in (0, 1):
            push_reach(self._layout.sides[player], policy.probabilities[player], reach[player])
        return reach

    def _respond(self, player: int, reach: list[FloatArray], limit: float) -> Substitutes:
        """Returns the substitute values for lambda / T = limit."""
        sides = self._layout.sides
        values, action_values = np.empty(self._layout.num_infostates[player]), np.empty(len(reach[player]))
        soft_response(
            self._layout.shape, sides[player], sides[1 - player], reach[1 - player], self._span[player], limit,
            values, action_values,
        )  # fmt: skip
        return Substitutes(
            value=float(action_values[-1]),
            regrets=np.where(
                sides[player].places[:, col.LEGAL], action_values[:-1] - values[self._infostate[player]], 0.0
            ),
            reach=reach[player][:-1],
        )

    def softness(self, policy: Policy, iterations: int) -> float:
        """Returns the smallest lambda in [0, 1] for which the substitute values of both players add up to at most 0.

        1, the largest that the theory allows, if there is none: then `iterations` is too large for the policy.
        """
        reach = self._reach(policy)

        def excess(root: float) -> float:  # nearly linear in the square root of lambda
            return sum(self._respond(player, reach, root**2 / iterations).value for player in (0, 1))

        if excess(0.0) <= 0.0:
            return 0.0
        if excess(1.0) > 0.0:
            return 1.0
        root = float(brentq(excess, 0.0, 1.0, xtol=1e-12, rtol=1e-8))
        while excess(root) > 0.0:
            root = min(root * (1.0 + 1e-7), 1.0)
        return root**2

    def current_policy(self, policy: Policy, iterations: int) -> Policy:
        """Returns what CFR plays in the iteration after T whose average is `policy`, knowing only that average."""
        softness = self.softness(policy, iterations)
        regrets = [self.substitutes(policy, player, softness, iterations).regrets for player in (0, 1)]
        return self._match(regrets, policy)

    def start(
        self,
        policy: Policy,
        rule: RegretRule = CFR_RULE,
        *,
        iterations: int | None = None,
        softness: float | None = None,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
    ) -> CFR:
        """Returns a solver that goes on as if `policy` were the average of its first iterations.

        Args:
            policy: on the tree, from anywhere.
            rule: of the solver; not Hedge.
            iterations: T, how many iterations the policy stands for; None to estimate it by `equivalent_iterations`.
            softness: lambda, how far the substitute values stay below a best response; None for the smallest sound one.
            dtype, threads: as in `CFR`.
        """
        if policy.tree is not self.tree:
            raise SolveError(f"the policy belongs to another tree of {policy.tree.game.name}")
        if rule.minimiser == HEDGE:
            raise SolveError("Hedge cannot be warm started: its step size needs the variance of past values")
        if iterations is None:
            iterations = equivalent_iterations(policy, rule)
        if iterations < 1:
            raise SolveError(f"a warm start needs at least 1 iteration, not {iterations}")
        if softness is None:
            softness = self.softness(policy, iterations)
        if not 0.0 <= softness <= 1.0:
            raise SolveError(f"softness (lambda) must lie in [0, 1], not {softness}")
        solver = CFR(self.tree, rule, dtype=dtype, threads=threads)
        state = {name: vector.copy() for name, vector in solver.state().items()}
        weights = rule.equal_weights(iterations)
        prediction = rule.schedule(iterations, 1)[0, 4]
        pad = solver._engine.layout.pad
        expected: list[FloatArray] = []
        for player in (0, 1):
            _, instant, reach = self.substitutes(policy, player, softness, iterations)
            regret = np.where(instant > 0, weights.positive, weights.negative) * instant
            if rule.floor:
                regret = np.maximum(regret, 0.0)
            expected.append(regret * prediction + instant if rule.optimistic else regret)
            state[f"regret{player}"] = pad(player, regret)
            state[f"policy_sum{player}"] = pad(player, weights.policy * reach)
            if rule.optimistic:
                state[f"instant{player}"] = pad(player, instant)
        current = self._match(expected, policy, rule.power)
        for player in (0, 1):
            state[f"policy{player}"] = pad(player, current.probabilities[player])
        solver.restore(iterations, state)
        return solver

    def _match(self, regrets: list[FloatArray], otherwise: Policy, power: float = 1.0) -> Policy:
        """Returns the policy that matches regrets to a power, and another for hands without a positive one."""
        weights = []
        for player in (0, 1):
            infostate, positive = self._infostate[player], np.maximum(regrets[player], 0.0) ** power
            total = np.bincount(infostate, positive, minlength=self._layout.num_infostates[player])
            weights.append(np.where(total[infostate] > 0.0, positive, otherwise.probabilities[player]))
        return normalised(self.tree, (weights[0], weights[1]))


def equivalent_iterations(policy: Policy, rule: RegretRule = CFR_RULE) -> int:
    """Returns about how many iterations from scratch lead to a policy as good as the given one.

    NashConv is taken to fall as c / T, with c from the last of a few iterations (thesis 3.2.3). At least 1.
    """
    solver = CFR(policy.tree, rule)
    solver.run(_PROBE_ITERATIONS)
    quality = nash_conv(policy)
    if quality <= 0.0:
        raise SolveError("the policy is an equilibrium already: no number of iterations is equivalent to it")
    return max(1, round(_PROBE_ITERATIONS * solver.nash_conv() / quality))
