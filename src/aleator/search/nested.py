"""Nested search: when the opponent's move is not in the blueprint, a subgame with that move in it is solved.

Algorithm:
    Play follows the blueprint until the opponent takes an off-tree action a at h. *Inexpensive*: solve the subgame
    after h a, in which no further off-tree actions occur, with a gadget whose alternative payoffs are the opponent's
    values at h against the blueprint (what a is worth is unknown; that it is worth less would be a gift). *Expensive*:
    solve the subgame at h with a added to its actions; this way unsafe search is possible, too. The solution is the
    blueprint from there on, and the next off-tree action is answered by a search inside it.

Reference: thesis 5.1.7, Table 5.4.
Deviations:
    Only the opponent's menu is larger: the searcher does not use off-tree actions itself. All searches that answer the
    same number of off-tree actions are solved in one run (`gadgets.forest`), which changes nothing about each.
Status: tests/search/test_nested.py; `aleator paper nested-search`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import FloatArray, Game
from aleator.search.blueprint import Blueprint
from aleator.search.budget import check_budget, spend
from aleator.search.gadgets import Gadget, forest, maxmargin_gadget, resolve_gadget, unsafe_gadget
from aleator.search.gifts import gifts
from aleator.search.safe import GADGETS
from aleator.search.searcher import Searcher
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS, RegretRule
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import cut
from aleator.trees.surgery import Edge, End, Inner, Part, assemble


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedSearch:
    """How off-tree actions are answered.

    Attributes:
        gadget: "unsafe" (expensive only), "resolve" or "maxmargin".
        expensive: search from the node where the action was taken instead of behind it.
        reach: add the opponent's gifts on the way (Reach search, split, as lower bounds).
        rule: the regret rule.
        iterations: of each solve.
        seconds: for one solve, if fewer iterations fit in; None for no limit.
    """

    gadget: str = "maxmargin"
    expensive: bool = False
    reach: bool = False
    rule: RegretRule = CFR_PLUS
    iterations: int = 300
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_known(self.gadget, GADGETS, "gadget")
        if self.gadget == "unsafe" and not self.expensive:
            raise SolveError(
                "unsafe search cannot begin behind an off-tree action, which has no probability: expensive=True"
            )
        check_budget(self.iterations, self.seconds)


class _Local:
    """A blueprint for a part of the game: the given one, or a solution found on the way."""

    def __init__(self, blueprint: Blueprint, opponent: int, gift: FloatArray | None) -> None:
        self.blueprint = blueprint
        self._opponent = opponent
        self._before = gift
        self._gifts: list[FloatArray] | None = None

    def gift(self, node: int) -> FloatArray:
        """Returns [H]: what the opponent has given up on the way to a node."""
        if self._gifts is None:
            cfvs = self.blueprint.response_cfvs[self._opponent]
            self._gifts = gifts(self.blueprint, self._opponent, cfvs, before=self._before)
        return self._gifts[node]


class _OffTree(NamedTuple):
    """An off-tree action: its child in the tree that is played, and where it was taken in whose blueprint."""

    child: int
    local: _Local
    node: int


def nested_search(tree: PublicTree, blueprint: Policy, searcher: int, config: NestedSearch) -> Policy:
    """Returns the searcher's policy on a tree with more of the opponent's actions than the blueprint's.

    Args:
        tree: of the game that is played. Moves are found in the blueprint's tree by their labels; those of the opponent
            that are not there are off-tree.
        blueprint: of the game without them; its game must know the states behind off-tree actions.
        searcher: whose policy is wanted; the other's part, and what the searcher never does, is uniform.
        config: how off-tree actions are answered.
    """
    policy = uniform_policy(tree)
    waiting = [(0, _Local(Blueprint(blueprint), 1 - searcher, None), 0)]
    while waiting:
        off_tree: list[_OffTree] = []
        while waiting:
            node, local, inside = waiting.pop()
            small = local.blueprint.tree
            known = {small.labels[child]: child for child in small.children(inside)}
            if tree.actor[node] == searcher:
                policy[node][:] = _known_block(tree, node, local.blueprint.policy, inside)
            for child in tree.children(node):
                label = tree.labels[child]
                if label in known:
                    waiting.append((child, local, known[label]))
                elif tree.actor[node] == 1 - searcher:
                    off_tree.append(_OffTree(child, local, inside))
        waiting = _answer(tree, off_tree, searcher, config) if off_tree else []
    return policy


def _known_block(tree: PublicTree, node: int, known: Policy, inside: int) -> FloatArray:
    """Returns [A, H]: what a policy of a smaller tree does at the place of a node; actions are found by their names."""
    names = tree.game.actions(tree.states[node])
    block = np.zeros((len(names), known[inside].shape[1]))
    for name, row in zip(known.tree.game.actions(known.tree.states[inside]), known[inside], strict=True):
        block[names.index(name)] = row
    return block


class NestedSearcher(Searcher):
    """A player who answers off-tree actions as they come; arguments as for `nested_search`.

    What it cannot come to, because it would have to take an off-tree action itself, is played uniformly.
    """

    def __init__(self, tree: PublicTree, blueprint: Policy, searcher: int, config: NestedSearch | None = None) -> None:
        super().__init__(tree, searcher)
        self.blueprint, self.config = blueprint, config or NestedSearch()
        self._places: dict[int, tuple[_Local, int] | None] = {0: (_Local(Blueprint(blueprint), 1 - searcher, None), 0)}

    def block(self, node: int) -> FloatArray:
        """Returns [A, H]: the blueprint, or the solution that answers the last off-tree action."""
        where = self._inside(node)
        if where is None:
            return uniform_policy(self.tree)[node]
        return _known_block(self.tree, node, where[0].blueprint.policy, where[1])

    def reach(self, node: int) -> Reach:
        """Returns each player's reach by the blueprint, after an off-tree action by the solution that answers it."""
        where = self._inside(node)
        if where is None:
            first, second = (np.ones(int(hands)) for hands in self.tree.num_hands[:, node])
            return first, second
        local, inside = where
        return local.blueprint.reach[0][inside], local.blueprint.reach[1][inside]

    def policy(self) -> Policy:
        """Returns what the searcher plays in the whole game; off-tree actions are answered many at a time."""
        return nested_search(self.tree, self.blueprint, self.searcher, self.config)

    def _inside(self, node: int) -> tuple[_Local, int] | None:
        """Returns the blueprint for a node and its place there, after answering the off-tree actions on the way."""
        if node not in self._places:
            parent = int(self.tree.parent[node])
            self._places[node] = self._follow(parent, node)
        return self._places[node]

    def _follow(self, parent: int, node: int) -> tuple[_Local, int] | None:
        where = self._inside(parent)
        if where is None:
            return None
        local, inside = where
        small, label = local.blueprint.tree, self.tree.labels[node]
        for child in small.children(inside):
            if small.labels[child] == label:
                return local, child
        if self.tree.actor[parent] != 1 - self.searcher:
            return None
        self.searches += 1
        [(_, answer, where_in)] = _answer(self.tree, [_OffTree(node, local, inside)], self.searcher, self.config)
        return answer, where_in


