"""An agent that plays by a searcher in each seat: multi-valued states, Pluribus' search, nested search."""

from __future__ import annotations

from collections.abc import Callable

from aleator.agents.base import Agent, check_no_clock
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.table import PublicHistory
from aleator.search.searcher import Searcher
from aleator.trees.beliefs import PublicBeliefState
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class SearcherAgent(Agent):
    """Plays what a searcher finds; each situation is searched once and kept.

    Args:
        tree: of the game.
        make: from a seat to its searcher.
        name: of the agent.
        seconds: for one search, if the searchers have such a limit.
    """

    def __init__(
        self, tree: PublicTree, make: Callable[[int], Searcher], *, name: str, seconds: float | None = None
    ) -> None:
        super().__init__(tree.game)
        self.name = name
        self._tree, self._make, self._seconds = tree, make, seconds
        self._searchers: dict[int, Searcher] = {}

    @property
    def searches(self) -> int:
        """How many situations were solved, in both seats."""
        return sum(searcher.searches for searcher in self._searchers.values())

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: what the searcher found."""
        return self._of(history.seat).block(self._tree.node_at(history.events))

    def belief(self, history: PublicHistory) -> PublicBeliefState:
        """Returns what the searcher believes."""
        reach = self._of(history.seat).reach(self._tree.node_at(history.events))
        return PublicBeliefState(self.game, history.state, reach)

    def policy(self, tree: PublicTree) -> Policy:
        """Returns what the agent plays in both seats, with every situation searched."""
        check_no_clock(self._seconds)
        if tree.states != self._tree.states:
            raise AgentError(f"the agent plays another tree of {self.game.name}")
        return Policy(tree, (self._of(0).policy().probabilities[0], self._of(1).policy().probabilities[1]))

    def _of(self, seat: int) -> Searcher:
        """Returns the searcher of a seat."""
        if seat not in self._searchers:
            self._searchers[seat] = self._make(seat)
        return self._searchers[seat]
