"""Betting rounds with leaves on a CUDA device: the engine of `plain`, its betting in two kernels an iteration.

Algorithm:
    `down` takes both players' reach from the root to all folds and leaves; what these are worth comes from torch (sums
    by card, a network); `up` brings it back and updates regrets (`round_source`). An iteration is captured as a graph.

Reference: as `plain`.

Deviations: none; the arithmetic is that of `plain` in float32, in another order.

Status: equal to `plain` on a device, and on a CPU where a C++ compiler can stand in for one
    (tests/solvers/batched_holdem/test_fused_rounds.py).
"""

from __future__ import annotations

from functools import cached_property

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.plain import LeafPayoffs, PlainEngine
from aleator.solvers.engines.batched_holdem.round_source import round_source
from aleator.solvers.engines.batched_holdem.shapes import FOLD, BettingShape

Tensor = torch.Tensor
_THREADS = 128


def round_sizes(shape: BettingShape, num_hands: int) -> dict[str, int]:
    """Returns what the kernels of a shape are compiled with."""
    return {
        "THREADS": _THREADS,
        "HANDS": num_hands,
        "ROWS": shape.num_rows,
        "LEAVES": len(shape.leaves),
        "FOLDS": shape.kind.count(FOLD),
        "STAKES": shape.num_stakes,
    }


@cache
def _kernels(
    shape: BettingShape, players: tuple[int, ...], power: float, averages: bool, num_hands: int, device: int
) -> tuple[Kernel, Kernel]:
    """Returns `down` and `up`, compiled once per process."""
    source, sizes = round_source(shape, players, power, averages), round_sizes(shape, num_hands)
    return Kernel(source, "down", sizes), Kernel(source, "up", sizes)


class FusedRounds(PlainEngine):
    """B rounds of one betting shape with leaves, on a CUDA device."""

    @cached_property
    def _ends(self) -> tuple[Tensor, Tensor]:
        """Room for the reach of leaves [B, L, 2, H] and of folds [B, F, 2, H]."""
        batch, _, hands = self.reach.shape
        counts = len(self.shape.leaves), self.shape.kind.count(FOLD)
        leaves, folds = (self.reach.new_empty(batch, count, 2, hands) for count in counts)
        return leaves, folds

    @cached_property
    def _read(self) -> tuple[Tensor, Tensor]:
        """The root's reach and the stakes, as the kernels read them."""
        return self.reach.float().contiguous(), self.stakes.float().contiguous()

    def _iterate(self) -> None:
        (batch, _, hands), (leaves, folds), (reach, stakes) = self.reach.shape, self._ends, self._read
        blocks, averages, device = batch * -(-hands // _THREADS), self.policy_sum is not None, self.reach.device
        assert self.leaf_cfvs is not None and not isinstance(self.leaf_cfvs, LeafPayoffs)  # refused without leaf values
        for players in ((0,), (1,)) if self.rule.alternating else ((0, 1),):
            down, up = _kernels(self.shape, players, self.rule.power, averages, hands, device.index or 0)
            down(blocks, _THREADS, self.regrets, reach, leaves, folds, self.policy_sum, self._discounts)
            met = self.payoffs.compatible(folds.flatten(1, 2)).contiguous()
            priced = self.leaf_cfvs(leaves).contiguous()
            up(blocks, _THREADS, self.regrets, priced, met, stakes, self._values, self._discounts)
