"""The steps of an update on a forest, compiled for the CPU: one pass over the rows each, without a temporary.

The same steps as in `walk`, on the memory of the same tensors. Rows are ordered by level, so that children have larger
numbers than their parent, and siblings stand side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.jit import njit

Block = npt.NDArray[Any]  # [R, H]
Number = float | np.floating[Any]  # of the type of the rows: anything wider would slow the loops down
Numbers = npt.NDArray[np.int64]  # one per row, or per end


@njit(fastmath={"contract", "nsz"})
def evaluate_ends(
    rows: Numbers,
    matrix: Numbers,
    stake: Block,
    matrices: Block,
    player: int,
    reach: Block,
    factor: Block,
    values: Block,
) -> None:
    """Writes the player's cfvs at rows without children: stake x matrix [H, H] x the opponent's reach [R, H].

    Args:
        rows, matrix, stake: [n] the rows, which of `matrices` [K, H, H] they have, and what that is multiplied by.
        matrices: to player 0; `stake` has the sign for player 1.
        player: whose values.
        reach: [R, H] of the opponent.
        factor: [n, H] that the result is multiplied by; empty for 1.
        values: [R, H] where it is written.
    """
    hands = reach.shape[1]
    for end in range(len(rows)):
        row, number, scale = rows[end], matrix[end], stake[end]
        for mine in range(hands):
            total = reach[row, 0] * 0
            for other in range(hands):
                entry = matrices[number, mine, other] if player == 0 else matrices[number, other, mine]
                total += entry * reach[row, other]
            values[row, mine] = total * scale
        if len(factor):
            for mine in range(hands):
                values[row, mine] *= factor[end, mine]


@njit(inline="always")
def _weight(regret: Any, sharp: bool) -> Any:
    """Returns what policies are proportional to: positive regrets, or those to the power 1.5."""
    positive = max(regret, regret * 0)
    return positive * np.sqrt(positive) if sharp else positive


@njit(fastmath={"contract", "nsz"})
def update_regrets(
    actor: Numbers, first_child: Numbers, num_children: Numbers, player: int, values: Block, regret: Block,
    policy: Block, positive: Number, negative: Number, floor: Number, sharp: bool,
) -> None:  # fmt: skip
    """Pulls the traverser's cfvs [R, H] up and updates its regrets and policy [R, H] on the way, as in `walk`."""
    hands, nothing = values.shape[1], values[0, 0] * 0
    for row in range(len(actor) - 1, -1, -1):
        if num_children[row] == 0:
            continue
        begin, end = first_child[row], first_child[row] + num_children[row]
        for hand in range(hands):
            total = nothing
            if actor[row] != player:
                for child in range(begin, end):
                    total += values[child, hand]
                values[row, hand] = total
                continue
            for child in range(begin, end):
                total += policy[child, hand] * values[child, hand]
            values[row, hand] = total
            weight, settled = nothing, True
            for child in range(begin, end):
                old, instant = regret[child, hand], values[child, hand] - total
                new = max(old * (positive if old > 0 else negative) + instant, floor)
                regret[child, hand] = new
                weight += _weight(new, sharp)
                settled &= instant == 0
            if settled and weight > 0:  # positive regrets keep their proportions, and the policy all its bits
                continue
            for child in range(begin, end):
                if weight > 0:
                    policy[child, hand] = _weight(regret[child, hand], sharp) / weight
                else:
                    policy[child, hand] = 1.0 / (end - begin)


@njit(fastmath={"contract", "nsz"})
def push_reach(
    parent: Numbers, mover: Numbers, begin: int, player: int, policy: Block, reach: Block, sums: Block, decay: Number,
    share: Number
) -> None:  # fmt: skip
    """Adds the player's reach [R, H] to its sums [R, H], then pushes it down from the roots (rows before `begin`)."""
    hands = reach.shape[1]
    for row in range(len(parent)):
        for hand in range(hands):
            sums[row, hand] = sums[row, hand] * decay + reach[row, hand] * share
            if row >= begin:
                above = reach[parent[row], hand]
                reach[row, hand] = above * policy[row, hand] if mover[row] == player else above
