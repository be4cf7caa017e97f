"""Betting rounds of one shape by the kernels of whole streets: the betting is read from tables, so nothing is compiled.

Algorithm:
    An update of a player is `down`, what folds and showdowns or leaves are worth, and `up` (`street.cu`): five launches
    instead of some hundred operations of `plain`. Games have stakes of their own. A kernel written out for a shape
    (`fused`, `fused_rounds`) is faster, but takes seconds to compile: worth it for thousands of games, not for a few.

Reference: as `plain`.

Deviations: none; the arithmetic is that of `plain` in float32, in another order.

Status: equal to `plain` on a CPU where a C++ compiler can stand in for a device, and on a device
    (tests/solvers/batched_holdem/test_round_kernels.py).
"""

from __future__ import annotations

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem import whole_kernels
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.solvers.engines.batched_holdem.shapes import FOLD, LEAF, SHOWDOWN, BettingShape
from aleator.solvers.engines.batched_holdem.whole_kernels import (
    THREADS,
    KernelPayoffs,
    StreetTables,
    street_tables,
)

Tensor = torch.Tensor
ALIGNED = 4  # a thread has so many hands: their number is a multiple of it


@cache
def _ends(shape: BettingShape) -> tuple[int, ...]:
    """Returns the nodes where a round ends: folds of player 0, of player 1, and the others."""
    folds = [[n for n, kind in enumerate(shape.kind) if kind == FOLD and shape.player[n] == own] for own in (0, 1)]
    return (*folds[0], *folds[1], *(node for node, kind in enumerate(shape.kind) if kind in (SHOWDOWN, LEAF)))


@cache
def _tables(shape: BettingShape, device: torch.device) -> StreetTables:
    nodes = range(1, shape.num_nodes)
    parents = shape.parent[1:]
    return street_tables([0], list(nodes), parents, [shape.player[parent] for parent in parents], _ends(shape), device)


class RoundKernels:
    """The updates of B rounds of one betting shape that all end in showdowns or all in leaves."""

    def __init__(
        self, shape: BettingShape, stakes: Tensor, payoffs: KernelPayoffs, leaf_cfvs: LeafCfvs | None = None
    ) -> None:
        """Makes tables.

        Args:
            shape: the betting.
            stakes: [B, K].
            payoffs: of the hands of each game, whose number is a multiple of four.
            leaf_cfvs: prices leaves; None if rounds end in showdowns.
        """
        self._payoffs, self._leaf_cfvs, self._rows = payoffs, leaf_cfvs, shape.num_rows
        ends = _ends(shape)
        self._num_folds = shape.kind.count(FOLD)
        self._num_others = len(ends) - self._num_folds
        self._tables = _tables(shape, stakes.device)
        lost = stakes.float()[:, [shape.stake[node] for node in ends]]  # [B, ends]
        folded = torch.tensor([shape.player[node] for node in ends[: self._num_folds]], device=stakes.device)
        self._stakes = lost.repeat(2, 1, 1)
        for player in (0, 1):
            self._stakes[player, :, : self._num_folds] *= torch.where(folded == player, -1.0, 1.0)
        if leaf_cfvs is not None:
            self._stakes[:, :, self._num_folds :] = 1.0
        batch = len(stakes)
        self._games, self._every = torch.arange(batch, dtype=torch.int32, device=stakes.device), slice(0, batch)

    def update(
        self,
        player: int,
        reach: Tensor,
        regrets: Tensor,
        sums: Tensor | None,
        means: Tensor,
        discounts: Tensor,
        *,
        sharp: bool,
    ) -> Tensor:
        """Updates a player's regrets, the sums of its opponent's policies and the player's mean cfvs, all in place.

        Args:
            player: who learns.
            reach: [B, 2, H] at the root.
            regrets, sums: [B, R, H]; no sums if they are not wanted.
            means: [B, 1 + A, H] sums of the player's cfvs at the root and behind its actions.
            discounts: [4] as `RegretRule.schedule` has them.
            sharp: whether policies are in proportion to positive regrets to the power 1.5.

        Returns:
            The player's cfvs at the root [B, H].
        """
        folds, others = self._down(player, reach, regrets, sums, discounts, sharp=sharp)
        self._payoffs.meet(folds, self._every)
        if self._leaf_cfvs is None:
            self._payoffs.show(others, self._every)
        else:
            _, own = self._down(1 - player, reach, regrets, None, discounts, sharp=sharp)
            both = torch.stack([own, others] if player == 0 else [others, own], 2)
            others = self._leaf_cfvs(both)[:, :, player].contiguous()
        batch, _, hands = reach.shape
        values = reach.new_empty(batch, hands)
        kernel, blocks = self._kernel("up", reach)
        kernel(
            blocks, THREADS, *self._tables.arrays, self._stakes[player], folds, others, regrets, regrets, values, means,
            discounts, self._stakes.shape[2], player, *self._sizes(reach), int(sharp), 0,
        )  # fmt: skip
        return values

    def _down(
        self, player: int, reach: Tensor, regrets: Tensor, sums: Tensor | None, discounts: Tensor, *, sharp: bool
    ) -> tuple[Tensor, Tensor]:
        """Returns the reach of a player's opponent at folds and other ends, [B, ends, H] each."""
        batch, _, hands = reach.shape
        folds, others = (reach.new_empty(batch, count, hands) for count in (self._num_folds, self._num_others))
        opponent = reach[:, 1 - player].contiguous()
        kernel, blocks = self._kernel("down", reach)
        kernel(
            blocks, THREADS, *self._tables.arrays, self._games, torch.ones_like(opponent), opponent, regrets, sums,
            folds, others, None, discounts, 0, player, *self._sizes(reach), int(sharp), 1.0,
        )  # fmt: skip
        return folds, others

    def _kernel(self, name: str, reach: Tensor) -> tuple[Kernel, int]:
        batch, _, hands = reach.shape
        kernel = whole_kernels.make_kernel(name, self._tables.shared_bytes, reach.device.index or 0)
        return kernel, -(-batch * hands // (ALIGNED * THREADS))

    def _sizes(self, reach: Tensor) -> tuple[int, ...]:
        """Returns games, hands, roots, rows, folds and other ends."""
        return len(reach), reach.shape[2], 1, self._rows, self._num_folds, self._num_others