def _answer(
    tree: PublicTree, off_tree: list[_OffTree], searcher: int, config: NestedSearch
) -> list[tuple[int, _Local, int]]:
    """Returns for each off-tree action (its child, the solution that answers it, the place of the child in that)."""
    opponent = 1 - searcher
    subtrees = [_subtree(tree, action, config.expensive) for action in off_tree]
    gadgets: list[Gadget] = []
    gifts_before: list[FloatArray] = []
    for (subtree, _), (_, local, node) in zip(subtrees, off_tree, strict=True):
        known = local.blueprint
        reach = known.reach[0][node], known.reach[1][node]
        alternative = known.values(opponent, node, known.response_cfvs[opponent])
        gifts_before.append(local.gift(node) if config.reach else np.zeros(len(alternative)))
        if config.gadget == "unsafe":
            gadgets.append(unsafe_gadget(subtree, opponent, reach))
        else:
            make = resolve_gadget if config.gadget == "resolve" else maxmargin_gadget
            gadgets.append(make(subtree, opponent, reach[searcher], alternative + gifts_before[-1]))
    together, parts = forest(gadgets)
    solver = CFR(together, config.rule)
    spend(solver.run, config.iterations, config.seconds)
    solved, answers = solver.average_policy(), []
    for (subtree, inside), part, action, gift in zip(subtrees, parts, off_tree, gifts_before, strict=True):
        known = action.local.blueprint
        reach = known.reach[0][action.node], known.reach[1][action.node]
        solution = Blueprint(solved.part(part.nodes, subtree), root_reach=reach)
        answers.append((action.child, _Local(solution, opponent, gift), inside))
    return answers


def _subtree(tree: PublicTree, action: _OffTree, expensive: bool) -> tuple[PublicTree, int]:
    """Returns what is solved to answer an off-tree action, and the place of the action's child in it."""
    small = action.local.blueprint.tree
    game: Game[Any] = small.game
    behind = build_tree(game, root=tree.states[action.child])
    if not expensive:
        return behind, 0
    edges = [Edge(small.labels[child], _below(small, child)) for child in small.children(action.node)]
    edges.append(Edge(tree.labels[action.child], behind))
    hands = int(small.num_hands[0, action.node]), int(small.num_hands[1, action.node])
    state = small.states[action.node]
    root = Inner(int(small.actor[action.node]), hands, tuple(edges), num_actions=len(edges), state=state)
    return assemble(game, root).tree, len(edges)


def _below(tree: PublicTree, node: int) -> Part:
    if tree.num_children[node]:
        return cut(tree, node).tree
    return End(tree.payoffs[tree.payoff_group[node]], float(tree.stake[node]), tree.states[node])
