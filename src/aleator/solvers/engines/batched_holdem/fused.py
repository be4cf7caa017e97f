"""Rivers solved by the fused kernel: the engine of `plain` without leaves, hundreds of times as fast, on a CUDA device.

Algorithm:
    One block of threads solves one game, all iterations in one launch (`solve.cu`). A thread keeps two hands; reach and
    values stay in its registers, prefix sums over hands are made in shared memory, and only regrets are read and
    written.

Reference: as `plain`.

Deviations:
    Regrets are float16, scaled so that the largest stake is 64. Where a power of 1.5 is asked for, the square root is
    the device's approximation. Otherwise it is the arithmetic of `plain` in float32.

Status: equal to `plain` on a device (tests/solvers/batched_holdem/test_fused.py, skipped where there is none).
"""

from __future__ import annotations

import torch

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.order import StrengthOrder
from aleator.solvers.engines.batched_holdem.plain import check_rule, match_regrets
from aleator.solvers.engines.batched_holdem.river_layout import RiverLayout
from aleator.solvers.engines.batched_holdem.shapes import BettingShape
from aleator.solvers.engines.batched_holdem.source import river_source
from aleator.solvers.regret_rule import SHARP_MATCHING, RegretRule

Tensor = torch.Tensor


@cache
def _kernel(
    shape: BettingShape, layout: RiverLayout, sharp: bool, simultaneous: bool, averages: bool, device: torch.device
) -> Kernel:
    """Returns the kernel of a shape, compiled once per process."""
    if device.type != "cuda":
        raise SolveError(f"the fused engine needs a CUDA device, not {device}")
    defines = solve_defines(shape, layout, sharp, simultaneous, averages)
    return Kernel(river_source(shape), "solve", defines, shared_bytes=layout.shared_bytes)


def solve_defines(
    shape: BettingShape, layout: RiverLayout, sharp: bool, simultaneous: bool, averages: bool
) -> dict[str, int]:
    """Returns what `solve.cu` is compiled with."""
    own = {"SIMULTANEOUS": int(simultaneous), "AVERAGES": int(averages)}
    return layout.defines(shape.num_rows, shape.num_stakes, sharp=sharp) | own


class FusedRivers:
    """B rivers of one betting shape on a CUDA device; the interface of `PlainEngine`.

    Attributes:
        shape: the betting.
        iteration: how many have been run.
    """

    def __init__(
        self,
        shape: BettingShape,
        stakes: Tensor,
        reach: Tensor,
        order: StrengthOrder,
        rule: RegretRule,
        *,
        averages: bool = False,
        keep_at: Tensor | None = None,
    ) -> None:
        """Makes an engine.

        Args:
            shape: betting that ends in showdowns.
            stakes: [B, K] in pots.
            reach: [B, 2, H] both players' beliefs, over positions of the order.
            order: of the boards.
            rule: regret matching, sharp or not, without predictions.
            averages: whether average policies are kept.
            keep_at: [B] the iteration, from 1 on, whose policies are kept for each game.
        """
        check_rule(rule)
        if stakes.shape != (len(reach), shape.num_stakes):
            raise SolveError(f"stakes must be [{len(reach)}, {shape.num_stakes}], not {list(stakes.shape)}")
        self.shape, self.rule, self.order, self.iteration = shape, rule, order, 0
        self._layout = RiverLayout.of(order)
        positions = self._layout.positions
        self._places, self._lists = self._layout.places_of(order)
        batch, device = len(reach), reach.device
        self._reach = torch.zeros(batch, 2, positions, device=device)
        self._reach[..., : order.num_hands] = reach
        self._stakes = stakes.float().contiguous()
        self._simultaneous = not rule.alternating
        buffers = 2 if self._simultaneous else 1
        self._regrets = torch.zeros(batch, buffers, shape.num_rows, positions, dtype=torch.float16, device=device)
        self._scratch, self._values = torch.empty_like(self._reach), torch.zeros_like(self._reach)
        self._sums = torch.zeros(batch, shape.num_rows, positions, device=device) if averages else None
        self._keep_at = None if keep_at is None else keep_at.int().contiguous()
        self._kept = None if keep_at is None else torch.zeros_like(self._regrets[:, 0])
        self._weight = 0.0
        sharp = rule.minimiser == SHARP_MATCHING
        self._solve = _kernel(shape, self._layout, sharp, self._simultaneous, averages, device)

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each of which updates both players, in one launch."""
        schedule = self.rule.schedule(self.iteration + 1, iterations)
        for decay in schedule[:, 2]:
            self._weight = self._weight * decay + 1.0
        rows = torch.tensor(schedule[:, :4].clip(-1e30), dtype=torch.float32, device=self._reach.device)
        self._solve(
            len(self._reach), self._layout.threads, self._places, self._lists, self._reach, self._stakes,
            self._regrets, self._scratch, self._values, self._sums, self._kept, self._keep_at, rows, self.iteration,
            iterations,
        )  # fmt: skip
        self.iteration += iterations

    def values(self) -> Tensor:
        """Returns [B, 2, H]: both players' cfvs at the root in pots, the weighted mean over iterations."""
        return self._values[..., : self.order.num_hands] / self._weight

    def compatible(self) -> Tensor:
        """Returns [B, 2, H]: the opponent's reach at the root without a common card, per hand; set by the first run."""
        largest = self._stakes.amax(1)[:, None, None]
        return self._scratch[..., : self.order.num_hands] * (largest / 64.0)

    @property
    def regrets(self) -> Tensor:
        """[B, R, H], scaled by 64 / the largest stake of a game."""
        rows = self._regrets[:, 0, :, : self.order.num_hands].float()
        if self._simultaneous and self.iteration % 2:
            second = self._regrets[:, 1, :, : self.order.num_hands].float()
            for node in self.shape.decisions:
                if self.shape.player[node] == 0:
                    rows[:, self.shape.rows(node)] = second[:, self.shape.rows(node)]
        return rows

    def current_policies(self) -> Tensor:
        """Returns [B, R, H]: the policies that follow from the regrets."""
        return match_regrets(self.shape, self.regrets, self.rule.power)

    def kept_policies(self) -> Tensor:
        """Returns [B, R, H]: the policies of the iteration that was to be kept for each game."""
        if self._kept is None:
            raise SolveError("no iteration was to be kept: say which with keep_at")
        return match_regrets(self.shape, self._kept[..., : self.order.num_hands].float(), self.rule.power)

    def average_policies(self) -> Tensor:
        """Returns [B, R, H]: the average policies; uniform where a hand never came."""
        if self._sums is None:
            raise SolveError("averages were not kept: ask for them with averages=True")
        return match_regrets(self.shape, self._sums[..., : self.order.num_hands], 1.0)
