"""A blueprint: a policy for the whole game, and what search in its subgames has to know about it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from aleator.games.base import FloatArray
from aleator.games.operators import Deal
from aleator.solvers.best_response import best_response_cfvs, cfvs
from aleator.trees.beliefs import Reach, reach_in
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class Blueprint:
    """A policy, and for every node [H] of each player: reach, cf_reach, best-response and other values.

    Args:
        policy: the blueprint; the searcher's part is played where nothing is searched.
        estimates: a policy whose part for player i stands for how i would respond to the blueprint with the means that
            made it; None for the blueprint itself. With CFR in an abstraction, the last iteration's policy (thesis
            5.1.4).
        root_reach: [H0], [H1] of each player at the root, where the blueprint is one for a subgame; 1 unless given.
    """

    def __init__(self, policy: Policy, estimates: Policy | None = None, *, root_reach: Reach | None = None) -> None:
        self.policy = policy
        self.root_reach = root_reach
        self.tree: PublicTree = policy.tree
        self._estimates = policy if estimates is None else estimates

    @cached_property
    def reach(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per player, for every node [H]: the player's own part in coming there with each hand."""
        return own_reach(self.policy, 0, self.root_reach), own_reach(self.policy, 1, self.root_reach)

    @cached_property
    def cf_reach(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per player, for every node [H]: the part of chance and of the other player in coming there with each hand."""
        rows: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        deals: dict[object, Deal] = {}
        for node, state in enumerate(self.tree.states):
            if state not in deals:
                deals[state] = self.tree.game.deal_operator(state)
            rows[0].append(deals[state].cf_reach(0, self.reach[1][node]))
            rows[1].append(deals[state].cf_reach(1, self.reach[0][node]))
        return rows

    @cached_property
    def response_cfvs(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per player, for every node [H]: the cfv of each hand when the player best responds to the blueprint (CBV)."""
        first, second = (best_response_cfvs(self.policy, player, self.root_reach) for player in (0, 1))
        return first, second

    @cached_property
    def estimated_cfvs(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per player, for every node [H]: the cfv of each hand against the blueprint by the estimated response."""
        first, second = (
            cfvs(self.policy.with_player(player, self._estimates.probabilities[player]), player, self.root_reach)
            for player in (0, 1)
        )
        return first, second

    def values(self, player: int, node: int, of: list[FloatArray]) -> FloatArray:
        """Returns [H]: cfvs of a node as values given the hand; 0 where chance and the other player never come."""
        reach = self.cf_reach[player][node]
        return np.divide(of[node], reach, out=np.zeros(len(reach)), where=reach > 0)


def own_reach(policy: Policy, player: int, root_reach: Reach | None = None) -> list[FloatArray]:
    """Returns for every node [H]: the product of the player's own probabilities on the way there with each hand."""
    tree = policy.tree
    rows = [np.ones(tree.num_hands[player, 0]) if root_reach is None else root_reach[player]]
    for node in range(1, tree.num_nodes):
        rows.append(reach_in(tree, player, node, rows[int(tree.parent[node])], policy.__getitem__))
    return rows
