"""An agent that re-solves at each of its decisions, carrying along its own reach and the opponent's values (DeepStack)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aleator.agents.base import Agent
from aleator.games.base import CHANCE, FloatArray, Game
from aleator.games.table import Observation
from aleator.search.continual import ContinualSearch, ReSolved, continual_policy, re_solve
from aleator.search.leaf_value import LeafValue, ZeroValue
from aleator.trees.beliefs import PublicBeliefState, Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import cut


class _Place(NamedTuple):
    """Where a game is, and what the agent carries along.

    Attributes:
        node: of the whole tree.
        own: [H] the agent's own reach.
        last: the last re-solve.
        bound: the node of its subgame whose cfvs the opponent must not exceed.
    """

    node: int
    own: FloatArray
    last: ReSolved
    bound: int


class ContinualAgent(Agent):
    """Plays by continual re-solving; it has no blueprint.

    Args:
        game: what it plays.
        config: how it re-solves; opponent ranges are "uniform" here.
        leaf_value: of leaves, where the depth is limited.
        tree: of the game, if it is built already.

    Attributes:
        searches: how many situations were re-solved; each is kept.
    """

    name = "continual"

    def __init__(
        self,
        game: Game[Any],
        config: ContinualSearch | None = None,
        leaf_value: LeafValue | None = None,
        *,
        tree: PublicTree | None = None,
    ) -> None:
        super().__init__(game)
        self.config, self.leaf_value = config or ContinualSearch(), leaf_value or ZeroValue()
        self.searches = 0
        self._tree = build_tree(game) if tree is None else tree
        self._known: dict[tuple[int, tuple[int, ...]], _Place] = {}

    def probabilities(self, observation: Observation) -> FloatArray:
        """Returns [A]: the policy of the re-solve at the agent's hand."""
        return self._at(observation.events).last.policy[0][:, observation.hand]

    def belief(self, observation: Observation) -> PublicBeliefState:
        """Returns the agent's own reach and the range that the gadget gave to the opponent."""
        place = self._at(observation.events)
        mine, theirs = place.own, place.last.opponent_reach
        reach: Reach = (mine, theirs) if self.seat == 0 else (theirs, mine)
        return PublicBeliefState(self.game, observation.state, reach)

    def policy(self, tree: PublicTree) -> Policy:
        """Returns what the agent plays in both seats: every situation that it can come to is re-solved."""
        first, second = (continual_policy(tree, seat, self.config, self.leaf_value) for seat in (0, 1))
        return Policy(tree, (first.probabilities[0], second.probabilities[1]))

    def _at(self, events: tuple[int, ...]) -> _Place:
        """Returns what the agent knows after some events, re-solved if it is its turn."""
        key = (self.seat, events)
        if key not in self._known:
            self._known[key] = self._start() if not events else self._go_on(self._at(events[:-1]), events[-1])
        return self._known[key]

    def _start(self) -> _Place:
        own = np.ones(int(self._tree.num_hands[self.seat, 0]))
        return _Place(0, own, self._re_solve(0, own, None), 0)

    def _go_on(self, before: _Place, event: int) -> _Place:
        """Returns the place after one more event."""
        tree, seat, node = self._tree, self.seat, before.node
        child, own, bound = int(tree.first_child[node]) + event, before.own, before.bound
        origin, mine = tree.origin(seat, child), tree.actor[node] == seat
        if mine:
            acted = before.last.policy[0] * own
            own = acted[event] if origin is None else acted.ravel()[origin]
        elif origin is not None:
            own = own[origin]
        # the opponent's own move leaves the constraint where it was, unless its hands are others behind it
        if mine or tree.actor[node] == CHANCE or tree.origin(1 - seat, child) is not None:
            assert before.last.subgame.nodes is not None
            bound = int(np.flatnonzero(before.last.subgame.nodes == child)[0])
        last = before.last
        if tree.actor[child] == seat:
            hands = int(tree.num_hands[1 - seat, child])
            last, bound = self._re_solve(child, own, before.last.constraint[bound][:hands]), 0
        return _Place(child, own, last, bound)

    def _re_solve(self, node: int, own: FloatArray, constraint: FloatArray | None) -> ReSolved:
        self.searches += 1
        subgame = cut(self._tree, node, self.config.limit)
        return re_solve(subgame, self.seat, own, constraint, self.leaf_value, self.config)
