"""Minimax on a forest of subgames of a game of perfect information: all of them solved by one pass.

Algorithm:
    Each player asks the value function for its values at the leaves and takes its best actions from there up, the other
    one answering with its own (`aleator.solvers.minimax`).

Reference: ReBeL section 5.4.

Deviations: the policies that are kept are these, also where Algorithm 1 would draw the uniform policy that comes
    before the first update: exploration is left to the exploring player.

Status: equal to the CPU engine's (tests/solvers/test_minimax.py).
"""

from __future__ import annotations

import torch

from aleator.errors import SolveError
from aleator.solvers.engines.batched import walk
from aleator.solvers.engines.batched.engine import BatchedValue, Searched
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.search_rule import SearchRule

Tensor = torch.Tensor


class MinimaxEngine:
    """Solves the subgames of one forest together; arguments as for `TorchEngine`, without a number of updates.

    Attributes:
        values: per player [R, 1], the player's cfvs at all rows, once there was a search.
    """

    def __init__(
        self, forest: Forest, leaf_values: BatchedValue | None, root_reach: tuple[Tensor, Tensor], rule: SearchRule
    ) -> None:
        rule.check(forest.shapes.game.name, forest.shapes.num_hands)
        if len(forest.leaves) and leaf_values is None:
            raise SolveError(f"{len(forest.leaves)} leaves need a value function")
        self.forest, self.root_reach, self._levels = forest, root_reach, walk.levels_of(forest)
        self._leaf_values = leaf_values.bind(forest) if leaf_values and len(forest.leaves) else None

    def search(self, keep: Tensor | None = None) -> Searched:
        """Returns each subgame's solution; `keep` makes no difference."""
        forest, shapes, roots = self.forest, self.forest.shapes, len(self.forest.shape)
        ones = torch.ones((forest.num_rows, 1), dtype=shapes.dtype, device=shapes.device)
        policy, values = ones.clone(), [ones, ones]
        deal = shapes.matrices[shapes.root_deal[forest.shape]][:, 0]
        for player in (0, 1):
            pulled = torch.zeros_like(ones)
            pulled[forest.terminals] = forest.payoffs.apply(player, ones)
            if self._leaf_values:
                pulled[forest.leaves] = self._leaf_values(player, (ones, ones)) * forest.leaf_deals.cf_reach(
                    player, ones
                )
            walk.pull_minimax(self._levels, player, pulled, policy)
            values[player] = pulled
        self.values = (values[0], values[1])
        means = (values[0][:roots] / deal, values[1][:roots] / deal)
        return Searched(self.forest, self.root_reach, means, policy, policy, policy)
