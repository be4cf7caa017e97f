"""The family of fictitious play as values; `fictitious_play` has the algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from aleator.settings import setting
from aleator.solvers.regret_rule import ORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class FictitiousRule:
    """Which member of the family: linear weights, an optimistic view of the opponent, updates in turn."""

    linear: bool = False
    optimistic: bool = False
    alternating: bool = setting(True, **ORDER)

    def weight(self, iteration: int) -> float:
        """Returns the weight of iteration t (from 1) in the average."""
        return 2.0 / (iteration + 2.0) if self.linear else 1.0 / (iteration + 1.0)


FICTITIOUS_PLAY = FictitiousRule()
LINEAR_FICTITIOUS_PLAY = FictitiousRule(linear=True)
FLOP = FictitiousRule(linear=True, optimistic=True)
