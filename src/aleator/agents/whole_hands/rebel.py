"""ReBeL in whole hands: search from the public belief state, played by the policy of a random iteration.

Algorithm:
    Both players' reach is followed from the blinds on. Where a round begins, it is solved from there to its end with
    values at its leaves; an iteration t is drawn with the weights of the average policy, and until the round ends
    both players are believed to act as iteration t did, and the agent acts so. If somebody bets what the tree does
    not have, a new search begins at that decision, from the reach there, with that bet added. Rounds that are solved
    to the end of the hand have no leaves and are played by their average policy, which is what a random iteration
    plays in expectation.

Reference: ReBeL section 6 (safe search by a random iteration) and App. F (off-tree actions are added to the subgame).
Deviations: no policy network; sharp DCFR+. An opponent is believed to take any action with probability `tremble`, so
    that no hand of it is ruled out because the search itself would not play it so; each seat then has its own beliefs.
Status: tests/agents/whole_hands/test_searching.py; matches and local best responses in docs/algorithms/hunl.md.
"""

from __future__ import annotations

from typing import NamedTuple

from aleator.agents.whole_hands.base import HandPolicy
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.agents.whole_hands.searching import (
    RoundRequest,
    Searching,
    SearchingAgent,
    draw_for,
    everybody,
    trembled,
    updated,
)
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.search.whole_hands.rounds import SolvedRound, child_of, nearest_action


class Beliefs(NamedTuple):
    """What is believed at a public state.

    Attributes:
        state: where.
        reach: of both players, ``[2, 1326]``, at most 1.
        solved: the search that covers this state; None if none was begun in this round.
        node: where it stands in there.
        seat: who believes it; None if both do.
    """

    state: HandState
    reach: FloatArray
    solved: SolvedRound | None
    node: BettingNode | None
    seat: int | None = None


class RebelHandAgent(SearchingAgent):
    """Searches from the public belief state; see the module.

    Args:
        settings: how it searches.
        safe: whether the policy of a random iteration is played; else the average policy.
    """

    name = "rebel"

    def __init__(self, settings: SearchSettings | None = None, *, safe: bool = True) -> None:
        super().__init__(settings)
        self.safe = safe
        self._beliefs: Kept[Beliefs] = Kept(self.positions_kept)

    def _policy_at(self, state: HandState) -> Searching[HandPolicy]:
        beliefs = yield from self._beliefs_at(state, state.player)
        _, _, solved, node, _ = yield from self._searched(beliefs, None)
        assert solved is not None and node is not None
        return HandPolicy(node.actions, solved.played[node.number])

    def beliefs_at(self, state: HandState, seat: int | None = None) -> Beliefs:
        """Returns what a seat believes at a decision; None for what both do if nobody trembles."""
        return self.follow([self._beliefs_at(state, seat)])[0]

    def _beliefs_at(self, state: HandState, seat: int | None) -> Searching[Beliefs]:
        if not self.settings.tremble:
            seat = None  # both believe the same
        states = states_before(state)
        beliefs, known = self._at_start(states[0])._replace(seat=seat), 0
        if last := self._beliefs.find_last([(now, seat) for now in states]):
            known, beliefs = last
        for action, later in zip(state.actions[known:], states[known + 1 :], strict=True):
            beliefs = self._beliefs.keep((later, seat), (yield from self._after(beliefs, action, later)))
        return beliefs

    def _at_start(self, state: HandState) -> Beliefs:
        """Returns what is believed when a hand begins."""
        return Beliefs(state, everybody(), None, None)

    def _after(self, beliefs: Beliefs, action: Action, later: HandState) -> Searching[Beliefs]:
        """Returns what is believed after an action, which leads to ``later``."""
        beliefs = yield from self._searched(beliefs, action)
        now, reach, solved, node, seat = beliefs
        assert solved is not None and node is not None
        reach = updated(reach, node.player, self._likely(beliefs, action))
        if later.street != now.street or later.betting.is_over:
            return Beliefs(later, reach, None, None, seat)
        return Beliefs(later, reach, solved, child_of(node, action), seat)

    def _likely(self, beliefs: Beliefs, action: Action) -> FloatArray:
        """Returns how likely each hand is believed to take an action, [1326], where a search covers the state."""
        _, _, solved, node, seat = beliefs
        assert solved is not None and node is not None
        tremble = 0.0 if node.player == seat else self.settings.tremble
        return trembled(solved.played[node.number], nearest_action(node, action), tremble)

    def _searched(self, beliefs: Beliefs, action: Action | None) -> Searching[Beliefs]:
        """Returns the same beliefs with a search that covers the state, and an action there if it is given."""
        state, reach, solved, node, seat = beliefs
        if solved is not None and node is not None and (action is None or child_of(node, action) is not None):
            return beliefs
        added = None if action is None or self.search.offers(state, action) else action
        draw = draw_for(state, self.settings.seed) if self.safe else None
        believer = seat if state.actions else None  # before anybody acts both believe the same
        solved = yield RoundRequest((state, believer, added), state, reach, added=added, draw=draw)
        return Beliefs(state, reach, solved, solved.game.root, seat)
