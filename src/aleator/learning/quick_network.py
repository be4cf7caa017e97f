"""A value network for a few inputs at a time on the CPU: matrix products by NumPy, the rest by `compiled_network`.

For the leaves of a single subgame the work of a general framework around each operation costs more than the operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.compiled_network import activate
from aleator.learning.networks import ValueNetwork, turned

Array32 = npt.NDArray[np.float32]


class QuickNetwork:
    """The parameters of a `ValueNetwork` as they are now, ready for small batches."""

    def __init__(self, network: ValueNetwork) -> None:
        self._network = network
        linear, norms = network.linear, network.norms

        def array(tensor: Any) -> Array32:
            return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)

        self._weights = [array(layer.weight.T) for layer in linear]
        self._biases = [array(layer.bias) for layer in linear]
        ones = np.ones(network.config.width, dtype=np.float32)
        self._scales = [array(norm.weight) for norm in norms] or [ones] * len(linear)
        self._shifts = [array(norm.bias) for norm in norms] or [ones] * len(linear)
        self._norm = bool(norms)
        self._output, self._output_bias = array(network.output.weight.T), array(network.output.bias)

    def __call__(self, inputs: Array32) -> Array32:
        """Returns values [n, H] for inputs [n, size]."""
        if not self._network.config.zero_sum:
            return self._perceive(inputs)
        asked = torch.from_numpy(inputs)
        both = (self._perceive(inputs), self._perceive(turned(asked).numpy()))
        found = self._network.balanced(asked, torch.from_numpy(both[0]), torch.from_numpy(both[1]))
        return np.asarray(found.numpy())

    def _perceive(self, inputs: Array32) -> Array32:
        """Returns what the perceptron says."""
        rows = inputs
        for weight, bias, scale, shift in zip(self._weights, self._biases, self._scales, self._shifts, strict=True):
            rows = rows @ weight + bias
            activate(rows, self._norm, scale, shift)
        return np.asarray(rows @ self._output + self._output_bias, dtype=np.float32)
