"""An agent with a weakness that people have: it plays as another one does, but likes to fold, call or raise too much.

The probability of the actions it likes is multiplied and all are scaled to sum to 1 again, hand by hand, which is how
Pluribus biases its blueprint for the continuations at a depth limit (thesis 6.6). Whatever the other agent never does
with a hand, this one does not do either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, HandPolicy
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, HandBatch, action_code
from aleator.games.holdem.hand_state import HandState

BIASES = ("fold", "call", "raise")


class BiasedAgent(HandAgent):
    """Plays as `agent`, with the actions it likes so many `times` likelier."""

    def __init__(self, agent: HandAgent, towards: str = "call", times: float = 5.0) -> None:
        self.agent, self.towards, self.times = agent, towards, times
        self.name = f"biased:{agent.name},towards={towards},times={times:g}"
        self.is_quick, self.knows_street, self.is_blind = agent.is_quick, agent.knows_street, agent.is_blind
        self.hands_at_once, self.is_alone = agent.hands_at_once, agent.is_alone
        self.has_own_stacks = agent.has_own_stacks

    def policy_at(self, state: HandState) -> HandPolicy:
        return self.policies_of([state])[0]

    def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
        policies = []
        for actions, probabilities in self.agent.policies_of(states):
            codes = np.array([[action_code(action) for action in actions]], np.int32)
            policies.append(HandPolicy(actions, self._bend(codes, probabilities[None])[0]))
        return policies

    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        codes, probabilities = self.agent.policies_at(hands, rows)
        return BatchPolicy(codes, self._bend(codes, probabilities))

    def held_policies(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
    ) -> BatchPolicy | None:
        policy = self.agent.held_policies(hands, rows, held)
        return policy and BatchPolicy(policy.codes, self._bend(policy.codes, policy.probabilities))

    def _bend(self, codes: npt.NDArray[np.int32], probabilities: FloatArray) -> FloatArray:
        """Returns [R, A, H]: the probabilities of actions [R, A] after the bias."""
        liked = {"fold": codes == FOLD_CODE, "call": codes == CALL_CODE, "raise": codes > 0}[self.towards]
        bent = probabilities * np.where(liked, self.times, 1.0)[:, :, None]
        total = bent.sum(axis=1, keepdims=True)
        return bent / np.where(total > 0.0, total, 1.0)
