"""Gadgets that are played between iterations: the opponent's reach at the root of a subgame, from its cfvs there.

Algorithm:
    What stands above a subgame only decides how much of each hand of the opponent enters it. Where a tree cannot be put
    together (leaves with values, the boards of hold'em) that is found between two iterations by regret matching+:
      RangeGadget    each hand follows into the subgame or terminates for its constraint (re-solving);
      MarginGadget   the opponent picks the hand to enter with, for the price of its alternative payoff (maxmargin).

Reference: DeepStack, Algorithm 1 (RANGEGADGET); thesis 5.1.2, 5.1.10.
Deviations: none; the same games as those of `aleator.search.gadgets`.
Status: tests/search/test_continual_resolving.py, tests/search/test_holdem_resolving.py.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from aleator.games.base import FloatArray


class RootGadget(Protocol):
    """The opponent's reach [H] at the root, and how it follows from its cfvs there."""

    @property
    def reach(self) -> FloatArray:
        """[H]: the opponent's reach at the root of the subgame."""

    def update(self, cfvs: FloatArray) -> FloatArray:
        """Returns the opponent's next reach, given its cfvs [H] for entering the subgame in this iteration."""


class RangeGadget:
    """RANGEGADGET: which hands of the opponent follow into the subgame, by regret matching+ against terminating.

    Args:
        constraint: [H] v_2, the cfvs for terminating.
        dealt: [H] how much of each hand is dealt and may choose.
        forced: [H] how much of each hand is in the subgame whatever it would choose.
    """

    def __init__(self, constraint: FloatArray, dealt: FloatArray, forced: FloatArray) -> None:
        self._constraint, self._dealt, self._forced = constraint, dealt, forced
        self._regret = np.zeros((2, len(constraint)))  # of following and of terminating
        self._follow = np.full(len(constraint), 0.5)

    @property
    def reach(self) -> FloatArray:
        """[H]: the opponent's reach at the root of the subgame."""
        reach: FloatArray = self._forced + self._dealt * self._follow
        return reach

    def update(self, cfvs: FloatArray) -> FloatArray:
        """Returns the opponent's next reach, given its cfvs [H] for following in this iteration."""
        mean = self._follow * cfvs + (1.0 - self._follow) * self._constraint
        self._regret += np.stack([cfvs - mean, self._constraint - mean])
        np.maximum(self._regret, 0.0, out=self._regret)
        total = self._regret.sum(axis=0)
        self._follow = np.where(total > 0.0, self._regret[0] / np.where(total > 0.0, total, 1.0), 0.5)
        return self.reach


class MarginGadget:
    """The maxmargin gadget: which hand the opponent enters with.

    Args:
        alternative: [H] what each hand pays to enter, as a value given the hand.
        cf_reach: [H] of the opponent: chance x the searcher's reach; hands with none are never chosen.
    """

    def __init__(self, alternative: FloatArray, cf_reach: FloatArray) -> None:
        self._alternative = alternative
        self._share = np.divide(1.0, cf_reach, out=np.zeros(len(cf_reach)), where=cf_reach > 0.0)
        self._possible = cf_reach > 0.0
        self._regret = np.zeros(len(cf_reach))
        self._chosen = self._possible / max(1, int(self._possible.sum()))

    @property
    def reach(self) -> FloatArray:
        """[H]: the opponent's reach at the root; for each hand it may choose, chance deals the searcher's."""
        reach: FloatArray = self._chosen * self._share
        return reach

    def update(self, cfvs: FloatArray) -> FloatArray:
        """Returns the opponent's next reach, given its cfvs [H] for entering in this iteration."""
        gains = np.where(self._possible, cfvs * self._share - self._alternative, 0.0)
        self._regret += np.where(self._possible, gains - float(self._chosen @ gains), 0.0)
        np.maximum(self._regret, 0.0, out=self._regret)
        total = float(self._regret.sum())
        if total > 0.0:
            self._chosen = self._regret / total
        return self.reach
