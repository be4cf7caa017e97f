"""A value network on the CPU, packed for the kernels of `numba_kernels`.

For the leaves of a few subgames the work of a general framework around each operation costs more than the operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.kernels.aligned import aligned_copy, aligned_zeros
from aleator.kernels.tiles import COLUMNS, TILE, packed
from aleator.learning.value_network.networks import ValueNetwork
from aleator.learning.value_network.numba_kernels import BLOCK, perceive

Array32 = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]


class NumbaNetwork:
    """The parameters of a `ValueNetwork` as they are now, and memory to work in: for one thread at a time.

    Hidden layers have W units here, some of them always 0.

    Attributes:
        zero_sum: whether the network has an outer layer, which is not part of it here.
    """

    def __init__(self, network: ValueNetwork) -> None:
        """Packs the parameters; both players' beliefs, the last inputs, apart from the features before them."""
        self.zero_sum, features = network.config.zero_sum, network.size - 2 * network.num_hands
        self._units, self._norm = network.config.width, bool(network.norms)
        width = -(-self._units // BLOCK) * BLOCK
        hidden = [(_array(layer.weight), _array(layer.bias)) for layer in network.linear]
        if self._norm:  # subtracts the mean of what they say
            hidden = [(weight - weight.mean(axis=0), bias - bias.mean()) for weight, bias in hidden]
        scales = [_array(norm.weight) for norm in network.norms]
        shifts = [_array(norm.bias) for norm in network.norms]
        (weight, bias), others = hidden[0], hidden[1:]
        self._bias = torch.from_numpy(_rows([bias], width))
        self._features = torch.from_numpy(_rows(weight.T[:features], width))
        panels = [packed(_rows(_rows(weight, width).T, width)) for weight, _ in others]
        self._layers = (
            packed(_rows(weight.T[features:], width)),
            aligned_copy(np.array(panels, dtype=np.float32).reshape(len(others), width // COLUMNS, width, COLUMNS)),
            _rows([bias for _, bias in others], width),
            _rows(_array(network.output.weight), width),
            _array(network.output.bias),
            _rows(scales or [bias] * len(hidden), width),
            _rows(shifts or [bias] * len(hidden), width),
        )

        sizes = (2 * network.num_hands, width, width)
        memory = [aligned_zeros(TILE * size, np.float32).reshape(TILE, size) for size in sizes]
        self._memory = (*memory, aligned_zeros(TILE, np.float32))

    def beginnings(self, features: torch.Tensor) -> Array32:
        """Returns [u, W]: what features [u, F] and the bias add up to in the first layer."""
        return aligned_copy(torch.addmm(self._bias, features, self._features).numpy())

    def perceive(self, rows: Numbers, beliefs: Array32, begin: Numbers, begins: Array32, values: Array32) -> None:
        """Writes what the perceptron says about rows [n] of `beliefs` [Y, 2H] to those of `values` [Y, H].

        Args:
            rows: which rows.
            beliefs: of both players.
            begin: [Y] which of the beginnings each row has.
            begins: [u, W].
            values: where.
        """
        perceive(rows, beliefs, begin, begins, self._layers, self._units, self._norm, self._memory, values)


def _array(tensor: Any) -> Array32:
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)


def _rows(vectors: Sequence[Array32] | Array32, width: int) -> Array32:
    """Returns vectors [n, m] with zeros behind them, [n, width]."""
    result: Array32 = aligned_zeros(len(vectors) * width, np.float32).reshape(-1, width)
    for row, vector in zip(result, vectors, strict=True):
        row[: len(vector)] = vector
    return result
