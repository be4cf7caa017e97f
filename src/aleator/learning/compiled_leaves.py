"""A value network at the leaves of a forest, on the CPU, by the kernels of `compiled_network`."""

from __future__ import annotations

import numpy as np
import torch

from aleator.learning.compiled_network import activate, encode_live, scatter
from aleator.learning.encoding import Encoding
from aleator.learning.networks import ValueNetwork, turned
from aleator.solvers.engines.torch.forest import Forest

Tensor = torch.Tensor
_BLOCK = 512  # rows whose activations stay in a core's cache


class CompiledLeaves:
    """As `NetworkLeaves` in float32, with the network's parameters as they are when it is asked."""

    def __init__(self, network: ValueNetwork, encoding: Encoding) -> None:
        self.network, self.encoding = network, encoding
        self.layers = network.linear
        self.norms = [(norm.weight.detach().numpy(), norm.bias.detach().numpy()) for norm in network.norms]

    def bind(self, forest: Forest) -> BoundCompiledLeaves:
        """Returns the value function for the leaves of one forest."""
        return BoundCompiledLeaves(self, forest)

    def evaluate(self, inputs: Tensor, found: Tensor) -> None:
        """Writes the values [n, H] of inputs [n, size] to `found`."""
        self._perceive(inputs, found)
        if self.network.config.zero_sum:
            other = torch.empty_like(found)
            self._perceive(turned(inputs), other)
            found.copy_(self.network.balanced(inputs, found, other))

    def _perceive(self, inputs: Tensor, found: Tensor) -> None:
        """Writes what the perceptron says."""
        empty = np.zeros(0, dtype=np.float32)
        for begin in range(0, len(inputs), _BLOCK):
            block = inputs[begin : begin + _BLOCK]
            for number, layer in enumerate(self.layers):
                block = torch.addmm(layer.bias, block, layer.weight.T)
                scale, shift = self.norms[number] if self.norms else (empty, empty)
                activate(block.numpy(), bool(self.norms), scale, shift)
            output = self.network.output
            torch.addmm(output.bias, block, output.weight.T, out=found[begin : begin + _BLOCK])


class BoundCompiledLeaves:
    """The value network at the leaves of one forest; what does not change between iterations is prepared once."""

    def __init__(self, leaves: CompiledLeaves, forest: Forest) -> None:
        encoding, states = leaves.encoding, forest.leaf_states
        self._leaves, self._rows = leaves, forest.leaves.numpy()
        self._fixed = [encoding.features[states, player].numpy() for player in (0, 1)]
        self._marginal, self._swap = encoding.marginal[states].numpy(), encoding.swap[states].numpy()
        self._inputs = torch.empty((len(states), encoding.size))
        self._found = torch.empty((len(states), encoding.num_hands))
        self._values = torch.empty((len(states), encoding.num_hands))
        self._places = np.zeros(len(states), dtype=np.int64)

    @torch.no_grad()
    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [Y, H] values, overwritten by the next call; zero at leaves that the opponent never reaches."""
        live = encode_live(
            self._rows, self._fixed[player], self._marginal, self._swap, reach[0].numpy(), reach[1].numpy(), player,
            self._inputs.numpy(), self._places,
        )  # fmt: skip
        self._leaves.evaluate(self._inputs[:live], self._found[:live])
        scatter(self._found[:live].numpy(), self._places[:live], self._values.numpy())
        return self._values
