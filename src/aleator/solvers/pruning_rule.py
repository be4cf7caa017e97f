"""Pruning rules: which parts of the tree CFR leaves out, as frozen values; how they work is in `pruned_cfr`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from aleator.errors import SolveError, check_known
from aleator.settings import WORD, check_settings, setting
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING, RegretRule

PARTIAL, REGRET_BASED, BEST_RESPONSE = "pp", "rbp", "brp"
METHODS = (PARTIAL, REGRET_BASED, BEST_RESPONSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningRule:
    """What is pruned, and the regret rule that goes on with it.

    Attributes:
        method: "pp" for partial pruning, "rbp" for regret-based, "brp" for best-response pruning.
        rule: how regrets are accumulated, matched and averaged.
        respond, greedy, least_skip, threshold, discard: see their settings.
    """

    method: str = REGRET_BASED
    rule: RegretRule = CFR_RULE
    respond: bool = setting(
        False,
        form=WORD,
        choices={"respond": True},
        help="best responses below the player's own actions of probability zero",
    )
    greedy: bool = setting(
        False,
        form=WORD,
        choices={"greedy": True},
        help="without a positive regret play the highest one, not all uniformly",
    )
    least_skip: float = setting(
        25.0,
        name="skip",
        least=0.0,
        unit="iterations",
        help="an action is pruned if it is expected to stay so for so many",
    )
    threshold: float = setting(
        0.0, least=0.0,
        help="d: probabilities below d / (A^2 sqrt(t)) become zero, with Hedge d sqrt(ln A) / (sqrt(2) A^2 sqrt(t))",
    )  # fmt: skip
    discard: float = setting(
        0.01,
        least=0.0,
        help="C: brp forgets sums of policies below a pruned action whose average is at most C / sqrt(t)",
    )

    def __post_init__(self) -> None:
        check_known(self.method, METHODS, "pruning")
        check_settings(self, SolveError)
        rule = self.rule
        if rule.minimiser == SHARP_MATCHING:
            raise SolveError(f"pruning goes with regret matching or Hedge, not with {SHARP_MATCHING}")
        if rule.optimistic:
            raise SolveError("pruning cannot be combined with predictions: an unvisited infostate predicts nothing")
        if self.method == PARTIAL:
            return
        if not (rule.floor or rule.beta > 0):
            raise SolveError(
                f"pruning needs regrets that can fall without bound: beta must be positive, not {rule.beta}"
            )
        if self.method == BEST_RESPONSE and (rule.minimiser == HEDGE or (rule.alpha, rule.beta) != (inf, inf)):
            raise SolveError("best-response pruning goes with regret matching without discounts: cfr, rm+ or cfr+")
        if rule.minimiser == HEDGE and self.threshold == 0:
            raise SolveError("regret-based pruning with Hedge needs a threshold, or no probability is ever zero")
