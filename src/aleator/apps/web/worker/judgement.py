"""What a decision is judged by: the worth of each action, and the equilibrium's policy where it has one.

An action is worth what the player wins by it against the agent's policy, if the player makes no mistake from there on.
That is a fact about the agent, whatever the player did before. With it a deal adds up: by taking the best action
everywhere the player wins on average what the seat is worth; each other action gives up what it is worth less; all else
is luck (`aleator.arena.luck`). Values under the equilibrium's own continuation would not do: where its hand never gets
to, the average policy of a solver is an accident.

A solution is exact up to its slack only. What the equilibrium takes often gives up nothing, and counts as luck where it
is worth less, by no more than the slack; where the equilibrium often takes what loses more, its policy has not settled
and is not shown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from aleator.games.base import FloatArray

OFTEN: Final = 0.2
"""An action that the equilibrium takes at least so often is no mistake."""
LEAST: Final = 1e-3
"""Below this share of the deals with a hand, the equilibrium does not get there with it."""
NEVER: Final = 1e-7

_NO_AGENT = "In the equilibrium the agent never gets here, so nothing says what your actions are worth."
_NO_HAND = "The equilibrium never gets here with your hand, so it has no policy for it."
_NOT_SETTLED = "The solution's policy for your hand has not settled here, so it is not shown."
_JUDGED = " Your action is judged by the best you can do from here on against this agent."


class Judgement(NamedTuple):
    """What a decision is judged by.

    Attributes:
        values: [A], what each action is worth; None where the equilibrium's agent never gets to.
        policy: [A], what the equilibrium does with the hand; None where it has no policy worth the name.
        note: why one of them is missing, in words.
    """

    values: FloatArray | None
    policy: FloatArray | None
    note: str = ""

    def given_up(self, taken: int) -> float:
        """Returns what an action is worth less than the best; nothing if the equilibrium often takes it."""
        if self.values is None or (self.policy is not None and self.policy[taken] >= OFTEN):
            return 0.0
        return float(self.values.max() - self.values[taken])


def judge(values: FloatArray, policy: FloatArray, *, own_reach: float, other_reach: float, slack: float) -> Judgement:
    """Returns what a decision is judged by.

    Args:
        values: [A], what each action is worth.
        policy: [A], the average policy of the solution.
        own_reach: how likely the player gets here by its own policy with this hand.
        other_reach: how likely the agent gets here by its policy, over the hands that it can have.
        slack: how exact the solution is, in the unit of values: no less than its exploitability.
    """
    if not other_reach > NEVER or not np.isfinite(values).all():
        return Judgement(None, None, _NO_AGENT)
    if own_reach < LEAST:
        return Judgement(values, None, _NO_HAND + _JUDGED)
    if (policy[values.max() - values > slack] >= OFTEN).any():
        return Judgement(values, None, _NOT_SETTLED + _JUDGED)
    return Judgement(values, policy)
