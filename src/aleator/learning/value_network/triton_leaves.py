"""A value network at the leaves of a forest, on CUDA, by the kernels of `triton_kernels`."""

from __future__ import annotations

import torch
import triton

from aleator.errors import SolveError
from aleator.learning.value_network.encoding import Encoding
from aleator.learning.value_network.networks import ValueNetwork, zero_sum
from aleator.learning.value_network.triton_kernels import encode_beliefs, perceptron
from aleator.solvers.engines.batched.forest import Forest

Tensor = torch.Tensor
_BLOCK = 128
_MIN_WIDTH = 32  # a product sums over half of the units, 16 at the least
_MIN_OUTPUTS = 64  # Triton 3.6 reads out of bounds in a product with fewer columns


def check_width(width: int) -> None:
    """Raises SolveError if the kernels cannot hold a hidden layer of so many units in two halves."""
    if width < _MIN_WIDTH or width != triton.next_power_of_2(width):
        raise SolveError(f"on a GPU the width of a network is a power of 2 from {_MIN_WIDTH} on, not {width}")


class TritonLeaves:
    """As `TorchLeaves` in float16, with the network's parameters as they were when this was made.

    bfloat16, with three bits less, rounds values by .005, as much as the best networks are wrong.
    """

    def __init__(self, network: ValueNetwork, encoding: Encoding, dtype: torch.dtype = torch.float16) -> None:
        check_width(network.config.width)
        self.encoding, self.config, self.dtype = encoding, network.config, dtype
        self.width = max(triton.next_power_of_2(network.size), 16)
        self.hands = max(triton.next_power_of_2(network.num_hands), _MIN_OUTPUTS)
        layers, norms = network.linear, network.norms

        def pad(matrix: Tensor, rows: int, columns: int) -> Tensor:
            result = torch.zeros((rows, columns), device=matrix.device)
            result[: matrix.shape[0], : matrix.shape[1]] = matrix.detach()
            return result

        depth, low = network.config.width, dtype
        self.w_in = pad(layers[0].weight.T, self.width, depth).to(low)
        self.b_in = layers[0].bias.detach().float()
        hidden = [layer.weight.detach().T.contiguous() for layer in layers[1:]] or [self.w_in.new_zeros((1, 1))]
        self.w_hidden = torch.stack(hidden).to(low).contiguous()
        self.b_hidden = torch.stack([layer.bias.detach() for layer in layers[1:]] or [self.b_in])
        ones = torch.ones_like(self.b_in)
        self.scales = torch.stack([norm.weight.detach() for norm in norms] or [ones])
        self.shifts = torch.stack([norm.bias.detach() for norm in norms] or [ones])
        self.w_out = pad(network.output.weight.T, depth, self.hands).to(low)
        self.b_out = pad(network.output.bias[None], 1, self.hands)[0]

    def bind(self, forest: Forest) -> BoundTritonLeaves:
        """Returns the value function for the leaves of one forest."""
        return BoundTritonLeaves(self, forest)


class BoundTritonLeaves:
    """The network at the leaves of one forest; inputs are written in place, so that calls can be captured."""

    def __init__(self, leaves: TritonLeaves, forest: Forest) -> None:
        self._leaves, encoding = leaves, leaves.encoding
        self._rows, self._states = forest.leaves.to(torch.int32), forest.leaf_states.to(torch.int32)
        self._swap = encoding.swap.to(torch.int32)
        self._inputs = []
        for player in (0, 1):
            features = encoding.features[forest.leaf_states, player]
            inputs = torch.zeros((len(self._rows), leaves.width), dtype=leaves.dtype, device=features.device)
            inputs[:, : features.shape[1]] = features
            self._inputs.append(inputs)
        self._first = int(encoding.features.shape[2])
        self._values = [torch.zeros((len(self._rows), encoding.num_hands), device=self._swap.device) for _ in (0, 1)]
        self._second = encoding.swap[forest.leaf_states][:, None]  # player 1's belief is the first of the two

    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [Y, H] values; they are overwritten by the next call."""
        if not self._leaves.config.zero_sum:
            return self._evaluate(player, reach)
        values = [self._evaluate(asked, reach) for asked in (0, 1)]
        hands, inputs = self._leaves.encoding.num_hands, self._inputs[player]
        ahead = inputs[:, self._first : self._first + hands].to(values[0].dtype)
        behind = inputs[:, self._first + hands : self._first + 2 * hands].to(values[0].dtype)
        beliefs = (torch.where(self._second, behind, ahead), torch.where(self._second, ahead, behind))
        return zero_sum(values, beliefs)[player]

    def _evaluate(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [Y, H]: what the perceptron says."""
        net, hands, number = self._leaves, self._leaves.encoding.num_hands, len(self._rows)
        encode_beliefs[(triton.cdiv(number, 32),)](
            self._rows, self._states, self._swap, net.encoding.marginal, reach[0], reach[1], self._inputs[player],
            number, hands, self._first, WIDTH=net.width, HP=triton.next_power_of_2(hands), BLOCK=32,
        )  # fmt: skip
        perceptron[(triton.cdiv(number, _BLOCK),)](
            self._inputs[player], net.w_in, net.b_in, net.w_hidden, net.b_hidden, net.scales, net.shifts, net.w_out,
            net.b_out, self._values[player], number, hands, LAYERS=net.config.layers, NORM=net.config.layer_norm,
            WIDTH=net.width, DEPTH=net.config.width, HP=net.hands, BLOCK=_BLOCK, num_warps=8,
        )  # fmt: skip
        return self._values[player]
