"""Players that do not look at their cards: the "chumps" by which local best response was checked.

Reference: V. Lisý, M. Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchAgent, BatchPolicy
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, NO_CODE, HandBatch, LegalArrays

ALL_IN: Final = float("inf")
"""The size, in pots, of a bet of all chips."""

_STRATA: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """How likely somebody is to fold, call or raise, whatever the cards; what is not legal is left out.

    Attributes:
        fold, call, bet: weights; a bet or raise is of any legal amount, all alike. With nothing to call folding is not
            legal.
        by_amount: whether ``bet`` is the weight of each single amount.
        of_stack: whether an amount is drawn from all chips of the hand, those paid on earlier streets included; what is
            too little to be legal becomes the smallest raise, as dealers of the ACPC mend it.
    """

    fold: float = 0.0
    call: float = 0.0
    bet: float = 0.0
    by_amount: bool = False
    of_stack: bool = False


class ScriptedHandAgent(BatchAgent):
    """Follows a habit. Where it allows nothing that is legal, it checks or calls.

    Of many legal amounts 32 stand for all, evenly spread, so that an answer stays small.
    """

    is_blind = True

    def __init__(self, name: str, habit: Habit) -> None:
        self.name, self.habit = name, habit
        self.calls_on = (0, 1, 2, 3) if habit.call and not habit.fold and not habit.bet else ()

    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        habit, legal = self.habit, hands.legal(rows)
        codes = np.full((len(rows), 2 + (_STRATA if habit.bet else 0)), NO_CODE, np.int32)
        weights = np.zeros(codes.shape)
        codes[:, 0], codes[:, 1] = np.where(legal.can_fold, FOLD_CODE, NO_CODE), CALL_CODE
        weights[:, 0], weights[:, 1] = np.where(legal.can_fold, habit.fold, 0.0), habit.call
        if habit.bet:
            low, high = legal.min_raise_to.astype(np.int64), legal.max_raise_to.astype(np.int64)
            first, count = 2 + habit.of_stack, _STRATA - habit.of_stack
            amounts = np.where(low > 0, high - low + 1, 0)
            strata = np.minimum(amounts, count)
            middle = (2 * np.arange(count) + 1) * amounts[:, None] // np.maximum(2 * strata, 1)[:, None]
            is_used = np.arange(count) < strata[:, None]
            codes[:, first:] = np.where(is_used, low[:, None] + middle, NO_CODE)
            bet = habit.bet * (amounts if habit.by_amount else amounts > 0) / np.maximum(strata, 1)
            weights[:, first:] = np.where(is_used, bet[:, None], 0.0)
            if habit.of_stack:
                codes[:, 2] = np.where(low > 0, low, NO_CODE)
                mended = _too_little(hands, rows, legal)
                weights[:, 2] = weights[:, first:].sum(axis=1) * mended
                weights[:, first:] *= 1.0 - mended[:, None]
        weights[weights.sum(axis=1) == 0.0, 1] = 1.0
        return BatchPolicy(codes, (weights / weights.sum(axis=1, keepdims=True))[:, :, None])


def _too_little(hands: HandBatch, rows: npt.NDArray[np.int64], legal: LegalArrays) -> FloatArray:
    """Returns the share of all chips of the hand that are not enough for a raise, ``[R]``."""
    betting, player = hands.betting, hands.betting.player[rows].astype(np.int64)
    paid = betting.contributions[rows, player] - betting.bets[rows, player]  # on earlier streets
    return np.asarray((paid + legal.min_raise_to) / np.maximum(paid + legal.max_raise_to, 1), dtype=np.float64)


def raise_amounts(
    hands: HandBatch, rows: npt.NDArray[np.int64], legal: LegalArrays, sizes: FloatArray
) -> npt.NDArray[np.int32]:
    """Returns the raises of some sizes as codes, ``[R, S]``, clamped to what is legal; `NO_CODE` where no raise is.

    Args:
        hands: of which
        rows: some are asked for, and
        legal: what is legal there.
        sizes: multiples of the pot after a call, ``[S]`` or ``[R, S]``.
    """
    betting = hands.betting
    pot = hands.pot[rows] + legal.call_amount
    highest = betting.bets[rows].max(axis=1)
    low, high = legal.min_raise_to[:, None], legal.max_raise_to[:, None]
    wished = highest[:, None] + np.minimum(np.asarray(sizes) * pot[:, None] + 0.5, 2.0**30)
    amounts = np.clip(np.floor(wished).astype(np.int64), low, np.maximum(high, low))
    return np.where(low > 0, amounts, NO_CODE).astype(np.int32)


HABITS: Final = {
    "always-fold": ("folds to every bet, checks otherwise", Habit(fold=1.0)),
    "always-call": ("checks and calls", Habit(call=1.0)),
    "random": ("every legal action alike, each amount being one", Habit(fold=1.0, call=1.0, bet=1.0, by_amount=True)),
    "half-call-half-raise": (
        "calls half of the time, else raises to any part of its chips",
        Habit(call=1.0, bet=1.0, of_stack=True),
    ),
}
"""What is known of each scripted agent: in words, and as a habit."""
