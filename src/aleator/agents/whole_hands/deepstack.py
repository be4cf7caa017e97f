"""DeepStack in whole hands: continual re-solving.

Algorithm:
    The agent carries its own reach, and for each hand of the opponent a cfv that it may not exceed. At each of its
    decisions the rest of the round is solved anew from there, below a gadget in which each hand of the opponent
    enters or takes that cfv. It acts by the average policy. Its own action multiplies its reach by its policy, and
    the carried cfvs become what the opponent got behind that action. An action of the opponent changes nothing, so
    that any bet is answered without translating it. Where a round begins, the carried cfvs are those of a solve
    without a gadget from there, for the agent's reach and for the opponent's as the last solve has it; if the agent
    acts first, that is its answer.

Reference: DeepStack, "Continual re-solving", Algorithm 1 and the table of its lookaheads; "Opponent Ranges in
Re-Solving". Deviations:
    DeepStack reads the cfvs behind a card off the last re-solve, whose leaves lie after the card. Leaves here lie
    before it, so that a solve at the start of the round takes their place. The opponent's estimated range deals its
    hands at every re-solve, with weight .9; bets that the last tree did not have update it as the nearest one that it
    had, and it is taken to tremble: any action with probability `tremble`. Sharp DCFR+ instead of CFR+.
Status: tests/agents/whole_hands/test_searching.py; matches and local best responses in docs/algorithms/hunl.md.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from aleator.agents.whole_hands.base import HandPolicy
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.agents.whole_hands.searching import (
    RoundRequest,
    Searching,
    SearchingAgent,
    everybody,
    promise,
    trembled,
    updated,
)
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.search.whole_hands.rounds import SolvedRound, child_of, nearest_action


class Carried(NamedTuple):
    """What a seat carries along.

    Attributes:
        state: where.
        reach: ``[2, 1326]``; the seat's own is in the unit of ``cfvs``, the opponent's is an estimate.
        cfvs: ``[1326]`` in chips, what the opponent may take at most; None at the start of a round.
        solved: the last solve of this round.
        node: where the hand stands in it; None if it does not have what was done.
    """

    state: HandState
    reach: FloatArray
    cfvs: FloatArray | None = None
    solved: SolvedRound | None = None
    node: BettingNode | None = None


class DeepStackAgent(SearchingAgent):
    """Re-solves at each decision; see the module.

    Args:
        settings: how it searches.
    """

    name = "deepstack"

    def __init__(self, settings: SearchSettings | None = None) -> None:
        super().__init__(settings)
        self._carried: Kept[Carried] = Kept(self.positions_kept)

    def _policy_at(self, state: HandState) -> Searching[HandPolicy]:
        assert state.player is not None
        carried = yield from self._carried_at(state, state.player)
        solved = yield self._resolved(carried, state.player)
        root = solved.game.root
        return HandPolicy(root.actions, solved.policies[root.number])

    def carried_at(self, state: HandState, seat: int) -> Carried:
        """Returns what a seat carries along when a state is reached."""
        return self.follow([self._carried_at(state, seat)])[0]

    def _carried_at(self, state: HandState, seat: int) -> Searching[Carried]:
        states = states_before(state)
        carried, known = Carried(states[0], everybody()), 0
        if last := self._carried.find_last([(now, seat) for now in states]):
            known, carried = last
        for action, later in zip(state.actions[known:], states[known + 1 :], strict=True):
            carried = self._carried.keep((later, seat), (yield from self._after(carried, seat, action, later)))
        return carried

    def _after(self, carried: Carried, seat: int, action: Action, later: HandState) -> Searching[Carried]:
        """Returns what a seat carries along after an action, which leads to ``later``."""
        made = self._own_action if carried.state.player == seat else self._opponents_action
        carried_on = yield from made(carried, seat, action)
        if later.street != carried.state.street or later.betting.is_over:
            return Carried(later, carried_on.reach)
        return carried_on._replace(state=later)

    def _own_action(self, carried: Carried, seat: int, action: Action) -> Searching[Carried]:
        solved = yield self._resolved(carried, seat)
        root = solved.game.root
        taken = nearest_action(root, action)
        reach = carried.reach.copy()
        acted = solved.game.reach[seat] * solved.policies[root.number][taken]
        if not acted.max() > 0.0:  # nothing it would do: the action tells nothing
            return Carried(carried.state, carried.reach, solved.root_cfvs[1 - seat], solved, child_of(root, action))
        reach[seat] = acted
        return Carried(carried.state, reach, solved.after[taken], solved, child_of(root, action))

    def _opponents_action(self, carried: Carried, seat: int, action: Action) -> Searching[Carried]:
        state, reach, cfvs, solved, node = carried
        if solved is None:
            added = None if self.search.offers(state, action) else action
            solved = yield RoundRequest((state, seat, added), state, reach, added=added)
            node, cfvs = solved.game.root, solved.root_cfvs[1 - seat]
            reach = np.stack([solved.game.reach[seat] if p == seat else reach[p] for p in (0, 1)])
        if node is None:
            return carried
        probabilities = trembled(solved.policies[node.number], nearest_action(node, action), self.settings.tremble)
        estimated = updated(reach, 1 - seat, probabilities)
        return Carried(state, estimated, cfvs, solved, child_of(node, action))

    def _resolved(self, carried: Carried, seat: int) -> RoundRequest:
        """Returns what a decision of the seat is solved by."""
        state, reach, cfvs, _, _ = carried
        if cfvs is None:
            return RoundRequest((state, seat, None), state, reach)
        promised = partial(promise, seat=seat, reach=reach, cfvs=cfvs)
        return RoundRequest((state, seat, "re-solved"), state, reach, constraint=promised)
