"""What the last street of a hand is worth when both agents play it as they say: exact, for AIVAT.

Algorithm:
    At the first decision of the last street both agents are asked what they do there and at every decision that can
    follow, for all hands. With both reaches that gives the value of every action, and nothing that happens on
    that street is luck any more: AIVAT's score is the street's value at its start.

Reference: Burch et al. (2018): a value function may know the agents' policies; this one knows nothing else.
Deviations: none.
Status: tests/arena/whole_hands/aivat/test_playout.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.equity import showdown_rows
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, code_action
from aleator.games.holdem.hand_state import HandState

MAX_DECISIONS: Final = 500
"""Decisions of a street that are asked for; where agents consider more, the street is not played out."""


class _Decision(NamedTuple):
    """A decision of the street: where it is, and both players' reach of it, ``[2, 1326]``."""

    state: HandState
    reach: FloatArray


class _End(NamedTuple):
    """An end of the hand, after a decision by its number, with both players' reach of it."""

    state: HandState
    reach: FloatArray
    parent: int


class Playout:
    """Values of actions on the last street, hand by hand.

    Args:
        agents: the players.
        seats: the agent in each seat of each hand, ``[B, 2]``.
        max_decisions: see `MAX_DECISIONS`.
    """

    def __init__(
        self, agents: Sequence[HandAgent], seats: npt.NDArray[np.int64], max_decisions: int = MAX_DECISIONS
    ) -> None:
        self.agents, self.seats, self.max_decisions = agents, seats, max_decisions
        self._worth: dict[int, dict[tuple[Action, ...], float] | None] = {}

    def values(self, hands: HandBatch, row: int, codes: npt.NDArray[np.int32], reach: FloatArray) -> FloatArray | None:
        """Returns what player 0 wins in chips after each action of a decision, ``[A]``; None if it is not played out.

        Args:
            hands: of which
            row: one is asked about, first at the start of its last street.
            codes: of the actions.
            reach: of both players, ``[2, 1326]``; it counts at the start of the street.
        """
        if hands.betting.street[row] != hands.rules.num_streets - 1:
            return None
        state = hands.state(row)
        if row not in self._worth:
            self._worth[row] = self._play_out(state, reach.copy(), self.seats[row])
        worth = self._worth[row]
        if worth is None:
            return None
        return np.array([worth.get((*state.actions, code_action(int(code))), 0.0) for code in codes])

    def _play_out(
        self, start: HandState, reach: FloatArray, seats: npt.NDArray[np.int64]
    ) -> dict[tuple[Action, ...], float] | None:
        """Returns the value of every history of a street to player 0, by its actions; None if there are too many."""
        decisions, parents = [_Decision(start, reach)], [-1]
        ends: list[_End] = []
        done = 0
        while done < len(decisions):
            level = range(done, len(decisions))
            done = len(decisions)
            for seat in (0, 1):
                here = [number for number in level if decisions[number].state.player == seat]
                if not here:
                    continue
                batch = HandBatch.of_states([decisions[number].state for number in here])
                policy = ask_policies(self.agents[seats[seat]], batch, np.arange(len(here)))
                for position, number in enumerate(here):
                    if len(decisions) > self.max_decisions:
                        return None
                    for code, chances in zip(policy.codes[position], policy.probabilities[position], strict=True):
                        after = decisions[number].reach.copy()
                        after[seat] *= chances
                        if code == NO_CODE or not after[seat].any():
                            continue
                        state = decisions[number].state.act(code_action(int(code)))
                        if state.betting.is_over:
                            ends.append(_End(state, after, number))
                        else:
                            decisions.append(_Decision(state, after))
                            parents.append(number)
        return _worth(decisions, parents, ends)


def _worth(decisions: list[_Decision], parents: list[int], ends: list[_End]) -> dict[tuple[Action, ...], float]:
    """Returns the value of each decision and end to player 0, by its actions."""
    totals, weights = np.zeros(len(decisions)), np.zeros(len(decisions))
    values: dict[tuple[Action, ...], float] = {}
    setup, board = decisions[0].state.setup, np.array(decisions[0].state.board, np.int8)
    won, met = showdown_rows(board, np.stack([end.reach[1] for end in ends]))
    cap = min(setup.stacks)
    for end, shares, mass in zip(ends, won, met, strict=True):
        betting, weight = end.state.betting, float(end.reach[0] @ mass)
        paid = [min(chips, cap) for chips in betting.contributions]
        if betting.folded[0]:
            total = -paid[0] * weight
        elif betting.folded[1]:
            total = (paid[1] + betting.dead) * weight
        else:
            total = (sum(paid) + betting.dead) * float(end.reach[0] @ shares) - paid[0] * weight
        values[end.state.actions] = total / weight if weight > 0.0 else 0.0
        totals[end.parent] += total
        weights[end.parent] += weight
    for number in range(len(decisions) - 1, 0, -1):  # children come after their parents
        values[decisions[number].state.actions] = totals[number] / weights[number] if weights[number] > 0.0 else 0.0
        totals[parents[number]] += totals[number]
        weights[parents[number]] += weights[number]
    return values
