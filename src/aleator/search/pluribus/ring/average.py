"""The average policy of a round that is searched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.search.pluribus.ring.arrays import Floats
from aleator.search.pluribus.ring.matching import match_regrets
from aleator.search.pluribus.ring.tree import DECISION, TreeArrays


@kernel()
def add_average(
    weight: float, wanted: npt.NDArray[np.bool_], tree: TreeArrays, before: npt.NDArray[np.int32], fixed: Floats,
    held: npt.NDArray[np.int64], regrets: Floats, sums: Floats, reach: Floats, policy: Floats,
) -> None:  # fmt: skip
    """Adds the current policy of the searched round, weighted by its players' own reach, to its sums.

    Args:
        weight: of this policy.
        wanted: ``[N]`` the nodes whose sums are added to.
        tree: the round.
        before: ``[N, 2]`` the last decision of the same player above each, and the action there; -1: none.
        fixed, held: policies that are held.
        regrets: of all decisions.
        sums: like the regrets, updated.
        reach: ``[N, W]`` working memory, W columns.
        policy: working memory.
    """
    width = reach.shape[1]
    for node in range(len(tree.kind)):
        if tree.kind[node] != DECISION or tree.street[node] != tree.street[0]:
            continue
        above, taken = int(before[node, 0]), int(before[node, 1])
        if above < 0:
            for column in range(width):
                reach[node, column] = np.float32(1.0)
        else:
            _write_policy(above, tree, fixed, held, regrets, policy, width)
            for column in range(width):
                reach[node, column] = reach[above, column] * policy[taken, column]
        if not wanted[node]:
            continue
        actions = int(tree.first[node + 1] - tree.first[node])
        _write_policy(node, tree, fixed, held, regrets, policy, width)
        at = int(tree.row[node])
        for action in range(actions):
            for column in range(width):
                sums[at + action * width + column] += np.float32(weight) * reach[node, column] * policy[action, column]


@kernel()
def _write_policy(
    node: int, tree: TreeArrays, fixed: Floats, held: npt.NDArray[np.int64], regrets: Floats, policy: Floats,
    width: int,
) -> None:  # fmt: skip
    actions, at = int(tree.first[node + 1] - tree.first[node]), int(tree.row[node])
    if held[node] < 0:
        match_regrets(regrets[at : at + actions * width], actions, width, policy)
        return
    for action in range(actions):
        for column in range(width):
            policy[action, column] = fixed[int(held[node]) + action * width + column]
