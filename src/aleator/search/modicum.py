"""Depth-limited search with multi-valued states through a whole game, as Modicum's.

Algorithm:
    Solve the game from its start to the depth limit, with a choice of continuations at the leaves, and play that. When
    play comes to a leaf, and the next card is dealt, solve from there to the next limit, and so on to the end of the
    game. A later subgame has a gadget above it, with the opponent's values against the blueprint as alternative payoffs
    (Proposition 3 asks for them); or it is searched unsafely, at the beliefs that the last solution leads to.

Reference: thesis 5.2.2 (Proposition 3), 5.2.3 and 6.5 (Modicum); 6.6 for a choice of both players.
Deviations: Modicum searches the first two rounds unsafely and solves from the third on; here all rounds are alike.
Status: tests/search/test_modicum.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import CHANCE, FloatArray
from aleator.search.blueprint import Blueprint
from aleator.search.budget import check_budget, spend
from aleator.search.gadgets import maxmargin_gadget, resolve_gadget
from aleator.search.multi_valued import Continuations, bias_continuations, multi_valued, self_generated
from aleator.search.safe import GADGETS
from aleator.search.searcher import Searcher
from aleator.solvers.holdem.tree import make_cfr
from aleator.solvers.regret_rule import CFR_PLUS, RegretRule
from aleator.trees.beliefs import Reach, normalised_rows, reach_at
from aleator.trees.policy import Policy, places
from aleator.trees.subgame import DepthLimit, Subgame, cut

VALUES = ("bias", "self-generated")
ONE_ROUND = DepthLimit(rounds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiValuedSearch:
    """How a game is searched from depth limit to depth limit.

    Attributes:
        limit: how deep each subgame is.
        values: continuations are "bias" (the blueprint bent towards some actions) or "self-generated".
        count: of self-generated continuations, the blueprint among them.
        both: the searcher, too, chooses among continuations.
        gadget: above subgames that do not begin the game: "unsafe" (none), "resolve" or "maxmargin".
        rule: the regret rule.
        iterations: of each solve.
        seconds: for one solve, if fewer iterations fit in; None for no limit.
    """

    limit: DepthLimit = ONE_ROUND
    values: str = "bias"
    count: int = 4
    both: bool = False
    gadget: str = "resolve"
    rule: RegretRule = CFR_PLUS
    iterations: int = 500
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_known(self.values, VALUES, "values")
        check_known(self.gadget, GADGETS, "gadget")
        if self.count < 1:
            raise SolveError(f"at least 1 continuation is needed, not {self.count}")
        check_budget(self.iterations, self.seconds)


def make_continuations(blueprint: Policy, searcher: int, config: MultiValuedSearch) -> Continuations:
    """Returns each player's continuations at the leaves of a searcher's subgames."""
    first = cut(blueprint.tree, 0, config.limit)
    pair: list[list[Policy]] = [[blueprint], [blueprint]]
    for player in (0, 1):
        if len(first.leaves) and (player != searcher or config.both):
            pair[player] = (
                bias_continuations(blueprint, player)
                if config.values == "bias"
                else self_generated(blueprint, first, player, config.count, iterations=config.iterations)
            )
    return pair[0], pair[1]


class MultiValuedSearcher(Searcher):
    """A player who searches from depth limit to depth limit.

    Args:
        blueprint: of the whole game; played where nothing is searched.
        searcher: who searches.
        config: how.
    """

    def __init__(self, blueprint: Policy, searcher: int, config: MultiValuedSearch | None = None) -> None:
        super().__init__(blueprint.tree, searcher)
        self.config = config or MultiValuedSearch()
        self._known = Blueprint(blueprint)
        self._continuations = make_continuations(blueprint, searcher, self.config)
        first, second = (vector.copy() for vector in blueprint.probabilities)
        self._played = Policy(self.tree, (first, second))
        self._roots = {0: 0}
        self._subgames: dict[int, Subgame] = {}
        self._leaves: dict[int, frozenset[int]] = {}
        self._searched: set[int] = set()

    def block(self, node: int) -> FloatArray:
        """Returns [A, H]: the solution of the subgame that the decision lies in."""
        self._prepare(self._root(node))
        return self._played[node]

    def reach(self, node: int) -> Reach:
        """Returns each player's reach by the solutions on the way."""
        self._prepare(self._root(node))
        return reach_at(self._played, node)

    def _root(self, node: int) -> int:
        """Returns the root of the subgame that a node lies in."""
        if node not in self._roots:
            parent = int(self.tree.parent[node])
            root = self._root(parent)
            self._cut(root)
            leaf = node in self._leaves[root] and self.tree.actor[node] != CHANCE
            self._roots[node] = node if leaf or parent in self._leaves[root] else root
        return self._roots[node]

    def _cut(self, root: int) -> Subgame:
        """Returns the subgame of a root, and notes its leaves."""
        if root not in self._subgames:
            subgame = self._subgames[root] = cut(self.tree, root, self.config.limit)
            assert subgame.nodes is not None
            self._leaves[root] = frozenset(subgame.nodes[subgame.leaves].tolist())
        return self._subgames[root]

    def _prepare(self, root: int) -> None:
        """Searches the subgames on the way to a root, and its own, unless that was done before."""
        if root in self._searched:
            return
        if root:
            self._prepare(self._root(int(self.tree.parent[root])))
        self._searched.add(root)
        subgame, reach = self._cut(root), reach_at(self._played, root)
        if not reach[self.searcher].any() or subgame.nodes is None:
            return  # the searcher never comes here
        self.searches += 1
        tree, nodes = multi_valued(subgame, self._continuations)
        gadget, opponent = self.config.gadget, 1 - self.searcher
        believed: Reach | None = None
        if gadget == "unsafe":
            believed = (normalised_rows(reach[0]), normalised_rows(reach[1]))
        elif root:
            make = resolve_gadget if gadget == "resolve" else maxmargin_gadget
            alternative = self._known.values(opponent, root, self._known.response_cfvs[opponent])
            tree, above, _ = make(tree, opponent, reach[self.searcher], alternative)
            nodes = above[nodes]
        solver = make_cfr(tree, self.config.rule, root_reach=believed)
        spend(solver.run, self.config.iterations, self.config.seconds)
        probabilities = solver.average_policy().probabilities
        inside = np.flatnonzero(subgame.tree.actor >= 0)
        for player in (0, 1):
            played = places(self.tree, subgame.nodes[inside], player)
            self._played.probabilities[player][played] = probabilities[player][places(tree, nodes[inside], player)]
