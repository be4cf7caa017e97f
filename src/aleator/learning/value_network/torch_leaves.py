"""A value network at the leaves of a forest of subgames, in plain torch: on any device, as precise as its encoding."""

from __future__ import annotations

import torch

from aleator.learning.value_network.encoding import Encoding
from aleator.learning.value_network.networks import ValueNetwork
from aleator.solvers.engines.batched.forest import Forest

Tensor = torch.Tensor


class TorchLeaves:
    """Asks a value network for the values at leaves.

    Attributes:
        network: the network.
        encoding: of the public states of all leaves, in the order of `Shapes.leaf_states`.
    """

    def __init__(self, network: ValueNetwork, encoding: Encoding) -> None:
        self.network, self.encoding = network, encoding

    def bind(self, forest: Forest) -> BoundTorchLeaves:
        """Returns the value function for the leaves of one forest."""
        return BoundTorchLeaves(self, forest)


class BoundTorchLeaves:
    """The value network at the leaves of one forest. What does not change between updates is prepared once."""

    def __init__(self, leaves: TorchLeaves, forest: Forest) -> None:
        self._leaves, self._index, self._rows = leaves, forest.leaf_states, forest.leaves
        encoding = leaves.encoding
        nothing = torch.ones(
            (len(self._index), encoding.num_hands), device=self._index.device, dtype=encoding.features.dtype
        )
        self._inputs = [encoding.encode(self._index, player, (nothing, nothing)) for player in (0, 1)]
        self._marginal = [encoding.marginal[self._index, player] for player in (0, 1)]
        self._swap = encoding.swap[self._index][:, None]

    @torch.no_grad()
    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [Y, H] values; zero at leaves that the opponent never reaches, where they do not count."""
        hands = self._leaves.encoding.num_hands
        reach = (reach[0][self._rows], reach[1][self._rows])
        live = torch.nonzero(reach[1 - player].amax(dim=1) > 0)[:, 0]
        inputs = self._inputs[player][live]
        beliefs = []
        for owner in (0, 1):
            weight = self._marginal[owner][live] * reach[owner][live]
            total = weight.sum(dim=1, keepdim=True)
            beliefs.append(torch.where(total > 0, weight / total, self._marginal[owner][live]))
        swap = self._swap[live]
        inputs[:, -2 * hands : -hands] = torch.where(swap, beliefs[1], beliefs[0])
        inputs[:, -hands:] = torch.where(swap, beliefs[0], beliefs[1])
        values = torch.zeros_like(reach[0])
        values[live] = self._leaves.network(inputs).to(values.dtype)
        return values
