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

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs, PlainEngine
from aleator.solvers.engines.batched_holdem.round_source import round_source
from aleator.solvers.engines.batched_holdem.shapes import FOLD, BettingShape
from aleator.solvers.regret_rule import RegretRule

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

    def __init__(
        self,
        shape: BettingShape,
        stakes: Tensor,
        reach: Tensor,
        payoffs: Payoffs,
        rule: RegretRule,
        *,
        leaf_cfvs: LeafCfvs,
        averages: bool = False,
    ) -> None:
        super().__init__(shape, stakes, reach, payoffs, rule, leaf_cfvs=leaf_cfvs, averages=averages)
        self._pricer = leaf_cfvs
        self._stakes32, self._reach32 = stakes.float().contiguous(), reach.float().contiguous()
        sizes = round_sizes(shape, reach.shape[2])
        batch, hands = len(reach), reach.shape[2]
        self._blocks = batch * -(-hands // _THREADS)
        self._leaves = reach.new_empty(batch, sizes["LEAVES"], 2, hands)
        self._folds = reach.new_empty(batch, sizes["FOLDS"], 2, hands)
        self._updates: tuple[tuple[int, ...], ...] = ((0,), (1,)) if rule.alternating else ((0, 1),)

    def _iterate(self) -> None:
        for players in self._updates:
            down, up = _kernels(
                self.shape, players, self.rule.power, self.policy_sum is not None, self.reach.shape[2],
                self.reach.device.index or 0,
            )  # fmt: skip
            down(
                self._blocks, _THREADS, self.regrets, self._reach32, self._leaves, self._folds, self.policy_sum,
                self._discounts,
            )  # fmt: skip
            folds = self.payoffs.compatible(self._folds.flatten(1, 2)).contiguous()
            leaves = self._pricer(self._leaves).contiguous()
            up(self._blocks, _THREADS, self.regrets, leaves, folds, self._stakes32, self._values, self._discounts)
