"""Regret rules: the whole CFR family as values of one frozen dataclass.

Algorithm:
    On iteration t a player's regrets R and sum of policies S become
        R <- max(floor, R x (positive or negative discount) + r_t),    S <- S x decay + reach_t x policy_t,
    and the next policy is proportional to max(R, 0), or with a prediction to max(R x next discount + r_t, 0).
    Sharp matching makes policies proportional to max(R, 0)^1.5, a polynomial link between regret and policy.
    DCFR(alpha, beta, gamma) discounts positive regrets by t^alpha / (t^alpha + 1), negative ones by the same with beta,
    and the sum by (t / (t + 1))^gamma after iteration t. All rules below are special cases.

Reference:
    CFR+ (thesis 2.3.7; quadratic averaging 3.1.1), LCFR, LCFR+, DCFR (thesis 3.1.2), Hedge (thesis 3.4.3).
    PCFR+: Farina, Kroer, Sandholm 2021 (arXiv 2007.14358). DCFR+ and PDCFR+: Xu et al. 2024 (arXiv 2404.13891).
    Polynomial links: Greenwald, Li, Marks 2006 (Bounds for regret-matching algorithms); in CFR D'Orazio et al. 2020
    (arXiv 1912.02967).
    HS-DCFR and HS-PCFR+: Zhang, McAleer, Sandholm 2024 (arXiv 2404.09097), which make the exponents linear in t / T.

Deviations:
    An infinite exponent means "no discount" (alpha) or "forget at once" (beta) from the first iteration on.
    Sharp matching together with discounts is ours: no bound is known to us. It is the quickest in hold'em
    (`aleator paper holdem-rules`), whose solver interpolates the power (`simd.sharpened`), and in the depth-limited
    searches of ReBeL. Hedge's variance is that of the counterfactual value; where it is zero the best action so far is
    played.

Status:
    CFR, CFR+, DCFR equal OpenSpiel's iterates (tests/solvers/test_against_openspiel.py); every rule equals the
    recursive reference (tests/solvers/test_engine.py) and converges (tests/solvers/test_cfr.py).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import FloatArray
from aleator.settings import PLACED, SLASH, check_settings, setting

MAX_EXPONENT = 100.0
REGRET_MATCHING, SHARP_MATCHING, HEDGE = "regret-matching", "sharp-matching", "hedge"
ORDER: dict[str, Any] = {  # a setting that all families have whose players can be updated at once
    "name": "updates", "form": SLASH, "choices": {"simultaneous": False, "alternating": True},
    "metavar": "simultaneous",
    "help": "both players at once, against the old policies; or one after the other",
}  # fmt: skip


class EqualWeights(NamedTuple):
    """What equal iterations leave in a solver, as factors on one of them.

    Attributes:
        positive, negative: on regrets, by their sign.
        policy: on what the average is made of.
    """

    positive: float
    negative: float
    policy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretRule:
    """How regrets are accumulated, how they become a policy, how policies are averaged.

    Attributes:
        alpha, beta, gamma: exponents of the discounts of positive and of negative regrets and of the average.
        floor: regrets never fall below zero (regret matching+).
        optimistic: the next policy assumes that the last iteration's regrets come once more.
        minimiser: "regret-matching", "sharp-matching" or "hedge".
        alternating: players are updated in turn, the second against the first's new policy; else both at once.
        alpha_slope, beta_slope, gamma_slope: added to the exponents in proportion to t / horizon (hyper-parameter
            schedules).
        horizon: the iteration at which a schedule ends.
        restart: the average begins anew at the powers of this number; 0 for never.
    """

    alpha: float = setting(
        inf, form=PLACED, least=-MAX_EXPONENT, most=MAX_EXPONENT, infinite=True,
        help="exponent of the discount of positive regrets; inf for none",
    )  # fmt: skip
    beta: float = setting(
        inf, form=PLACED, least=-MAX_EXPONENT, most=MAX_EXPONENT, infinite=True,
        help="exponent of the discount of negative regrets; inf for none, -inf to forget them",
    )  # fmt: skip
    gamma: float = setting(
        0.0, form=PLACED, least=0.0, most=MAX_EXPONENT,
        help="exponent of the weight of iteration t in the average policy, t^gamma",
    )  # fmt: skip
    floor: bool = False
    optimistic: bool = False
    minimiser: str = REGRET_MATCHING
    alternating: bool = setting(True, **ORDER)
    alpha_slope: float = 0.0
    beta_slope: float = 0.0
    gamma_slope: float = 0.0
    horizon: int = 1000
    restart: int = 0

    def __post_init__(self) -> None:
        known = (REGRET_MATCHING, SHARP_MATCHING, HEDGE)
        check_known(self.minimiser, known, "minimiser")
        check_settings(self, SolveError)
        if self.horizon < 1:
            raise SolveError(f"a schedule's horizon must be at least 1 iteration, not {self.horizon}")
        if self.restart < 0 or self.restart == 1:
            raise SolveError(f"the average can begin anew at powers of 2 or more, or never (0), not of {self.restart}")
        if self.minimiser == HEDGE and (self.floor or self.optimistic):
            raise SolveError("Hedge takes neither a floor nor a prediction")

    def schedule(self, first: int, count: int) -> FloatArray:
        """Returns [count, 5]: what iterations first, first + 1, ... multiply by.

        Columns: discount of positive and of negative regrets, decay of the sum of policies (all three applied before
        the iteration's own contribution is added), floor, discount of regrets in the prediction of the next iteration.
        """
        before = np.arange(first - 1, first - 1 + count, dtype=np.float64)
        part = np.minimum(before / self.horizon, 1.0)
        rows = np.empty((count, 5))
        rows[:, 0] = _discount(before, self.alpha + self.alpha_slope * part)
        rows[:, 1] = _discount(before, self.beta + self.beta_slope * part)
        averaged = before - _last_power(before, self.restart)
        rows[:, 2] = (averaged / (averaged + 1.0)) ** (self.gamma + self.gamma_slope * part)
        rows[:, 3] = 0.0 if self.floor else -inf
        after = np.minimum((before + 1.0) / self.horizon, 1.0)
        rows[:, 4] = _discount(before + 1.0, self.alpha + self.alpha_slope * after)
        return rows

    def equal_weights(self, iterations: int) -> EqualWeights:
        """Returns how much that many iterations leave, from the first on, if all of them are equal."""
        positive = negative = policy = 0.0
        for discounts in self.schedule(1, iterations):
            positive = positive * discounts[0] + 1.0
            negative = negative * discounts[1] + 1.0
            policy = policy * discounts[2] + 1.0
        return EqualWeights(positive, negative, policy)

    @property
    def power(self) -> float:
        """Exponent of regrets in the policies that match them."""
        return 1.5 if self.minimiser == SHARP_MATCHING else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values (infinities as strings)."""
        return {key: repr(value) if value in (inf, -inf) else value for key, value in asdict(self).items()}

    @staticmethod
    def from_dict(fields: dict[str, Any]) -> RegretRule:
        """Returns the rule that `to_dict` wrote."""
        values: dict[str, Any] = {key: float(x) if x in ("inf", "-inf") else x for key, x in fields.items()}
        return RegretRule(**values)


def _discount(t: FloatArray, exponent: FloatArray) -> FloatArray:
    """Returns t^e / (t^e + 1), with the limits 1 and 0 at infinite exponents."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        finite = 1.0 / (1.0 + t ** -np.where(np.isfinite(exponent), exponent, 0.0))
    return np.where(np.isfinite(exponent), finite, (exponent > 0).astype(np.float64))


def _last_power(t: FloatArray, base: int) -> FloatArray:
    """Returns the largest power of `base` (1, base, ...) that is at most each t; 0 if there is none or base is 0."""
    powers = [0.0]
    while base and powers[-1] * base <= t.max(initial=0.0):
        powers.append(powers[-1] * base or 1.0)
    return np.array(powers)[np.searchsorted(powers, t, side="right") - 1]


CFR = RegretRule()
RM_PLUS = RegretRule(floor=True)
CFR_PLUS = RegretRule(floor=True, gamma=1.0)
CFR_PLUS_QUADRATIC = RegretRule(floor=True, gamma=2.0)
LCFR = RegretRule(alpha=1.0, beta=1.0, gamma=1.0)
LCFR_PLUS = RegretRule(alpha=1.0, floor=True, gamma=1.0)
DCFR = RegretRule(alpha=1.5, beta=0.0, gamma=2.0)
DCFR_PLUS = RegretRule(alpha=1.5, floor=True, gamma=4.0)
PCFR_PLUS = RegretRule(floor=True, optimistic=True, gamma=2.0)
PDCFR_PLUS = RegretRule(alpha=2.3, floor=True, optimistic=True, gamma=5.0)
HS_DCFR = RegretRule(alpha=1.0, alpha_slope=3.0, beta=-1.0, beta_slope=-2.0, gamma=30.0, gamma_slope=-5.0, horizon=1000)
HS_PCFR_PLUS = RegretRule(floor=True, optimistic=True, gamma=30.0, gamma_slope=-5.0, horizon=1000)
HEDGE_RULE = RegretRule(minimiser=HEDGE)
SHARP_DCFR_PLUS = RegretRule(alpha=1.25, alpha_slope=0.25, horizon=100, floor=True, gamma=4.0, minimiser=SHARP_MATCHING)
