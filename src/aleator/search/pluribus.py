"""Pluribus' search: unsafe, from the start of the betting round, with the searcher's own past actions held fixed.

Algorithm:
    Nested unsafe search from the last decision trusts that the opponent got there as the blueprint says. Here the subgame begins
    where the current betting round did, at the beliefs there; the searcher's decisions that lie on the way to where play is now
    are held at what was played, all else is solved again. So the opponent may have deviated anywhere in the round,
    and the searcher answers that.

Reference: thesis 6.6; Brown and Sandholm 2019 (Pluribus), supplement.
Deviations:
    Two players, played to the end of the game; a depth limit with a choice of continuations for both players
    (`multi_valued`) can be cut first. The searcher's held policy is that of its last search, as in the paper.
Status: tests/search/test_pluribus.py.
"""

from __future__ import annotations

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import CHANCE
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import LCFR, RegretRule
from aleator.trees.beliefs import reach_at
from aleator.trees.policy import Policy, places
from aleator.trees.public_tree import PublicTree
from aleator.trees.subgame import cut


def round_start(tree: PublicTree, node: int) -> int:
    """Returns the node at which the betting round of a node began: behind chance's last public move, or the root."""
    while node and tree.actor[tree.parent[node]] != CHANCE:
        node = int(tree.parent[node])
    return node


def pluribus_search(
    policy: Policy, node: int, searcher: int, *, iterations: int = 1000, rule: RegretRule = LCFR
) -> Policy:
    """Returns the policy with the searcher's part below a node, its own turn, replaced by what the search finds.

    Args:
        policy: of the whole game: what was played on the way by both players, as far as anybody knows.
        node: where play is; the searcher's turn.
        searcher: who searches.
        iterations: of the solver.
        rule: the regret rule; Pluribus uses linear CFR.
    """
    tree = policy.tree
    if tree.actor[node] != searcher:
        raise SolveError(f"player {searcher} searches at its own turn; node {node} is not")
    start = round_start(tree, node)
    subgame = cut(tree, start)
    assert subgame.nodes is not None
    solver = CFR(subgame.tree, rule, root_reach=reach_at(policy, start))
    place, held = int(np.flatnonzero(subgame.nodes == node)[0]), []
    while place:
        place = int(subgame.tree.parent[place])
        if subgame.tree.actor[place] == searcher:
            held.append(place)
    for own in held:
        solver.lock(np.array([own]), policy[int(subgame.nodes[own])][None])
    solver.run(iterations)
    found = solver.average_policy()
    below = cut(tree, node)
    assert below.nodes is not None
    inside = np.flatnonzero(np.isin(subgame.nodes, below.nodes))
    parts = [vector.copy() for vector in policy.probabilities]
    parts[searcher][places(tree, subgame.nodes[inside], searcher)] = found.probabilities[searcher][
        places(subgame.tree, inside, searcher)
    ]
    return Policy(tree, (parts[0], parts[1]))


def pluribus_policy(blueprint: Policy, searcher: int, *, iterations: int = 1000, rule: RegretRule = LCFR) -> Policy:
    """Returns what a player plays who searches at each of its decisions, each search starting from what it played before."""
    tree, found = blueprint.tree, blueprint
    for node in tree.decisions(searcher):  # ancestors come first
        found = pluribus_search(found, int(node), searcher, iterations=iterations, rule=rule)
    return found
