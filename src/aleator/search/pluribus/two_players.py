"""Pluribus' search: unsafe, from the start of the betting round, with the searcher's own past actions held fixed.

Algorithm:
    Nested unsafe search from the last decision trusts that the opponent got there as the blueprint says. Here the
    subgame begins where the current betting round did, at the beliefs there; the searcher's decisions that lie on the
    way to where play is now are held at what was played, all else is solved again. So the opponent may have deviated
    anywhere in the round, and the searcher answers that. Where a depth limit ends the subgame both players choose among
    continuations (`multi_valued`). When a new round begins, beliefs follow from the last solution.

Reference: thesis 6.6; Brown and Sandholm 2019 (Pluribus), supplement.
Deviations: two players. Where chance never moves publicly, a round is as many moves as the depth limit has.
Status: tests/search/pluribus/test_two_players.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import CHANCE, FloatArray
from aleator.search.budget import check_budget, spend
from aleator.search.multi_valued import Continuations, MultiValued, multi_valued
from aleator.search.searcher import Searcher
from aleator.solvers.holdem.tree import make_cfr
from aleator.solvers.regret_rule import LCFR, RegretRule
from aleator.trees.beliefs import Reach, normalised_rows, reach_at
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree
from aleator.trees.subgame import TO_THE_END, DepthLimit, Subgame, cut, part_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PluribusSearch:
    """How a round is searched.

    Attributes:
        limit: how deep, from the start of the round; `DepthLimit(rounds=1)` to its end.
        rule: the regret rule; Pluribus uses linear CFR.
        iterations: of each search.
        seconds: for one search, if fewer iterations fit in; None for no limit.
    """

    limit: DepthLimit = TO_THE_END
    rule: RegretRule = LCFR
    iterations: int = 1000
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_budget(self.iterations, self.seconds)


class _Round(NamedTuple):
    """A betting round as far as it was searched.

    Attributes:
        subgame: from the start of the round.
        solved: the same without leaves.
        reach: [H0], [H1] at the start.
        policy: of `subgame.tree`: the last solution; at first the blueprint.
    """

    subgame: Subgame
    solved: MultiValued
    reach: Reach
    policy: Policy


def round_start(tree: PublicTree, node: int, limit: DepthLimit = TO_THE_END) -> int:
    """Returns the node at which the round of a node began: behind chance's last public move or after so many moves."""
    moves = limit.moves
    while node and tree.actor[tree.parent[node]] != CHANCE and (moves is None or tree.depth[node] % moves):
        node = int(tree.parent[node])
    return node


class PluribusSearcher(Searcher):
    """A player who searches at each of its decisions, each search starting from what it has played in the round.

    Args:
        blueprint: of the whole game: what is expected before the first search.
        searcher: who searches.
        config: how.
        continuations: of both players, if the limit has leaves; the blueprint alone unless given.
    """

    def __init__(
        self,
        blueprint: Policy,
        searcher: int,
        config: PluribusSearch | None = None,
        continuations: Continuations | None = None,
    ) -> None:
        super().__init__(blueprint.tree, searcher)
        self.blueprint, self.config = blueprint, config or PluribusSearch()
        self._continuations = continuations or ([blueprint], [blueprint])
        self._rounds: dict[int, _Round] = {}
        self._parts: dict[int, tuple[Subgame, MultiValued]] = {}

    def block(self, node: int) -> FloatArray:
        """Returns [A, H]: the solution of the search at that decision."""
        if self.tree.actor[node] != self.searcher:
            raise SolveError(f"player {self.searcher} searches at its own turn; node {node} is not")
        now = self._round(node)
        return now.policy[_inside(now.subgame, node)]

    def reach(self, node: int) -> Reach:
        """Returns each player's reach by the last solution in every round."""
        now = self._round(node)
        return reach_at(now.policy, _inside(now.subgame, node), now.reach)

    def _round(self, node: int) -> _Round:
        """Returns the round of a node after the searches on the way, its own included."""
        if node not in self._rounds:
            start = round_start(self.tree, node, self.config.limit) == node
            now = self._begin(node) if start else self._round(int(self.tree.parent[node]))
            self._rounds[node] = self._search(now, node) if self.tree.actor[node] == self.searcher else now
        return self._rounds[node]

    def _begin(self, node: int) -> _Round:
        """Returns the round that begins at a node, before the first search."""
        if not self.tree.num_children[node]:
            raise SolveError(f"node {node} is the end of the game: nothing is left to search")
        if node not in self._parts:
            subgame = cut(self.tree, node, self.config.limit)
            self._parts[node] = subgame, multi_valued(subgame, self._continuations)
        subgame, solved = self._parts[node]
        reach = [np.ones(int(hands)) for hands in self.tree.num_hands[:, 0]]
        if node:
            parent = int(self.tree.parent[node])
            before = self._round(parent)
            if self.tree.actor[parent] == CHANCE:
                above = reach_at(before.policy, _inside(before.subgame, parent), before.reach)
                origins = [self.tree.origin(player, node) for player in (0, 1)]
                reach = [row if to is None else row[to] for row, to in zip(above, origins, strict=True)]
            else:
                reach = list(reach_at(before.policy, _inside(before.subgame, node), before.reach))
        believed = (normalised_rows(reach[0]), normalised_rows(reach[1]))
        return _Round(subgame, solved, believed, part_of(self.blueprint, subgame))

    def _search(self, now: _Round, node: int) -> _Round:
        """Returns the round solved again, the searcher's decisions above a node held fixed."""
        self.searches += 1
        subgame, solved = now.subgame, now.solved
        solver = make_cfr(solved.tree, self.config.rule, root_reach=now.reach)
        at = _inside(subgame, node)
        while at:
            at = int(subgame.tree.parent[at])
            if subgame.tree.actor[at] == self.searcher:
                solver.lock(solved.nodes[[at]], now.policy[at][None])
        spend(solver.run, self.config.iterations, self.config.seconds)
        inside = solved.nodes[subgame.tree.actor >= 0]
        return now._replace(policy=solver.average_policy().part(inside, subgame.tree))


def _inside(subgame: Subgame, node: int) -> int:
    """Returns the number of a node of the whole tree in a subgame."""
    assert subgame.nodes is not None
    return int(np.flatnonzero(subgame.nodes == node)[0])
