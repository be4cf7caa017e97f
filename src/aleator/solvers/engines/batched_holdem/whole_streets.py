"""Streets of a whole spot before the river by kernels: one player's update on all boards, in two launches per shape.

Algorithm:
    `down` and `up` with the betting written out (`street_source`), one thread per hand of a board and root; what folds
    are worth is made in between by sums over cards, what leaves are worth by the street that follows.

Reference: as `whole`.

Deviations: none; the arithmetic is that of `whole` in float32, in another order.

Status: equal to `whole` on a device, and on a CPU where a C++ compiler can stand in for one
    (tests/solvers/batched_holdem/test_whole_kernels.py).
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel, Source
from aleator.solvers.engines.batched_holdem.shapes import BettingShape
from aleator.solvers.engines.batched_holdem.street_roots import StreetRoots
from aleator.solvers.engines.batched_holdem.street_source import street_source

Tensor = torch.Tensor
_THREADS = 128


def street_defines(roots: StreetRoots, chosen: int, num_hands: int) -> dict[str, int]:
    """Returns what the kernels of a shape that so many roots have are compiled with."""
    every = {"ALL_ROOTS": roots.roots, "ALL_ROWS": roots.rows, "ALL_LEAVES": roots.leaves, "ALL_FOLDS": roots.folds}
    return every | {"THREADS": _THREADS, "HANDS": num_hands, "CHOSEN": chosen}


@cache
def _kernels(
    shape: BettingShape, player: int, power: float, defines: tuple[tuple[str, int], ...], device: int
) -> tuple[Kernel, Kernel]:
    """Returns `down` and `up`, compiled once per process."""
    source = street_source(shape, player, power)
    return Kernel(source, "down", dict(defines)), Kernel(source, "up", dict(defines))


class WholeStreets:
    """One street before the river of one spot on a CUDA device."""

    def __init__(self, roots: StreetRoots, num_hands: int, power: float) -> None:
        """Makes kernels.

        Args:
            roots: of the street.
            num_hands: H.
            power: of positive regrets in a policy.
        """
        self._roots, self._hands, self._power = roots, num_hands, power

    def sources(self) -> list[Source]:
        """Returns what is compiled."""
        return [
            (street_source(group.shape, player, self._power), street_defines(self._roots, group.chosen, self._hands))
            for group in self._roots.groups
            for player in (0, 1)
        ]

    def update(
        self,
        player: int,
        reach: Tensor,
        regrets: Tensor,
        sums: Tensor,
        discounts: Tensor,
        *,
        compatible: Callable[[Tensor], Tensor],
        below: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Returns the player's cfvs at the roots [B, roots, H], and changes regrets and sums of policies in place.

        Args:
            player: whose regrets are updated; the policies of the other are added to the sums.
            reach: [B, roots, H] the opponent's.
            regrets: [B, rows, H].
            sums: likewise.
            discounts: [4] as `RegretRule.schedule` has them.
            compatible: from reach [B, n, H] to that of hands that share no card.
            below: from the opponent's reach of leaves [B, leaves, H] to the player's cfvs there.
        """
        roots, batch, tiles = self._roots, len(reach), -(-self._hands // _THREADS)
        leaves, folds = (reach.new_empty(batch, count, self._hands) for count in (roots.leaves, roots.folds))
        reach, values = reach.contiguous(), torch.empty_like(reach)
        kernels = [
            _kernels(
                group.shape, player, self._power, tuple(street_defines(roots, group.chosen, self._hands).items()),
                reach.device.index or 0,
            )
            for group in roots.groups
        ]  # fmt: skip
        for group, (down, _) in zip(roots.groups, kernels, strict=True):
            blocks = batch * group.chosen * tiles
            down(blocks, _THREADS, group.roots, regrets, reach, leaves, folds, sums, discounts)
        met = compatible(folds).contiguous() if roots.folds else folds
        worth = below(leaves).contiguous() if roots.leaves else leaves
        for group, (_, up) in zip(roots.groups, kernels, strict=True):
            blocks = batch * group.chosen * tiles
            up(blocks, _THREADS, group.roots, regrets, worth, met, group.stakes, values, discounts)
        return values
