"""What the engine keeps between iterations: in how many bits, times what, and how sums of policies stay in range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.kernels.aligned import aligned_zeros
from aleator.solvers.engines.boards.kept import LARGEST
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.engines.boards.walk import Storage

Float32Array = npt.NDArray[np.float32]
# by bits: sums shrink to the first before they exceed the second
LARGEST_SUM = {16: (2.0**11, 2.0**15), 32: (1.0, 2.0**80)}
LARGEST_GAIN = 2.0**8  # as it is kept in 16 bits; with regret matching, regrets grow like the root of iterations


def scales(plan: BoardPlan) -> list[float]:
    """Returns per street the power of two by which chips are multiplied, so that regrets suit float16.

    Values on a board carry the chance of the board, so that those of later streets are multiplied by more.
    """
    behind = min(plan.spot.stack, int(plan.betting.tree.chips.max()))  # limit has stacks that never get in
    most = max(float(weights.sum()) for weights in plan.weights) * (plan.spot.pot / 2 + behind)
    return [float(2.0 ** np.floor(np.log2(LARGEST_GAIN / (most * chance)))) for chance in plan.chances]


def new_storage(sizes: Sequence[int], bits: int, *, predicts: bool) -> tuple[Storage, Storage]:
    """Returns memory for so many numbers of each kind of each player."""
    kept = np.float16 if bits == 16 else np.float32
    first, second = (
        Storage(
            regret=aligned_zeros(size, kept),
            policy_sum=aligned_zeros(size, kept),
            instant=aligned_zeros(size, np.float32) if predicts else None,
        )
        for size in sizes
    )
    return first, second


def as_bits(kept: Storage) -> Storage:
    """Returns the same memory as the kernels take it."""
    if kept.regret.dtype == np.float32:
        return kept
    return kept._replace(regret=kept.regret.view(np.uint16), policy_sum=kept.policy_sum.view(np.uint16))


def weigh_sums(
    schedule: npt.NDArray[np.float64], averaging: npt.NDArray[np.float64], most: float, bits: int
) -> Float32Array:
    """Returns [T, 6]: a schedule as the kernels take it, where sums do not decay but later policies weigh more.

    So nothing is written where nothing is added. Before sums grow too large, they shrink with the weights: the last
    column says to what part.

    Args:
        schedule: [T, 5] of `RegretRule.schedule`.
        averaging: [2] what the last policies weigh in their sums, and the largest sum in units of it; moved on.
        most: the largest reach of a hand.
        bits: that sums are kept in.
    """
    rows = np.ones((len(schedule), 6), np.float32)
    rows[:, :5] = np.maximum(schedule, -LARGEST[bits])
    weight, bound = averaging
    low, high = LARGEST_SUM[bits]
    for row, decay in zip(rows, schedule[:, 2], strict=True):
        bound = bound * decay + most
        if bound * weight <= high * decay:
            weight /= decay
        else:
            fitting = 2.0 ** np.floor(np.log2(low / bound))
            row[5] = decay * fitting / weight
            weight = fitting
        row[2] = weight
    averaging[:] = weight, bound
    return rows
