"""An agent that plays a blueprint and searches the subgames that play comes to, safely (thesis 5.1)."""

from __future__ import annotations

from aleator.agents.base import check_no_clock
from aleator.agents.blueprint import BlueprintAgent
from aleator.games.base import FloatArray
from aleator.games.table import PublicHistory
from aleator.search.blueprint import Blueprint
from aleator.search.safe import SafeSearch, search_everywhere, search_subgames, subgames_after_chance, subgames_at_depth
from aleator.trees.beliefs import PublicBeliefState, reach_at
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class SafeAgent(BlueprintAgent):
    """Plays a blueprint until it comes to the root of a subgame; solves that with a gadget and plays the solution.

    Args:
        policy: the blueprint.
        config: how subgames are searched.

    Subgames begin after chance's first public move or, if there is none, two moves from the start, or one where games
    are that short.

    Attributes:
        searches: how many subgames were solved; each is solved once per seat and kept.
    """

    name = "safe"
    blueprint: Policy

    def __init__(self, policy: Policy, config: SafeSearch | None = None) -> None:
        super().__init__(policy)
        self.config = config or SafeSearch()
        self.searches = 0
        roots = subgames_after_chance(policy.tree)
        for moves in (2, 1):
            roots = roots if len(roots) else subgames_at_depth(policy.tree, moves)
        self._roots = frozenset(roots.tolist())
        self._known = Blueprint(policy)
        self._searched: dict[tuple[int, int], Policy] = {}

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: the blueprint or the solution of the subgame."""
        node = self.blueprint.tree.node_at(history.events)
        return self._at(node)[node]

    def belief(self, history: PublicHistory) -> PublicBeliefState:
        """Returns what follows from the agent's own policy and the opponent's part of the blueprint."""
        node = self.blueprint.tree.node_at(history.events)
        return PublicBeliefState(self.game, history.state, reach_at(self._at(node), node))

    def policy(self, tree: PublicTree) -> Policy:
        """Returns the blueprint with every subgame searched, in both seats."""
        check_no_clock(self.config.seconds)
        super().policy(tree)  # raises if it is another tree
        return Policy(tree, search_everywhere(self._known, sorted(self._roots), self.config).probabilities)

    def _at(self, node: int) -> Policy:
        """Returns the policy that the agent plays at a node."""
        tree, root = self.blueprint.tree, node
        while root and root not in self._roots:
            root = int(tree.parent[root])
        if root not in self._roots:
            return self.blueprint
        if (self.seat, root) not in self._searched:
            self.searches += 1
            self._searched[self.seat, root] = search_subgames(self._known, [root], self.seat, self.config)
        return self._searched[self.seat, root]
