"""A value network of knots as a CPU asks it at leaves: what concerns single hands is compiled, layers are packed.

Tensors over hands by knots and by bands would take most of the time of a small batch on a CPU; loops over hands make
none of them.

Reference: `knot_network`, which it equals within rounding (tests/learning/holdem/test_compiled_network.py).
"""

from __future__ import annotations

import numpy as np
import torch

from aleator.learning.holdem.knot_kernels import mass_on_knots, read_curves
from aleator.learning.holdem.knot_network import KnotNetwork, corrected, positions
from aleator.learning.holdem.network import Situation
from aleator.learning.holdem.packed_linear import pack_linear_layers

Tensor = torch.Tensor


class CompiledValueNetwork(KnotNetwork):
    """A network on a CPU that only answers."""

    def __init__(self, network: KnotNetwork) -> None:
        super().__init__(network.shape, network.num_cards)
        self.load_state_dict(network.state_dict(), assign=True)
        self.eval().requires_grad_(False)
        pack_linear_layers(self)
        pairs = torch.tril_indices(network.num_cards, network.num_cards, -1)
        self._pairs = np.ascontiguousarray(pairs.T.numpy().astype(np.uint8))

    def forward(self, situation: Situation) -> Tensor:
        """Returns [B, 2, H]: both players' cfvs in pots, as `KnotNetwork` does."""
        reach, shape, batch = situation.reach, self.shape, len(situation.reach)
        ranges, compatible, position, spread = (
            part.contiguous().numpy() for part in (reach, situation.compatible, positions(situation), situation.spread)
        )
        mass = reach.new_empty(batch, 2, self.grid)
        mass_on_knots(ranges, position, spread, shape.knots, shape.levels, mass.numpy())
        hidden = self._trunk(reach, situation.stack, mass)
        curve = self.curve(hidden).view(batch, 2, self.grid)
        band_curves = self.band_curves(hidden).view(batch, 2, shape.band_knots, shape.bands)
        change = torch.empty_like(reach)
        read_curves(
            ranges, compatible, position, spread, self._pairs,
            shape.knots, shape.levels, curve.numpy(), band_curves.numpy(), change.numpy(),
        )  # fmt: skip
        return corrected(situation, change)
