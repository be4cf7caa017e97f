"""The batched engine on the CPU: updates of CFR by compiled kernels on the memory of the tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.solvers.engines.batched import compiled_walk
from aleator.solvers.engines.batched.engine import TorchEngine


class CompiledEngine(TorchEngine):
    """`TorchEngine` with the same results (up to rounding) for CFR-D, leaves at current beliefs, on the CPU."""

    def _prepare(self) -> None:
        """Lays out what the kernels read: views of the tensors."""
        forest, shapes = self.forest, self.forest.shapes
        payoff, deal = shapes.payoff[forest.template], shapes.deal[forest.template]
        self._terminals = (forest.terminals.numpy(), payoff[forest.terminals].numpy())
        self._leaves = (forest.leaves.numpy(), deal[forest.leaves].numpy())
        stake = shapes.stake[forest.template[forest.terminals]].numpy()
        self._stakes = (stake, -stake)
        self._ones = np.ones(len(forest.leaves), dtype=stake.dtype)
        self._matrices = shapes.matrices.numpy()
        self._nothing = np.zeros((0, shapes.num_hands), dtype=stake.dtype)
        self._links = (forest.actor.numpy(), forest.first_child.numpy(), forest.num_children.numpy())
        self._parent, self._mover = forest.parent.numpy(), forest.mover.numpy()
        self._number: type[np.floating[Any]] = stake.dtype.type
        self._rows: dict[str, npt.NDArray[Any]] = {
            name: getattr(self, name).numpy() for name in ("values", "regret", "policy")
        }
        self._reach = (self.reach[0].numpy(), self.reach[1].numpy())
        self._sums = (self.sums[0].numpy(), self.sums[1].numpy())

    def update(self, number: int) -> None:
        """As `TorchEngine.update`."""
        player = (number - 1) % 2
        opponent, rows = self._reach[1 - player], self._rows
        positive, negative, decay, share, floor, _ = (self._number(x) for x in self.schedule[number - 1])
        compiled_walk.evaluate_ends(
            *self._terminals, self._stakes[player], self._matrices, player, opponent, self._nothing, rows["values"]
        )
        if self._leaf_values:
            worth = self._leaf_values(player, self.reach).numpy()
            compiled_walk.evaluate_ends(
                *self._leaves, self._ones, self._matrices, player, opponent, worth, rows["values"]
            )
        compiled_walk.update_regrets(
            *self._links,
            player,
            rows["values"],
            rows["regret"],
            rows["policy"],
            positive,
            negative,
            floor,
            self.power > 1,
        )
        roots = len(self.forest.shape)
        self.value_sums[player].mul_(float(decay)).add_(self.values[:roots], alpha=float(share))
        compiled_walk.push_reach(
            self._parent, self._mover, roots, player, rows["policy"], self._reach[player], self._sums[player], decay,
            share
        )  # fmt: skip
