"""Rounds before the river, solved to the end of the street with values at their leaves, on a CPU or a GPU.

Algorithm:
    CFR with leaf values, any number of rounds of one betting shape at once (`search.whole_hands.batches`).

Reference: DeepStack, Algorithm 1; ReBeL section 6 and App. C (leaves before the chance card).
Deviations:
    Updates alternate, though leaves are then priced twice an iteration: on turns whose leaves are checked down (5 and
    16 pots), 30 iterations are exploited for .7 and 3.3 % of the pot, 60 with simultaneous updates, at the same cost,
    for 4.0 and 4.7 %.
Status: tests/search/whole_hands/test_depth_limited.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from aleator.games.base import FloatArray
from aleator.search.whole_hands.batches import RoundBatch, solve_batch
from aleator.search.whole_hands.rounds import Constraint, RoundGame, RoundTask, SolvedRound
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs


class BoardValues(Protocol):
    """What hands are worth at the end of a street on B boards.

    Attributes:
        hands: ``[B, H]`` the hands that the rows of tensors are over, or one for each class of hands that play alike.
        rows: ``[B, 1326]`` which row each hand reads; -1 for hands that the board blocks.
        device: where tensors are.
    """

    hands: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    device: torch.device

    @property
    def payoffs(self) -> Payoffs | KernelPayoffs:
        """Of folds; for kernels where these do the betting."""

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [B, L] in chips; cfvs come in chips."""


def solve_to_leaves(
    game: RoundGame,
    values: BoardValues,
    iterations: int,
    *,
    constraint: Constraint | None = None,
    draw: Callable[[FloatArray], int] | None = None,
    on_done: Callable[[int], object] | None = None,
) -> SolvedRound:
    """Returns one round, solved; see `RoundTask` and `solve_all_to_leaves`."""
    return solve_all_to_leaves([RoundTask(game, constraint, draw)], values, iterations, on_done)[0]


def solve_all_to_leaves(
    tasks: Sequence[RoundTask],
    values: BoardValues,
    iterations: int,
    on_done: Callable[[int], object] | None = None,
) -> list[SolvedRound]:
    """Returns rounds of one street and one betting shape, solved.

    Args:
        tasks: whose trees end with their street, all with a constraint or all without.
        values: of the leaves, on the board of each.
        iterations: of CFR.
        on_done: called with the number of iterations so far.
    """
    batch = RoundBatch(tasks, values.hands, values.rows)
    matched = batch.stakes[:, [batch.shape.stake[leaf] for leaf in batch.shape.leaves]]
    most = np.array([task.game.stack + task.game.pot / 2 for task in tasks])
    behind = np.maximum(most[:, None] - matched, 0.0)
    leaf_cfvs = values.leaves(2.0 * matched, behind) if len(batch.shape.leaves) else None
    return solve_batch(batch, values.payoffs, iterations, values.device, leaf_cfvs, on_done=on_done)
