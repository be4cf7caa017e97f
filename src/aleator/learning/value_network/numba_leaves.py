"""A value network at the leaves of a forest, on the CPU, by the kernels of `numba_kernels`.

What the network says depends on the leaf's public state, whose part in the first layer is prepared once, and on the
beliefs. Where a player does not go, the policies that lead on do not change, nor do the beliefs: such leaves keep their
values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.value_network.encoding import Encoding
from aleator.learning.value_network.networks import ValueNetwork, zero_sum
from aleator.learning.value_network.numba_kernels import encode_changed
from aleator.learning.value_network.numba_network import Array32, NumbaNetwork, Numbers
from aleator.solvers.engines.batched.forest import Forest

Tensor = torch.Tensor
Block = npt.NDArray[np.floating[Any]]


class NumbaLeaves:
    """As `TorchLeaves` in float32, with the network's parameters as they are when it is bound to a forest."""

    def __init__(self, network: ValueNetwork, encoding: Encoding) -> None:
        self.network, self.encoding = network, encoding

    def bind(self, forest: Forest) -> BoundNumbaLeaves:
        """Returns the value function for the leaves of one forest."""
        return BoundNumbaLeaves(NumbaNetwork(self.network), self.encoding, forest.leaf_states, forest.leaves.numpy())


class BoundNumbaLeaves:
    """The value network at some leaves; what does not change between updates is prepared once."""

    def __init__(self, network: NumbaNetwork, encoding: Encoding, states: Tensor, rows: Numbers) -> None:
        """Prepares leaves.

        Args:
            network: the network.
            encoding: of public states, in float32 on the CPU.
            states: [Y] which of them the leaves have.
            rows: [Y] where reach has the leaves.
        """
        hands, number = encoding.num_hands, len(states)
        self._network, self._rows = network, rows
        different, begin = torch.unique(states, return_inverse=True)
        self._begin = begin.numpy()
        self._features, self._begins = encoding.features[different], dict[int, Array32]()
        self._marginal, self._swap = encoding.marginal[states].numpy(), encoding.swap[states].numpy()
        # per player whose values are asked for
        self._beliefs = [np.full((number, 2 * hands), -1.0, dtype=np.float32) for _ in (0, 1)]
        self._values = [np.zeros((number, hands), dtype=np.float32) for _ in (0, 1)]
        self._changed = np.zeros(number, dtype=np.int64)

    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns `values` [Y, H] as a tensor."""
        return torch.from_numpy(self.values(player, (reach[0].numpy(), reach[1].numpy())))

    def values(self, player: int, reach: tuple[Block, Block]) -> Array32:
        """Returns [Y, H] values, overwritten by later calls; of any size at leaves that the opponent never reaches.

        Args:
            player: whose.
            reach: of both players [R, H], up to a factor.
        """
        beliefs, values = self._beliefs[player], self._values[player]
        count = encode_changed(
            self._rows, self._marginal, self._swap, reach[0], reach[1], player, beliefs, self._changed
        )
        if not count:
            return values
        self._perceive(player, player, count, values)
        if self._network.zero_sum:
            other = np.empty_like(values)
            self._perceive(1 - player, player, count, other)
            leaves = self._changed[:count]
            first, second = np.split(beliefs[leaves], 2, axis=1)
            ahead = (self._swap[leaves] == bool(player))[:, None]
            held = (np.where(ahead, first, second), np.where(ahead, second, first))
            pair, weights = (
                (torch.from_numpy(one), torch.from_numpy(two)) for one, two in ((values[leaves], other[leaves]), held)
            )
            values[leaves] = zero_sum(pair, weights)[0].numpy()
        return values

    def _perceive(self, owner: int, player: int, count: int, values: Array32) -> None:
        """Writes the perceptron's values for the player asked, at the beliefs that are new to the player."""
        if owner not in self._begins:
            self._begins[owner] = self._network.beginnings(self._features[:, owner])
        self._network.perceive(self._changed[:count], self._beliefs[player], self._begin, self._begins[owner], values)
