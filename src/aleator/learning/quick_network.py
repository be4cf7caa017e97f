"""A value network for a few inputs at a time on the CPU: matrix products by NumPy, the rest in one compiled pass.

For the leaves of a single subgame the work of a general framework around each operation costs more than the operation.
GELU is read off a table with linear interpolation, which is exact to 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from aleator.jit import kernel
from aleator.learning.networks import ValueNetwork

Array32 = npt.NDArray[np.float32]

_EDGE, _CELLS = 6.0, 4096


def _gelu_table() -> Array32:
    x = np.linspace(-_EDGE, _EDGE, _CELLS + 1)
    gelu = 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))
    return np.asarray(gelu, dtype=np.float32)


@kernel(fastmath=True)
def activate(rows: Any, bias: Any, scale: Any, shift: Any, norm: bool, table: Any) -> None:
    """Replaces rows [n, D] by GELU(LayerNorm(rows + bias))."""
    count, depth = rows.shape
    edge, cells = np.float32(_EDGE), np.float32(_CELLS / (2.0 * _EDGE))
    one, last = np.float32(1.0), len(table) - 2
    for r in range(count):
        mean = np.float32(0.0)
        for i in range(depth):
            rows[r, i] += bias[i]
            mean += rows[r, i]
        mean /= np.float32(depth)
        square = np.float32(0.0)
        for i in range(depth):
            off = rows[r, i] - mean
            square += off * off
        factor = one / np.sqrt(square / np.float32(depth) + np.float32(1e-5))
        for i in range(depth):
            x = rows[r, i]
            if norm:
                x = (x - mean) * factor * scale[i] + shift[i]
            place = (min(max(x, -edge), edge) + edge) * cells
            cell = min(int(place), last)
            part = place - np.float32(cell)
            y = table[cell] + part * (table[cell + 1] - table[cell])
            rows[r, i] = x if x > edge else y


class QuickNetwork:
    """The parameters of a `ValueNetwork` as they are now, ready for small batches."""

    def __init__(self, network: ValueNetwork) -> None:
        linear = [module for module in network.hidden if isinstance(module, nn.Linear)]
        norms = [module for module in network.hidden if isinstance(module, nn.LayerNorm)]

        def array(tensor: Any) -> Array32:
            return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)

        self._weights = [array(layer.weight.T) for layer in linear]
        self._biases = [array(layer.bias) for layer in linear]
        ones = np.ones(network.config.width, dtype=np.float32)
        self._scales = [array(norm.weight) for norm in norms] or [ones] * len(linear)
        self._shifts = [array(norm.bias) for norm in norms] or [ones] * len(linear)
        self._norm = bool(norms)
        self._output, self._output_bias = array(network.output.weight.T), array(network.output.bias)
        self._table = _gelu_table()

    def __call__(self, inputs: Array32) -> Array32:
        """Returns values [n, H] for inputs [n, size]."""
        rows = inputs
        for weight, bias, scale, shift in zip(self._weights, self._biases, self._scales, self._shifts, strict=True):
            rows = rows @ weight
            activate(rows, bias, scale, shift, self._norm, self._table)
        return np.asarray(rows @ self._output + self._output_bias, dtype=np.float32)
