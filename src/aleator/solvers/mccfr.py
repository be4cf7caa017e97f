"""Monte Carlo counterfactual regret minimisation: CFR on samples of the game tree.

Algorithm:
    An iteration t samples for each player i in turn a block Q of histories (or a batch of blocks) and estimates the
    counterfactual values of the infostates it meets:
        v(I | Q) = sum over z in Q of  u_i(z) pi_{-i}(z[I]) pi(z[I] -> z) / q(z),
    q(z) being the probability that z is sampled. Sampled regrets v(I a | Q) - v(I | Q) are unbiased; they are added up
    and matched as in CFR. The schemes differ in Q. Chance is always sampled by its own probabilities, and
        external       samples the opponent's actions by its policy, explores all of the traverser's;
        robust         the same, but explores k of the traverser's, drawn uniformly: 1/q(z) has a factor A / k for each;
        outcome        explores one, drawn by the traverser's policy, with probability `exploration` uniformly;
        chance         explores all actions of both;
        public-chance  samples public events only, and walks all hands at once.
    Each time a traversal meets an infostate of the *opponent*, the opponent's current policy is added to its average,
    with weight t^gamma x (the opponent's reach / the probability of having come here): on average that is the
    opponent's own reach, up to a factor per infostate that never changes. So the average is that of CFR.
    A batch of b traversals looks at the same policies, and the average of their regrets is added.

Reference:
    Thesis 2.3.6 (Eq. 2.23, 2.24) and 3.1.5 (linear and initial discount); Lanctot et al. 2009 (external and outcome
    sampling); Zinkevich et al. 2007 (chance sampling); Johanson et al. 2012 (public chance sampling); Double Neural
    CFR, Eq. 10 (robust sampling) and Eq. 11 (mini-batches, MCCFR+); skipping: thesis 6.4 (Libratus), 6.6 (Pluribus).

Deviations:
    An iteration updates both players; thesis and papers count one player's update. Skipped actions are those that the
    current policy does not play, or the value of the infostate would be wrong. A game without public events has no
    rounds, hence no last one: there Pluribus' skipping spares only actions that end the game. While actions are skipped
    the opponent's infostates below them are met more seldom, so that the average is no longer exactly that of CFR.

Status:
    Every scheme equals a recursive reference number by number, whose expectation over all random outcomes equals the
    exact counterfactual values (tests/solvers/test_mccfr.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.solvers.engines.sampling import iterate, walk
from aleator.solvers.engines.sampling.engine import SamplingEngine
from aleator.solvers.sampling_rule import CHANCE, DISCOUNTS, OUTCOME, PUBLIC_CHANCE, ROBUST, SKIPPINGS, SamplingRule
from aleator.solvers.state import TreeSolver, restore_vectors
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

_ALL = 2**31 - 1
# the order of DISCOUNTS and SKIPPINGS is that of the numbers in the kernels
_DISCOUNT = dict(zip(DISCOUNTS, (iterate.NO_DISCOUNT, iterate.LINEAR, iterate.INITIAL), strict=True))
_SKIPPING = dict(zip(SKIPPINGS, (walk.NO_SKIPPING, walk.SKIP_BY_REGRET, walk.SKIP_BY_TRAVERSAL), strict=True))


class MCCFR(TreeSolver):
    """An MCCFR solver that can be run, asked, saved and resumed.

    The same seed gives the same result, whatever the number of threads; threads share the traversals of a batch.
    """

    def __init__(
        self,
        tree: PublicTree,
        rule: SamplingRule | None = None,
        *,
        seed: int = 0,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
    ) -> None:
        if threads < 1:
            raise SolveError(f"threads must be at least 1, not {threads}")
        if not 0 <= seed < 2**63:
            raise SolveError(f"the seed must be a whole number from 0 to 2^63 - 1, not {seed}")
        self.tree = tree
        self.rule = rule or SamplingRule()
        self.iteration = 0
        self.seed = seed
        # weights t^gamma beyond this are divided by it, and all that came before as well: numbers stay in range
        self._largest = 1e100 if np.dtype(dtype) == np.float64 else 1e12
        self._engine = SamplingEngine(
            tree,
            batch=self.rule.batch,
            floor=0.0 if self.rule.floor else -inf,
            all_hands=self.rule.scheme == PUBLIC_CHANCE,
            frozen=self.rule.scheme == CHANCE,
            dtype=dtype,
            threads=threads,
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision in which regrets and policies are kept."""
        return self._engine.regret.dtype

    @property
    def nodes_touched(self) -> int:
        """How many nodes all traversals have come to, terminals included, each hand of such walks counted."""
        return self._engine.touched

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        rule, last = self.rule, self.iteration + iterations
        while self.iteration < last:
            first = self.iteration + 1
            before, power = self._power(self.iteration), self._power(first)
            if power > before:
                self._engine.rows.fade(self._engine.policy_sum, self._largest ** float(before - power))
            plan = iterate.Plan(
                seed=np.uint64(self.seed),
                batch=rule.batch,
                gamma=rule.gamma,
                unit=self._largest ** (power / rule.gamma) if power else 1.0,
                discount=_DISCOUNT[rule.discount],
                period=rule.period,
            )
            skips = first >= rule.skip_from
            end = last if skips else min(last, rule.skip_from - 1)
            end = min(end, self._last_with(power, end))
            self._engine.run(self._options(skips=skips), plan, first, end - self.iteration)
            self.iteration = end

    def _power(self, iteration: int) -> int:
        """Returns how many times t^gamma must be divided by the largest weight to stay below it."""
        return floor(self.rule.gamma * log(iteration) / log(self._largest)) if iteration else 0

    def _last_with(self, power: int, end: int) -> int:
        """Returns the last iteration, at most `end`, with the same power."""
        if self._power(end) == power:
            return end
        guess = min(end, int(self._largest ** ((power + 1) / self.rule.gamma)))
        while self._power(guess) > power:
            guess -= 1
        while guess < end and self._power(guess + 1) == power:
            guess += 1
        return guess

    def _options(self, *, skips: bool) -> walk.Options:
        """Returns which actions a traversal explores."""
        rule = self.rule
        return walk.Options(
            opponent=rule.scheme == CHANCE,
            actions={ROBUST: rule.actions, OUTCOME: 1}.get(rule.scheme, _ALL),
            on_policy=1.0 - rule.exploration if rule.scheme == OUTCOME else 0.0,
            skipping=_SKIPPING[rule.skip] if skips else walk.NO_SKIPPING,
            threshold=rule.threshold,
            constant=rule.constant,
            rate=rule.rate,
        )

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges; uniform where the sampling has never been."""
        return self._engine.rows.policy(self._engine.policy_sum)

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration."""
        return self._engine.rows.policy(np.maximum(self._engine.regret, 0.0))

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same tree and rule needs to go on from here."""
        return {
            "regret": self._engine.regret,
            "policy_sum": self._engine.policy_sum,
            "nodes_touched": np.array([self.nodes_touched], np.int64),
            "seed": np.array([self.seed], np.int64),
        }

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same tree and rule; the results are then equal bit by bit."""
        own = self.state()
        restore_vectors(own, state)
        self._engine.touched, self.seed = int(own["nodes_touched"][0]), int(own["seed"][0])
        self.iteration = iteration
