"""AIVAT by a blueprint's own values: what a player wins by doing otherwise, where all others play the blueprint.

Algorithm:
    V is what both players who are left expect if both play the blueprint on. Then a card is worth what it was worth
    before, on average, and so is an action of who plays the blueprint: of AIVAT's sum nothing is left but, at each
    decision of the one who deviates, how much more its policy is worth than the blueprint's, by V after each action
    (the advantage). Averaged over the hands that both may hold after what was done, that is one number for each
    decision; their sum along the line that is played has the gain as its expectation. V needs not be exact: it is the
    mean over runouts that are drawn apart from the hand (`abstraction.ring.values`), which changes no expectation.
    The cards of those who have folded are known here: nobody holds them, and they do not come.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT" (2018), equations 7 to 11; S. Kakade,
    J. Langford, "Approximately Optimal Approximate Reinforcement Learning" (ICML 2002), lemma 6.1: a policy's gain is
    the sum of its advantages.
Deviations: none.
Status: tests/arena/whole_hands/aivat/test_table_gain.py (0 for the blueprint, the mean is that of chips, with
    less variance).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.values import RingValues
from aleator.agents.whole_hands.base import HandPolicy
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.arena.whole_hands.aivat.table_ranges import Answer, TableRangeLuck
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HANDS, NUM_HANDS, blocked_hands, without_common_cards
from aleator.games.holdem.hand_batch import HandBatch, code_action
from aleator.games.holdem.hand_state import HandState, states_before

_ROUNDING: Final = 1e-6  # policies that differ by less are the same


class TableGain(TableRangeLuck):
    """Follows a batch of hands as they are played; `estimates` are what everybody wins more than by the blueprint.

    Args:
        hands: the batch before its first action, with all cards.
        seeds: ``[B]`` of what is drawn for each hand.
        since: the street up to which everybody plays the blueprint.
        blueprint: that is.
    """

    def __init__(
        self, hands: HandBatch, seeds: npt.NDArray[np.uint64], *, since: int, blueprint: RingBlueprintAgent
    ) -> None:
        super().__init__(hands, seeds, since=since)
        self.blueprint, self._values = blueprint, RingValues(blueprint.policy)

    def _estimate(self, row: int) -> FloatArray:
        hands, players = self.hands, self.hands.setup.num_players
        states, live = states_before(hands.state(row))[:-1], list[int]()
        dead_cards, rng = list[int](), np.random.default_rng(int(self._seeds[row]))
        gain, reach = np.zeros(players), np.ones((players, NUM_HANDS))
        for state, answer in zip(states, self._answers[row], strict=True):
            if state.street >= self._since:
                if not live:
                    live = list(state.betting.live_players)
                    folded = [player for player in range(players) if player not in live]
                    dead_cards = HANDS[hands.hands[row, folded]].reshape(-1).tolist()
                other = live[0] if answer.player == live[1] else live[1]
                gain[answer.player] += self._advantage(state, answer, reach[[answer.player, other]], dead_cards, rng)
            own = reach[answer.player] * answer.probabilities[answer.chosen]
            reach[answer.player] = own / own.max()
        return gain

    def _advantage(
        self, state: HandState, answer: Answer, reach: FloatArray, dead_cards: list[int], rng: np.random.Generator
    ) -> float:
        """Returns by how many chips a player's policy at a decision is better than the blueprint's."""
        policy = self.blueprint.policy_at(state)
        more = -policy.probabilities
        for code, chances in zip(answer.codes.tolist(), answer.probabilities, strict=True):
            if chances.any():
                more[self._column(policy, code_action(code))] += chances
        own, others = reach * ~blocked_hands([*state.board, *dead_cards])
        if (np.abs(more) * own).max() < _ROUNDING:
            return 0.0
        decision = self.blueprint.policy.decision_at(state)
        assert decision is not None, "all actions are the blueprint's"
        worth = self._values.of_actions(decision, state.board, others, rng, dead_cards)
        return float((more * own * worth).sum() / (own @ without_common_cards(others)))

    def _column(self, policy: HandPolicy, action: Action) -> int:
        if action not in policy.actions:
            raise AgentError(f"{self.blueprint.name} does not consider {action}, which a search does: not for pairs")
        return policy.actions.index(action)
