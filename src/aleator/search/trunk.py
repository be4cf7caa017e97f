"""How good a policy is that says only how to begin a game: its exploitability if play below it is as good as can be.

Algorithm:
    Hold one player's decisions in the trunk at the policy and solve the whole game otherwise; what the other player
    wins then, over both seats, is what the trunk alone costs. A trunk of an equilibrium costs nothing.

Reference: thesis 5.1.2 (trunk).
Deviations: the game is solved by CFR for so many iterations; the result is an upper bound that falls with them.
Status: tests/search/test_random_iteration.py.
"""

from __future__ import annotations

from aleator.errors import SolveError
from aleator.solvers.best_response import best_response_value
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import PCFR_PLUS
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame


def trunk_exploitability(subgame: Subgame, policy: Policy, *, iterations: int = 500) -> float:
    """Returns the exploitability of a policy on a subgame at the root of a tree, with optimal play below leaves."""
    full, nodes = subgame.full, subgame.nodes
    if full is None or nodes is None or nodes[0] != 0:
        raise SolveError("a trunk begins at the root of the tree that it was cut from")
    total = 0.0
    for player in (0, 1):
        solver = CFR(full, PCFR_PLUS)
        for node in subgame.tree.decisions(player):
            solver.lock(nodes[[node]], policy[int(node)][None])
        solver.run(iterations)
        total += best_response_value(solver.average_policy(), 1 - player)
    return total / 2
