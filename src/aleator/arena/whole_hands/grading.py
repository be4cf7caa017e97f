"""What a decision of a whole hand was worth: each action by a search that begins there, for the hand that was held.

Algorithm:
    Both players' reach is followed from the blinds on as ReBeL does, by the average policies of the searches along the
    hand, and now and then by a rule (`arena.whole_hands.ranges`). At a table of several a blueprint and the rule tell
    what both hold when two are left, or the rule alone. A search begins at the decision, with the action that was
    taken added to its tree. What an action is worth to the hand is its cfv behind the root over the opponent's reach
    that shares no card with it, the mean over iterations. Chips are counted from the decision on: a fold is worth
    nothing. An action gives up what it is worth less than the best one; what the search itself takes often gives up
    nothing.

Reference: ReBeL section 6 (search from the public belief state), without the random iteration.
Deviations: decisions with three and more players in the pot have no grade, nor have those before the flop at a table of
    several: `arena.whole_hands.table_grading` has.
Status: tests/arena/whole_hands/test_grading.py (rivers agree with the exact solver, calls of all chips before the flop
    with the table of equities; a fold is worth nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from aleator.agents.whole_hands.rebel import Beliefs, RebelHandAgent
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.agents.whole_hands.searching import (
    RoundRequest,
    RoundSearch,
    Searching,
    check_playable,
)
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.decisions import Decision
from aleator.arena.whole_hands.ranges import believed
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import without_common_cards
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.search.whole_hands.rounds import SolvedRound, child_of, nearest_action

OFTEN: Final = 0.2
"""What a search takes at least so often is no mistake."""
_TABLES: Final = 8  # hands whose searches are kept


@dataclass(frozen=True, kw_only=True, eq=False)
class Grade:
    """What a decision was worth.

    Attributes:
        decision: that it is about.
        hand: that was held.
        actions: of the search.
        policy: [A], what the search does with the hand.
        values: [A], chips that each action wins from here on, a fold nothing.
        taken: the place of the action that was taken; None if none was.
        reach: [2, 1326], how likely each player's hands are to get here.
    """

    decision: Decision
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
    """ReBeL's beliefs by average policies and, now and then, by a rule.

    Args:
        search: what solves rounds.
        ranges: [2, 1326], with which hands begin that begin after the flop.
    """

    def __init__(self, search: RoundSearch, ranges: FloatArray | None = None) -> None:
        super().__init__(search.settings, safe=False)
        self.search, self._ranges = search, ranges

    def solved_at(self, state: HandState, added: Action | None) -> SolvedRound:
        """Returns the search that begins at a decision, with an action added to its tree."""
        return self.follow([self._solved_at(state, added)])[0]

    def _solved_at(self, state: HandState, added: Action | None) -> Searching[SolvedRound]:
        beliefs = yield from self._beliefs_at(state, None)
        return (yield RoundRequest((state, None, added), state, beliefs.reach, added=added))

    def _at_start(self, state: HandState) -> Beliefs:
        return super()._at_start(state) if self._ranges is None else Beliefs(state, self._ranges, None, None)

    def _likely(self, beliefs: Beliefs, action: Action) -> FloatArray:
        assert beliefs.solved is not None and beliefs.node is not None
        policy = beliefs.solved.played[beliefs.node.number]
        return believed(policy[nearest_action(beliefs.node, action)], beliefs.state, action)


class HandGrader:
    """Grades decisions of no-limit hold'em between two players; searches are kept from decision to decision of a hand.

    Args:
        settings: how it searches.
        blueprint: returns that of several players, which tells with which hands two of them are left, when one is
            needed; None: a rule tells.
    """

    def __init__(
        self, settings: SearchSettings | None = None, blueprint: Callable[[], StandInAgent | None] | None = None
    ) -> None:
        self._settings, self._blueprint = settings, blueprint
        self._agents: Kept[_Searcher] = Kept(_TABLES)

    def _agent(self, decision: Decision) -> _Searcher:
        """Returns who follows the ranges of a hand: hands that were of several players have one each."""
        key: Hashable = decision.start
        agent = self._agents.find(key)
        if agent is None:
            ranges = None
            if decision.start is not None:
                ranges = decision.ranges(None if self._blueprint is None else self._blueprint())
            agent = self._agents.keep(key, _Searcher(self._search, ranges))
        return agent

    @cached_property
    def _search(self) -> RoundSearch:
        return RebelHandAgent(self._settings).search

    def grade(self, decision: Decision, hand: int) -> Grade:
        """Returns what the actions of a decision are worth to a hand.

        Raises:
            AgentError: the decision cannot be searched: limit, very deep stacks.
        """
        state, action = decision.state, decision.action
        check_playable("a grade", state)
        added = None if action is None or self._search.offers(state, action) else action
        solved = self._agent(decision).solved_at(state, added)
        root = solved.game.root
        against = without_common_cards(solved.game.reach[1 - root.player])[hand]
        values = np.array([cfvs[hand] for cfvs in solved.own_after]) / against
        folded = -(solved.game.pot / 2 + root.chips[root.player])
        taken = None
        if action is not None:
            taken = root.actions.index(action) if child_of(root, action) else nearest_action(root, action)
        return Grade(
            decision=decision,
            hand=hand,
            actions=root.actions,
            policy=solved.policies[root.number][:, hand],
            values=values - folded,
            taken=taken,
            reach=solved.game.reach,
        )

    def reach_on_street(self, decision: Decision) -> FloatArray:
        """Returns [2, 1326]: how likely each player's hands are to get to the start of the street of a decision."""
        state = decision.state
        (first, *_) = [before for before in states_before(state) if before.street == state.street]
        return self._agent(decision).beliefs_at(first).reach
