"""An agent that searches: it solves the part of the game that it is in when it gets there.

Algorithm:
    At the start, and whenever play comes to a leaf of the last subgame, solve the depth-limited subgame at the public
    belief state. Draw one of its iterations, act by it through the subgame, and believe at the leaf what it believed
    (`aleator.search.random_iteration`); or, if that is wanted, act by the average policy, which is unsafe.

Reference: ReBeL section 6.
Deviations: none.
Status: tests/agents/test_search.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from aleator.agents.base import Agent, check_no_clock
from aleator.games.base import FloatArray, Game
from aleator.games.table import PublicHistory
from aleator.search.leaf_value import LeafValue
from aleator.search.oracle import OracleValue
from aleator.search.random_iteration import Play, PlayedPolicy, SearchConfig, plays
from aleator.trees.beliefs import PublicBeliefState, reach_at
from aleator.trees.policy import Policy
from aleator.trees.public_tree import LEAF, PublicTree
from aleator.trees.subgame import Subgame, cut, subgame_at


class _Search(NamedTuple):
    """A subgame that the agent is in.

    Attributes:
        start: how many events led to its root.
        belief: at its root.
        play: the way in which the agent goes through it.
        subgame: itself.
    """

    start: int
    belief: PublicBeliefState
    play: Play
    subgame: Subgame


class _Solution(NamedTuple):
    """A situation that was solved: its subgame, and each seat's ways to go through it."""

    subgame: Subgame
    plays: tuple[list[Play], list[Play]]


REMEMBERED = 256  # situations


class SearchAgent(Agent):
    """Searches at its turn, as `config` says.

    Args:
        game: what it plays.
        config: how it searches.
        leaf_value: of the leaves of its subgames; by default the exact oracle.
        tree: of the game, if leaf values need to know where in it they are (continuation policies).
        remember: how many solved situations are kept, with their subgames. A situation is a public state and beliefs.

    Attributes:
        searches, recalled: how many situations were solved, and how many were found solved.
    """

    name = "search"

    def __init__(
        self,
        game: Game[Any],
        config: SearchConfig | None = None,
        leaf_value: LeafValue | None = None,
        *,
        tree: PublicTree | None = None,
        remember: int = REMEMBERED,
    ) -> None:
        super().__init__(game)
        self.config = config or SearchConfig()
        self.leaf_value = leaf_value or OracleValue(1e-2)
        self.searches = self.recalled = 0
        self._tree, self._remember = tree, remember
        self._subgames: WeakValueDictionary[Hashable, Subgame] = WeakValueDictionary()
        self._solved: OrderedDict[Hashable, _Solution] = OrderedDict()
        self._now: _Search | None = None

    def begin(self, seat: int, rng: np.random.Generator) -> None:
        """Begins a new game; what was solved before is kept, what was drawn is not."""
        super().begin(seat, rng)
        self._now = None

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: the play that was drawn for this game."""
        search, node = self._find(history.events)
        return search.play.policy[node]

    def belief(self, history: PublicHistory) -> PublicBeliefState:
        """Returns what follows from the beliefs at the root of the subgame and the play since."""
        search, node = self._find(history.events)
        return PublicBeliefState(self.game, history.state, reach_at(search.play.policy, node, search.belief.beliefs))

    def policy(self, tree: PublicTree) -> Policy:
        """Returns the expected policy, exactly: all iterations of all subgames. Work grows with iterations^subgames."""
        return self._played(tree).exact()

    def sampled_policy(self, tree: PublicTree, rng: np.random.Generator, repeats: int) -> Policy:
        """Returns the average of what is played in `repeats` games, for when all iterations would take too long."""
        return self._played(tree).sampled(rng, repeats)

    def _played(self, tree: PublicTree) -> PlayedPolicy:
        check_no_clock(self.config.seconds)
        return PlayedPolicy(tree, self.config, self.leaf_value)

    def _find(self, events: tuple[int, ...]) -> tuple[_Search, int]:
        """Returns the subgame that play is in and the node there, after searching where play went beyond leaves."""
        if self._now is None or len(events) < self._now.start:
            self._now = self._search(0, PublicBeliefState.initial(self.game), events)
        while True:
            search, node = self._now, 0
            tree = search.subgame.tree
            count = search.start
            while count < len(events) and tree.actor[node] != LEAF:
                node = int(tree.first_child[node]) + events[count]
                count += 1
            if tree.actor[node] != LEAF:
                return search, node
            k = int(np.searchsorted(search.subgame.leaves, node))
            first, second = tree.num_hands[:, node]
            reach = (search.play.leaf_reach[0][k, :first], search.play.leaf_reach[1][k, :second])
            belief = PublicBeliefState(self.game, tree.states[node], reach)
            self._now = self._search(count, belief, events)

    def prepare(self) -> None:
        """Searches the beginning of the game, unless that was done before: every game begins with the same beliefs."""
        self._solution(0, PublicBeliefState.initial(self.game), ())

    def _search(self, start: int, belief: PublicBeliefState, events: tuple[int, ...]) -> _Search:
        """Returns the subgame at a public belief state, solved or recalled, with a play drawn for this game."""
        subgame, plays_of_seats = self._solution(start, belief, events)
        options = plays_of_seats[self.seat]
        drawn = int(self.rng.choice(len(options), p=[play.weight for play in options]))
        return _Search(start, belief, options[drawn], subgame)

    def _solution(self, start: int, belief: PublicBeliefState, events: tuple[int, ...]) -> _Solution:
        """Returns the subgame at a public belief state and each seat's plays there, solved or recalled."""
        key_state = belief.state if self._tree is None else self._tree.node_at(events[:start])
        key = (key_state, belief.beliefs[0].tobytes(), belief.beliefs[1].tobytes())
        if key in self._solved:
            self.recalled += 1
            self._solved.move_to_end(key)
            return self._solved[key]
        subgame = self._subgames.get(key_state)
        if subgame is None:
            limit = self.config.limit
            subgame = self._subgames[key_state] = (
                subgame_at(self.game, belief.state, limit)
                if self._tree is None
                else cut(self._tree, self._tree.node_at(events[:start]), limit)
            )
        self.searches += 1
        solution = self._solved[key] = _Solution(subgame, self._solve(subgame, belief))
        while len(self._solved) > self._remember:
            self._solved.popitem(last=False)
        return solution

    def _solve(self, subgame: Subgame, belief: PublicBeliefState) -> tuple[list[Play], list[Play]]:
        """Returns each seat's plays in a subgame at a public belief state."""
        safe = self.config.samples(subgame)
        solver = self.config.solve(subgame, self.leaf_value, belief.beliefs)
        first = list(plays(solver, 0, safe=safe))
        return first, list(plays(solver, 1, safe=True)) if safe else first
