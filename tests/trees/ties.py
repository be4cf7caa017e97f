"""Trees without ties: where two ways of adding may be compared step by step.

Regret matching jumps at zero: regrets of -1e-17 and of 1e-17 lead to different policies. Symmetric games have many
regrets that are zero, and rounding puts them on one side or the other by the order of additions, which is the
processor's choice. No processor is wrong, but their policies differ. Where payoffs are moved by random amounts there
are no ties, and every processor finds the same policies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aleator.trees.public_tree import PublicTree


def without_ties(tree: PublicTree, seed: int = 0, size: float = 0.1) -> PublicTree:
    """Returns a tree with every payoff moved at random; the rest, payoff groups included, stays as it is.

    Args:
        tree: the tree.
        seed: of the random amounts.
        size: of the amounts, relative to the largest payoff of a group.
    """
    rng = np.random.default_rng(seed)
    moved = []
    for group, matrix in enumerate(tree.payoffs):
        state = tree.states[int(np.flatnonzero(tree.payoff_group == group)[0])]
        largest = float(abs(matrix).max()) or float(tree.game.deal(state).max())
        if isinstance(matrix, np.ndarray):
            noise = rng.normal(size=matrix.shape) * tree.game.possible(state)
            moved.append(matrix + size * largest * noise)
        else:
            copy = matrix.copy()
            copy.data = copy.data + size * largest * rng.normal(size=copy.data.shape)
            moved.append(copy)
    ends = tree.payoff_group >= 0
    stake = np.where(tree.stake == 0, 1.0, tree.stake) * (1 + size * rng.random(tree.num_nodes)) * ends
    return replace(tree, payoffs=moved, stake=stake)


def other_rounding(tree: PublicTree, seed: int) -> PublicTree:
    """Returns a tree whose payoffs differ in the last bit: as another order of additions does, or about that."""
    noise = np.random.default_rng(seed).normal(size=tree.num_nodes)
    return replace(tree, stake=tree.stake * (1 + 3e-16 * noise))
