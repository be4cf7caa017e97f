"""Pruning rules: which parts of the tree CFR leaves out, as frozen values; how they work is in `pruned_cfr`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from aleator.errors import SolveError, did_you_mean, shown
from aleator.parsing import check_name, parse_real
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING, RegretRule, parse_rule

PARTIAL, REGRET_BASED, BEST_RESPONSE = "pp", "rbp", "brp"
METHODS = (PARTIAL, REGRET_BASED, BEST_RESPONSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningRule:
    """What is pruned, and the regret rule that goes on with it.

    Attributes:
        method: "pp" for partial pruning, "rbp" for regret-based, "brp" for best-response pruning.
        rule: how regrets are accumulated, matched and averaged.
        respond: play a best response below the player's own actions of probability zero.
        greedy: without a positive regret play the highest one, not all actions uniformly.
        least_skip: an action is pruned if it is expected to stay so for at least this many iterations.
        threshold: d of dynamic thresholding: probabilities below d sqrt(ln A) / (sqrt(2) A^2 sqrt(t)) become zero
            (Hedge; d / (A^2 sqrt(t)) with regret matching). 0 for none.
        discard: C: best-response pruning throws away the sums of policies below a pruned action that the average policy
            plays with a probability of at most C / sqrt(t).
    """

    method: str = REGRET_BASED
    rule: RegretRule = CFR_RULE
    respond: bool = False
    greedy: bool = False
    least_skip: float = 25.0
    threshold: float = 0.0
    discard: float = 0.01

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SolveError(f"unknown pruning {self.method!r}; allowed: {', '.join(METHODS)}")
        for field, number in (("skip", self.least_skip), ("threshold", self.threshold), ("discard", self.discard)):
            if not (isfinite(number) and number >= 0):
                raise SolveError(f"{field} must be 0 or more, not {number}")
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


# how options are written -> field
_OPTIONS = {"skip": "least_skip", "threshold": "threshold", "discard": "discard"}
_SWITCHES = ("respond", "greedy")
PRUNING_USAGE = f"{'|'.join(METHODS)}[:RULE]{''.join(f'[,{name}]' for name in _SWITCHES)}[,OPTION=VALUE ...]"


def is_pruning_rule(text: str) -> bool:
    """Returns whether a name is meant as that of a pruning rule."""
    return text.partition("/")[0].partition(":")[0].partition(",")[0] in METHODS


def parse_pruning_rule(text: str) -> PruningRule:
    """Returns the rule named `rbp`, `rbp:cfr+`, `pp:dcfr:1.5,0.5,2/simultaneous` or `rbp:hedge,threshold=0.5`.

    Raises:
        SolveError: no such method, rule or option; the message says what is allowed.
    """
    check_name(text, "a pruning rule", error=SolveError)
    name, slash, suffix = text.partition("/")
    method, colon, rest = name.partition(":")
    method, *more = method.split(",")
    if method not in METHODS:
        raise SolveError(f"unknown pruning {shown(text)}; allowed: {PRUNING_USAGE}")
    fields: dict[str, Any] = {"respond": method == REGRET_BASED, "greedy": method == BEST_RESPONSE}
    rule = []
    for part in (*more, *(rest.split(",") if colon else ())):
        key, equals, value = part.partition("=")
        if equals and key in _OPTIONS:
            fields[_OPTIONS[key]] = parse_real(value, key, least=0.0, error=SolveError)
        elif equals:
            allowed = ", ".join(f"{option}=" for option in _OPTIONS)
            raise SolveError(f"{shown(text)}: unknown {shown(part)}; {did_you_mean(key, _OPTIONS)}allowed: {allowed}")
        elif part in _SWITCHES:
            fields[part] = True
        else:
            rule.append(part)
    try:
        base = parse_rule((",".join(rule) or "cfr") + slash + suffix)
    except SolveError as error:
        raise SolveError(f"{error}; pruning is written {PRUNING_USAGE}") from None
    return PruningRule(method=method, rule=base, **fields)
