"""Networks at leaves by kernels against the same in torch: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from aleator.learning.holdem import fused_leaves
from aleator.learning.holdem.examples import ranges_on
from aleator.learning.holdem.fused_leaves import FusedLeaves, kernel_sizes
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.leaves import NetworkLeaves
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.holdem.streets import STREETS
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

SMALL = {"width": 16, "layers": 2, "knots": 8, "bands": 3, "band_knots": 4}


@pytest.fixture
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernels(shape: NetworkShape, num_cards: int, device: int) -> tuple[KernelOnCpu, ...]:
        sizes = kernel_sizes(shape, num_cards, threads=32)
        found = compile_for_the_cpu(fused_leaves.network_source(), sizes, tmp_path)
        return found["normalise"], found["inputs"], found["outputs"]

    monkeypatch.setattr(fused_leaves, "_kernels", kernels)


def compare(deck: Deck, shape: NetworkShape) -> None:
    """Asserts that both price six games of three leaves, two games a board, alike; nobody can bet at the second."""
    generator = torch.Generator(deck.device).manual_seed(7)
    boards = round_boards(deck, deck.random_boards(3, STREETS[shape.street].board, generator))
    network = KnotNetwork(shape, boards.num_cards, torch.Generator().manual_seed(0)).to(deck.device)
    for layer in (network.curve, network.band_curves):
        torch.nn.init.normal_(layer.weight, std=0.2, generator=generator)
        torch.nn.init.normal_(layer.bias, std=0.2, generator=generator)
    twice = boards.take(torch.arange(3, device=deck.device).repeat_interleave(2))
    reach = torch.stack([ranges_on(twice, generator) * (1.0 + leaf) for leaf in range(3)], 1)
    reach[0, 0, 1] = 0.0  # nobody comes here
    reach[1, 2, 0] *= 1e-39  # and here hardly anybody: its reciprocal is not a number of 32 bits
    pots = torch.rand(6, 3, generator=generator, device=deck.device) + 1.0
    stacks = torch.rand(6, 3, generator=generator, device=deck.device) * 9.0
    stacks[:, 1] = 0.0
    matrices = equity_matrices(boards)
    expected = NetworkLeaves(network, boards, matrices, pots, stacks)(reach)
    found = FusedLeaves(network, boards, matrices, pots, stacks)(reach)
    checked = NetworkLeaves(network, boards, matrices, pots, torch.zeros_like(stacks))(reach)
    assert bool(found.isfinite().all())
    for values in (found, expected, checked):
        values[1, 2] = 0.0
    moved = (expected - checked).norm()
    assert float(moved) > 0.3 * float(checked.norm())  # the network has something to say
    assert float((found - expected).norm()) < 0.02 * float(moved)
    torch.testing.assert_close(found[:, 1], checked[:, 1], rtol=5e-3, atol=2e-3)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize(("street", "levels"), [("turn", 3), ("flop", 1)])
def test_kernels_equal_torch(street: str, levels: int) -> None:
    compare(Deck(range(38, 52)), NetworkShape(street=street, levels=levels, **SMALL))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("street", ["turn", "flop"])
def test_a_device_equals_torch(street: str) -> None:
    compare(Deck(device="cuda"), NetworkShape(street=street, width=256, layers=3, knots=64, levels=6))
