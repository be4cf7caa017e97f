"""What a decision of a whole hand was worth: each action by a search that begins there, for the hand that was held.

Algorithm:
    What both did before the flop implies their ranges there (`agents.whole_hands.river_perfect`); from the flop on
    their reach is followed as ReBeL does, by average policies. A search begins at the decision, with the action that
    was taken added to its tree. What an action is worth to the hand is its cfv behind
    the root over the opponent's reach that shares no card with it, the mean over iterations. Chips are counted from
    the decision on: a fold is worth nothing. An action gives up what it is worth less than the best one; what the
    search itself takes often gives up nothing.

Reference: ReBeL section 6 (search from the public belief state), without the random iteration.
Deviations: decisions before the flop have no grade: the table of values there prices what its own search never does
    so badly that raising aces would be a mistake.
Status: tests/arena/whole_hands/test_grading.py (rivers agree with the exact solver; a fold is worth nothing).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from aleator.agents.whole_hands.rebel import Beliefs, RebelHandAgent
from aleator.agents.whole_hands.river_perfect import implied_range
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.agents.whole_hands.searching import RoundRequest, Searching, check_playable, states_before
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, ActionKind, raise_to
from aleator.games.holdem.cards import HANDS
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState
from aleator.search.whole_hands.rounds import child_of, nearest_action

OFTEN: Final = 0.2
"""What a search takes at least so often is no mistake."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Grade:
    """What a decision was worth.

    Attributes:
        state: where it was taken.
        hand: that was held.
        actions: of the search.
        policy: [A], what the search does with the hand.
        values: [A], chips that each action wins from here on, a fold nothing.
        taken: the place of the action that was taken; None if none was.
        reach: [2, 1326], how likely each player's hands are to get here.
    """

    state: HandState
    hand: int
    actions: tuple[Action, ...]
    policy: FloatArray
    values: FloatArray
    taken: int | None
    reach: FloatArray

    @property
    def given_up(self) -> float:
        """Chips by which the best action is worth more than the one that was taken, if the search does not take it."""
        if self.taken is None or self.policy[self.taken] >= OFTEN:
            return 0.0
        return float(self.values.max() - self.values[self.taken])


class _Searcher(RebelHandAgent):
    """ReBeL's beliefs by average policies, from ranges on the flop that the betting before it implies."""

    def __init__(self, settings: SearchSettings | None) -> None:
        super().__init__(settings, safe=False)

    def _after(self, beliefs: Beliefs, action: Action, later: HandState) -> Searching[Beliefs]:
        if beliefs.state.street == 0:
            return Beliefs(later, np.stack([implied_range(later, player) for player in (0, 1)]), None, None)
        return (yield from super()._after(beliefs, action, later))


class HandGrader:
    """Grades decisions of heads-up no-limit hold'em; searches are kept from decision to decision of a hand.

    Args:
        settings: how it searches.
    """

    def __init__(self, settings: SearchSettings | None = None) -> None:
        self._agent = _Searcher(settings)

    def grade(self, state: HandState, hand: int, action: Action | None = None) -> Grade:
        """Returns what the actions of a decision are worth to a hand.

        Args:
            state: where a player acts.
            hand: that the player holds.
            action: what the player did.

        Raises:
            AgentError: the decision cannot be searched: before the flop, more than two players, limit, unequal or very
                deep stacks.
        """
        check_playable("a grade", state)
        if not state.board:
            raise AgentError("decisions before the flop are not graded: values there are not exact enough")
        search = self._agent.search
        reach = self._agent.beliefs_at(state).reach
        added = None if action is None or search.offers(state, action) else action
        (solved,) = search.solve([RoundRequest((state, added), state, reach, added=added)])
        root = solved.game.root
        against = _met(solved.game.reach[1 - root.player], hand)
        values = np.array([cfvs[hand] for cfvs in solved.own_after]) / against
        folded = -(solved.game.pot / 2 + root.chips[root.player])
        taken = None
        if action is not None:
            taken = root.actions.index(action) if child_of(root, action) else nearest_action(root, action)
        return Grade(
            state=state,
            hand=hand,
            actions=root.actions,
            policy=solved.policies[root.number][:, hand],
            values=values - folded,
            taken=taken,
            reach=solved.game.reach,
        )

    def reach_on_street(self, state: HandState) -> FloatArray:
        """Returns [2, 1326]: how likely each player's hands are to get to the start of the street of a decision."""
        (first, *_) = [before for before in states_before(state) if before.street == state.street]
        return self._agent.beliefs_at(first).reach


def decisions_of(record: HandRecord, player: int) -> list[tuple[HandState, Action]]:
    """Returns where a player acted from the flop on, and how, with the smaller stack for both: no more can be lost.

    Raises:
        AgentError: more than two players, or the player's hand is not known.
    """
    if record.setup.num_players != 2:
        raise AgentError(f"{record.setup.num_players} players: only heads-up hands are graded")
    if record.hands[player] is None:
        raise AgentError(f"the hand of {record.names[player] if record.names else f'player {player}'} is not known")
    states = list(_even(record).states())
    return [
        (before, after.actions[-1])
        for before, after in itertools.pairwise(states)
        if len(after.actions) > len(before.actions) and before.player == player and before.board
    ]


def _even(record: HandRecord) -> HandRecord:
    """Returns a heads-up record in which both have the smaller of both stacks; bets are no larger than it."""
    stacks = record.setup.stacks
    if stacks[0] == stacks[1]:
        return record
    setup = replace(record.setup, stacks=(min(stacks), min(stacks)))
    state, actions, dealt = setup.start(), [], len(record.setup.board)
    for action in record.actions:
        while due := state.cards_due:
            state, dealt = state.deal(record.board[dealt : dealt + due]), dealt + due
        if state.is_over:
            break  # both are all-in: what is left is a call that adds nothing
        if action.kind is ActionKind.RAISE:
            most = state.legal_actions().max_raise_to
            action = Action(ActionKind.CALL) if most is None else raise_to(min(action.amount, most))
        state = state.act(action)
        actions.append(action)
    return replace(record, setup=setup, actions=tuple(actions))


def _met(reach: FloatArray, hand: int) -> float:
    """Returns how much of the opponent's reach [1326] shares no card with a hand."""
    shared = (HANDS[:, :, None] == HANDS[hand][None, None, :]).any(axis=(1, 2))
    return float(reach[~shared].sum())
