"""The rivers of a whole spot by kernels: one player's update on all boards below all ends of the turn's betting.

Algorithm:
    Ends of the turn whose river betting has one shape are one launch, a block of threads for each of them and each
    board (`step.cu`). A block reads regrets once, keeps reach and values in registers, and writes new regrets and sums;
    it is what `WholeEngine` does in dozens of operations that each read and write every node.

Reference: as `whole`.

Deviations: none; the arithmetic is that of `whole` in float32, in another order. Where a power of 1.5 is asked for, the
    square root is the device's approximation.

Status: equal to `whole` on a device, and on a CPU where a C++ compiler can stand in for one
    (tests/solvers/batched_holdem/test_whole_rivers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from aleator.caching import cache
from aleator.games.holdem.betting_tree import BettingNode, BettingTree
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.order import StrengthOrder
from aleator.solvers.engines.batched_holdem.river_layout import RiverLayout
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, betting_of
from aleator.solvers.engines.batched_holdem.source import step_source

Tensor = torch.Tensor
_ROOTS_WITHOUT_ROWS = 4  # of a block


class Sizes(NamedTuple):
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
def _kernel(shape: BettingShape, player: int, sizes: Sizes, device: int) -> Kernel:
    """Returns `step`, compiled once per process."""
    source = step_source(shape, player)
    return Kernel(source, "step", sizes.defines(shape), shared_bytes=sizes.layout.shared_bytes)


class _Group(NamedTuple):
    """Roots of one shape: their numbers and first rows [n], and stakes in chips [n, K]."""

    shape: BettingShape
    sizes: Sizes
    roots: Tensor
    first: Tensor
    stakes: Tensor


class WholeRivers:
    """All rivers of one spot on a CUDA device."""

    def __init__(self, tree: BettingTree, roots: Sequence[int], pot: int, order: StrengthOrder, *, sharp: bool) -> None:
        """Makes kernels.

        Args:
            tree: the betting of the spot.
            roots: its nodes where rivers begin, ascending.
            pot: chips in the middle at the spot's root.
            order: of the boards.
            sharp: whether policies are proportional to regrets to the power 1.5.
        """
        layout, device = RiverLayout.of(order), order.hand.device
        self._layout, self._device = layout, device.index or 0
        self._places, self._lists = layout.places_of(order)
        betting = [betting_of(BettingNode(tree, root), pot) for root in roots]
        first, members = 0, dict[BettingShape, list[tuple[int, int]]]()
        for number, (shape, _) in enumerate(betting):
            members.setdefault(shape, []).append((number, first))
            first += shape.num_rows
        self._groups = []
        for shape, found in members.items():
            numbers, firsts = torch.tensor(found, dtype=torch.int32, device=device).T.contiguous()
            chips = np.stack([betting[number][1] * pot for number, _ in found])
            stakes = torch.tensor(chips, dtype=torch.float32, device=device)
            sizes = Sizes(layout, sharp, len(found), len(roots), first)
            self._groups.append(_Group(shape, sizes, numbers, firsts, stakes))

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
        for shape, sizes, roots, first, stakes in self._groups:
            blocks = sizes.chosen if shape.num_rows else -(-sizes.chosen // _ROOTS_WITHOUT_ROWS)
            _kernel(shape, player, sizes, self._device)(
                len(reach) * blocks, self._layout.threads, places, lists, roots, first, stakes, reach, regrets, sums,
                values, discounts,
            )  # fmt: skip
        return values
