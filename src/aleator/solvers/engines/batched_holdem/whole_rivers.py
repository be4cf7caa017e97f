"""The rivers of a whole spot by kernels: one player's update on all boards below all ends of the turn's betting.

Algorithm:
    Ends of the turn whose river betting has one shape are one launch, a block of threads for each of them and each
    board (`step.cu`). A block reads regrets once, keeps reach and values in registers, and writes new regrets and sums;
    it is what `WholeEngine` does in dozens of operations that each read and write every node.

Reference: as `whole`.

Deviations: none; the arithmetic is that of `whole` in float32, in another order. Where a power of 1.5 is asked for, the
    square root is the device's approximation.

Status: equal to `whole` on a device, and on a CPU where a C++ compiler can stand in for one
    (tests/solvers/batched_holdem/test_whole_kernels.py).
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel, Source
from aleator.solvers.engines.batched_holdem.order import StrengthOrder
from aleator.solvers.engines.batched_holdem.river_layout import RiverLayout
from aleator.solvers.engines.batched_holdem.shapes import BettingShape
from aleator.solvers.engines.batched_holdem.source import step_source
from aleator.solvers.engines.batched_holdem.street_roots import RootGroup, StreetRoots

Tensor = torch.Tensor
_ROOTS_WITHOUT_ROWS = 4  # of a block


class RiverSizes(NamedTuple):
    """What a kernel is compiled for beside a shape and a player.

    Attributes:
        layout: of the hands.
        sharp: whether policies are proportional to regrets to the power 1.5.
        chosen, roots, rows: how many roots have the shape, and how many roots and rows there are in all.
    """

    layout: RiverLayout
    sharp: bool
    chosen: int
    roots: int
    rows: int

    def defines(self, shape: BettingShape) -> dict[str, int]:
        """Returns what the compiler is given."""
        own = {"CHOSEN": self.chosen, "ALL_ROOTS": self.roots, "ALL_ROWS": self.rows}
        return self.layout.defines(shape.num_rows, shape.num_stakes, sharp=self.sharp) | own


@cache
def _kernel(shape: BettingShape, player: int, sizes: RiverSizes, device: int) -> Kernel:
    """Returns `step`, compiled once per process."""
    source = step_source(shape, player)
    return Kernel(source, "step", sizes.defines(shape), shared_bytes=sizes.layout.shared_bytes)


class WholeRivers:
    """All rivers of one spot on a CUDA device."""

    def __init__(self, roots: StreetRoots, order: StrengthOrder, *, sharp: bool) -> None:
        """Makes kernels.

        Args:
            roots: where rivers begin.
            order: of the boards.
            sharp: whether policies are proportional to regrets to the power 1.5.
        """
        self._roots, self._layout, self._sharp = roots, RiverLayout.of(order), sharp
        self._places, self._lists = self._layout.places_of(order)

    def _sizes(self, group: RootGroup) -> RiverSizes:
        return RiverSizes(self._layout, self._sharp, group.chosen, self._roots.roots, self._roots.rows)

    def sources(self) -> list[Source]:
        """Returns what is compiled."""
        return [
            (step_source(group.shape, player), self._sizes(group).defines(group.shape))
            for group in self._roots.groups
            for player in (0, 1)
        ]

    def update(
        self, player: int, boards: slice, reach: Tensor, regrets: Tensor, sums: Tensor, discounts: Tensor
    ) -> Tensor:
        """Returns the player's cfvs at the roots [B, roots, H], and changes regrets and sums of policies in place.

        Args:
            player: whose regrets are updated; the policies of the other are added to the sums.
            boards: which of the order's.
            reach: [B, roots, H] the opponent's.
            regrets: [B, rows, H] of these boards.
            sums: likewise.
            discounts: [4] as `RegretRule.schedule` has them.
        """
        reach, values = reach.contiguous(), torch.empty_like(reach)
        places, lists = self._places[boards], self._lists[boards]
        for group in self._roots.groups:
            blocks = group.chosen if group.shape.num_rows else -(-group.chosen // _ROOTS_WITHOUT_ROWS)
            _kernel(group.shape, player, self._sizes(group), reach.device.index or 0)(
                len(reach) * blocks, self._layout.threads, places, lists, group.roots, group.stakes, reach, regrets,
                sums, values, discounts,
            )  # fmt: skip
        return values
