"""A value network at the leaves of betting rounds on a CUDA device: what `NetworkLeaves` does, in three kernels.

Algorithm:
    Beliefs are normalised by one kernel; a product with the boards' equities gives what checking down is worth; a
    second kernel makes the trunk's inputs, torch multiplies the layers in bfloat16, and a third kernel reads the curves
    for every hand (`network.cu`). No row of hands by knots or bands is ever in memory.

Reference: `knot_network`, `leaves`.

Deviations: none; bfloat16 and float16 where `leaves` has them on a CUDA device.

Status: equal to `leaves` within their precision, on a device, and on a CPU where a C++ compiler stands in for one
    (tests/learning/holdem/test_fused_leaves.py).
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import STACK_FEATURES, NetworkShape
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards
from aleator.solvers.engines.batched_holdem.source import device_code

Tensor = torch.Tensor
_SOURCE = Path(__file__).with_name("network.cu")
_THREADS = 256
_ALIGNED = 64  # inputs of the first layer, so that its product is a fast one


def kernel_sizes(shape: NetworkShape, num_cards: int, threads: int = _THREADS) -> dict[str, int]:
    """Returns what the kernels of a network are compiled with."""
    inputs = 4 * shape.knots * shape.levels + STACK_FEATURES
    return {
        "THREADS": threads,
        "HANDS": num_cards * (num_cards - 1) // 2,
        "CARDS": num_cards,
        "KNOTS": shape.knots,
        "LEVELS": shape.levels,
        "BANDS": shape.bands,
        "BAND_KNOTS": shape.band_knots,
        "INPUTS": -(-inputs // _ALIGNED) * _ALIGNED,
    }


def network_source() -> str:
    """Returns the CUDA source of the kernels."""
    return device_code("numbers.cu") + _SOURCE.read_text(encoding="utf-8")


@cache
def _kernels(shape: NetworkShape, num_cards: int, device: int) -> tuple[Kernel, Kernel, Kernel]:
    """Returns `normalise`, `inputs` and `outputs`, compiled once per process."""
    source, sizes = network_source(), kernel_sizes(shape, num_cards)
    normalise, inputs, outputs = (Kernel(source, name, sizes) for name in ("normalise", "inputs", "outputs"))
    return normalise, inputs, outputs


class FusedTrunk:
    """The layers of a network in bfloat16."""

    def __init__(self, network: KnotNetwork, num_inputs: int) -> None:
        weight, bias = _half_of(network.first)
        self._first = functional.pad(weight, (0, num_inputs - weight.shape[1])), bias
        blocks = [list(block.children())[:2] for block in network.middle]
        self._middle = [(_half_of(norm), _half_of(layer)) for norm, layer in blocks]
        self._heads = [_half_of(layer) for layer in (network.curve, network.band_curves)]

    def __call__(self, rows: Tensor) -> list[Tensor]:
        """Returns curves [n, 2 * grid] and those of bands from inputs [n, INPUTS]."""
        hidden = functional.linear(rows, *self._first)
        for norm, layer in self._middle:
            ready = functional.layer_norm(hidden, hidden.shape[1:], *norm)
            hidden = hidden + functional.gelu(functional.linear(ready, *layer))
        return [functional.linear(hidden, *head) for head in self._heads]


def _half_of(layer: nn.Module) -> tuple[Tensor, Tensor]:
    assert isinstance(layer, nn.Linear | nn.LayerNorm)
    return layer.weight.detach().bfloat16(), layer.bias.detach().bfloat16()


class FusedLeaves:
    """cfvs at the leaves of B rounds by a network of the end of their street; a `LeafCfvs`."""

    def __init__(
        self, network: KnotNetwork, boards: RoundBoards, equities: Tensor, pots: Tensor, stacks: Tensor
    ) -> None:
        """Puts a network at leaves; arguments as in `NetworkLeaves`."""
        if len(pots) % len(boards.cards):
            raise SolveError(f"{len(pots)} games cannot share {len(boards.cards)} boards evenly")
        device, leaves = pots.device, pots.shape[1]
        open_leaves = (stacks > 1e-6).any(0).nonzero().flatten()  # leaves where somebody can still bet
        self._num_asked, self._sharing = len(open_leaves), len(pots) // len(boards.cards)
        self._asked = open_leaves.int()
        self._place = torch.full((leaves,), -1, dtype=torch.int32, device=device)
        self._place[open_leaves] = torch.arange(len(open_leaves), dtype=torch.int32, device=device)
        self._equities, self._pots, self._stacks = equities, pots.float().contiguous(), stacks.float().contiguous()
        self._spread = boards.spread.float().contiguous()
        self._cards = torch.tril_indices(boards.num_cards, boards.num_cards, -1, device=device).T.to(torch.uint8)
        self._cards = self._cards.contiguous()
        self._num_inputs = kernel_sizes(network.shape, boards.num_cards)["INPUTS"]
        self._trunk = FusedTrunk(network, self._num_inputs)
        self._kernels = _kernels(network.shape, boards.num_cards, device.index or 0)

    def __call__(self, reach: Tensor) -> Tensor:
        """Returns cfvs [B, L, 2, H] in pots of the root, from both players' reach [B, L, 2, H]."""
        normalise, inputs, outputs = self._kernels
        games, leaves, _, hands = reach.shape
        mass, others = reach.new_empty(games, leaves, 2), torch.empty_like(reach, dtype=torch.float16)
        normalise(games * leaves * 2, _THREADS, reach, mass, others)
        by_board = others.view(len(self._equities), -1, hands).to(self._equities.dtype)
        checked = torch.bmm(by_board, self._equities.mT).half()
        looked = (reach, mass, checked, self._spread, self._stacks, self._cards)
        counts = (max(self._num_asked, 1), leaves, self._sharing)
        rows = torch.empty(games * self._num_asked, self._num_inputs, dtype=torch.bfloat16, device=reach.device)
        if self._num_asked:
            inputs(len(rows), _THREADS, *looked, self._asked, *counts, rows)
        curves = self._trunk(rows)
        values = torch.empty_like(reach)
        outputs(games * leaves, _THREADS, *looked, self._place, *counts, *curves, self._pots, values)
        return values
