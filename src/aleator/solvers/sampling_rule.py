"""Sampling rules: the MCCFR family as values of one frozen dataclass, and their names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

from aleator.errors import SolveError, did_you_mean, shown
from aleator.parsing import MAX_ITERATIONS, MAX_WHOLE, check_name, parse_real, parse_whole

EXTERNAL, OUTCOME, ROBUST, CHANCE, PUBLIC_CHANCE = "external", "outcome", "robust", "chance", "public-chance"
SCHEMES = (EXTERNAL, OUTCOME, ROBUST, CHANCE, PUBLIC_CHANCE)
NO_DISCOUNT, LINEAR, INITIAL = "none", "linear", "initial"
DISCOUNTS = (NO_DISCOUNT, LINEAR, INITIAL)
NO_SKIPPING, LIBRATUS, PLURIBUS = "none", "libratus", "pluribus"
SKIPPINGS = (NO_SKIPPING, LIBRATUS, PLURIBUS)
MAX_ACTIONS = 10_000
MAX_BATCH = 1_000_000  # an iteration is not interrupted; more iterations do as well as larger ones
MAX_GAMMA = 1000.0  # in the average policy iterations before the last hundredth then count for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRule:
    """What is sampled, and what becomes of the sampled regrets.

    Attributes:
        scheme: what a traversal samples; see `mccfr`.
        actions: robust sampling explores so many actions of the traverser.
        exploration: outcome sampling draws the traverser's action uniformly with this probability, else by its policy.
        batch: traversals per player and iteration; regrets are their average.
        floor: regrets never fall below zero (MCCFR+).
        gamma: iteration t has weight t^gamma in the average policy.
        discount: "linear" multiplies regrets and sums of policies by n / (n + 1) when period n has ended, "initial" by
            1/10 when the first has.
        period: of the discount, in nodes touched.
        skip: "libratus" or "pluribus": how actions with very negative regret are skipped.
        threshold: the regret C below which they may be. Sampling alone moves regrets by the largest payoff times the
            square root of the iterations; a threshold that is not far below that skips actions which are needed.
        constant: Libratus explores an action with regret R < C with probability K / (K + C - R); this is K.
        rate: the share of traversals in which Pluribus skips.
        skip_from: the first iteration that skips.
    """

    scheme: str = EXTERNAL
    actions: int = 3
    exploration: float = 0.6
    batch: int = 1
    floor: bool = False
    gamma: float = 0.0
    discount: str = NO_DISCOUNT
    period: int = 10_000_000
    skip: str = NO_SKIPPING
    threshold: float = -30_000.0
    constant: float = 10_000.0
    rate: float = 0.95
    skip_from: int = 1

    def __post_init__(self) -> None:
        for field, value, allowed in (
            ("scheme", self.scheme, SCHEMES), ("discount", self.discount, DISCOUNTS), ("skip", self.skip, SKIPPINGS),
        ):  # fmt: skip
            if value not in allowed:
                raise SolveError(f"unknown {field} {shown(value)}; allowed: {', '.join(allowed)}")
        for field, number, most in (
            ("actions", self.actions, MAX_ACTIONS), ("batch", self.batch, MAX_BATCH),
            ("period", self.period, MAX_WHOLE), ("from", self.skip_from, MAX_ITERATIONS),
        ):  # fmt: skip
            if not 1 <= number <= most:
                raise SolveError(f"{field} must be a whole number from 1 to {most:,}, not {shown(number)}")
        for field, share in (("exploration", self.exploration), ("rate", self.rate)):
            if not 0 <= share <= 1:
                raise SolveError(f"{field} must be between 0 and 1, not {share}")
        if not 0 <= self.gamma <= MAX_GAMMA:
            raise SolveError(f"gamma must be from 0 to {MAX_GAMMA:,.0f}, not {self.gamma}")
        if not (isfinite(self.threshold) and self.threshold < 0 < self.constant < inf):
            raise SolveError(
                f"skipping needs a negative threshold and a positive constant, not {self.threshold} and {self.constant}"
            )
        if self.skip != NO_SKIPPING and self.scheme != EXTERNAL:
            raise SolveError(f"actions are skipped in external sampling only, not in {self.scheme} sampling")


SAMPLING_RULES: dict[str, SamplingRule] = {
    "mccfr": SamplingRule(),
    "mccfr+": SamplingRule(floor=True, gamma=1.0),
    "lmccfr": SamplingRule(discount=LINEAR),
}
# how options are written -> field, kind
_OPTIONS: dict[str, tuple[str, type]] = {
    "batch": ("batch", int), "epsilon": ("exploration", float), "gamma": ("gamma", float),
    "discount": ("discount", str), "period": ("period", int), "skip": ("skip", str), "threshold": ("threshold", float),
    "constant": ("constant", float), "rate": ("rate", float), "from": ("skip_from", int),
}  # fmt: skip
SAMPLING_USAGE = f"{'|'.join(SAMPLING_RULES)}[:SCHEME][,OPTION=VALUE ...]"


def is_sampling_rule(text: str) -> bool:
    """Returns whether a name is meant as that of a sampling rule."""
    return text.partition(":")[0] in SAMPLING_RULES


def parse_sampling_rule(text: str) -> SamplingRule:
    """Returns the rule of a name such as `mccfr`, `mccfr:robust3,batch=5000`, `lmccfr:period=1e6` or `mccfr+:outcome`.

    Raises:
        SolveError: no such rule, scheme or option; the message says what is allowed.
    """
    check_name(text, "a sampling rule", error=SolveError)
    name, _, rest = text.partition(":")
    if name not in SAMPLING_RULES:
        raise SolveError(f"unknown sampling rule {shown(text)}; allowed: {SAMPLING_USAGE}")
    fields: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals and part.startswith(ROBUST) and part != ROBUST:
            explored = parse_whole(
                part.removeprefix(ROBUST), f"K of {ROBUST}K", least=1, most=MAX_ACTIONS, error=SolveError
            )
            fields |= {"scheme": ROBUST, "actions": explored}
        elif not equals and part in SCHEMES:
            fields["scheme"] = part
        elif equals and key in _OPTIONS:
            field, kind = _OPTIONS[key]
            fields[field] = _value(key, kind, value)
        else:
            hint = did_you_mean(key, [*SCHEMES, *_OPTIONS])
            raise SolveError(
                f"{shown(text)}: unknown {shown(part)}; {hint}allowed: {', '.join(SCHEMES)} (robustK explores K "
                f"actions), {', '.join(f'{option}=' for option in _OPTIONS)}"
            )
    return replace(SAMPLING_RULES[name], **fields)


def _value(key: str, kind: type, value: str) -> Any:
    """Returns an option's value."""
    if kind is str:
        return value
    if kind is int:
        return parse_whole(value, key, error=SolveError)
    return parse_real(value, key, error=SolveError)
