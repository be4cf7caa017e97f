"""Alternative payoffs: what each hand of the opponent gets if it does not enter a subgame.

Algorithm:
    Safe search takes the opponent's best-response values against the blueprint, CBV: no hand needs to get more than it
    could have got anyway, and the whole policy is no more exploitable than the blueprint. *Estimates* of what a hand is
    worth when both play well are lower and better, but promise nothing: values of the opponent's response within the
    means that made the blueprint. Gifts (`reach`) are added to either. *Distributional* alternative payoffs are
    normally distributed around that, with a standard deviation of |estimate - CBV|.

Reference: thesis 5.1.2, 5.1.4 (estimates, Theorem 21), 5.1.5 (distributional, and the deviation's heuristic).
Deviations: none.
Status: tests/search/test_safe.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import FloatArray
from aleator.search.blueprint import Blueprint
from aleator.search.gifts import gifts

GIFTS = ("none", "split", "unsplit")


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoffRule:
    """Where alternative payoffs come from.

    Attributes:
        estimate: from the blueprint's estimates instead of a best response.
        gifts: "none", "split" or "unsplit" (Reach search).
        gift_scale: a factor on gifts; above 1 nothing is guaranteed (thesis 5.1.11).
    """

    estimate: bool = False
    gifts: str = "none"
    gift_scale: float = 1.0

    def __post_init__(self) -> None:
        check_known(self.gifts, GIFTS, "gifts")
        if not 0.0 <= self.gift_scale < np.inf:
            raise SolveError(f"gifts are scaled by a finite factor of at least 0, not {self.gift_scale}")


class AlternativePayoff(NamedTuple):
    """The alternative payoffs at the root of a subgame.

    Attributes:
        mean: [H] of the opponent, as values given the hand.
        deviation: [H]: how far an estimate may be off.
    """

    mean: FloatArray
    deviation: FloatArray


class AlternativePayoffs:
    """The alternative payoffs of one player at every node of a blueprint."""

    def __init__(self, blueprint: Blueprint, opponent: int, rule: PayoffRule) -> None:
        self.blueprint, self.opponent = blueprint, opponent
        self._exact = blueprint.response_cfvs[opponent]
        self._used = blueprint.estimated_cfvs[opponent] if rule.estimate else self._exact
        self._gifts: list[FloatArray] | None = None
        if rule.gifts != "none":
            self._gifts = gifts(blueprint, opponent, self._used, split=rule.gifts == "split")
        self._scale = rule.gift_scale

    def at(self, node: int) -> AlternativePayoff:
        """Returns the alternative payoffs of a subgame's root."""
        value = self.blueprint.values
        mean = value(self.opponent, node, self._used)
        deviation = np.abs(mean - value(self.opponent, node, self._exact))
        if self._gifts is not None:
            mean = mean + self._scale * self._gifts[node]
        return AlternativePayoff(mean, deviation)
