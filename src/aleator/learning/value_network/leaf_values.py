"""A value network as the value function of searches, by the fastest backend of its device."""

from __future__ import annotations

import torch

from aleator.learning.value_network.encoding import Encoding
from aleator.learning.value_network.networks import ValueNetwork
from aleator.learning.value_network.torch_leaves import TorchLeaves
from aleator.solvers.engines.batched.engine import BatchedValue


def leaf_values(network: ValueNetwork, encoding: Encoding) -> BatchedValue:
    """Returns a value network as the value function of a search, by the fastest means its device has."""
    if encoding.features.is_cuda:
        from aleator.learning.value_network.triton_leaves import TritonLeaves

        return TritonLeaves(network, encoding)
    if encoding.features.dtype == torch.float32:
        from aleator.learning.value_network.numba_leaves import NumbaLeaves

        return NumbaLeaves(network, encoding)
    return TorchLeaves(network, encoding)
