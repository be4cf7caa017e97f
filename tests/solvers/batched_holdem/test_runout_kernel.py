"""The kernel of runouts against the torch operations that it replaces: on a device, or with a compiler as one."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import torch

from aleator.solvers.engines.batched_holdem import runout_kernel
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import round_boards
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler


@needs_compiler
@pytest.mark.parametrize("size", [3, 4])
def test_the_kernel_finds_what_torch_finds(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(board: int, live: int, dealt: int, device: int) -> KernelOnCpu:
        sizes = runout_kernel.runout_sizes(board, live, dealt)
        return compile_for_the_cpu(runout_kernel.SOURCE, sizes, tmp_path)["strengths"]

    monkeypatch.setattr(runout_kernel, "_kernel", kernel)
    deck = Deck(range(36, 52))
    boards = deck.random_boards(2, size, torch.Generator().manual_seed(1))
    expected = round_boards(deck, boards)
    places = torch.tensor(list(combinations(range(16 - size), 5 - size)))
    runouts, strength, spread = runout_kernel.strengths(deck, boards, expected.cards, places)
    assert torch.equal(runouts, expected.runouts)
    torch.testing.assert_close(strength, expected.strength, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(spread, expected.spread, rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize(("size", "cards"), [(3, 52), (4, 52), (3, 20), (4, 20)])
def test_a_device_finds_what_a_cpu_finds(size: int, cards: int) -> None:
    whole = Deck(range(52 - cards, 52))
    boards = whole.random_boards(3, size, torch.Generator().manual_seed(1))
    expected = round_boards(whole, boards)
    found = round_boards(Deck(range(52 - cards, 52), device="cuda"), boards.cuda())
    for name in ("cards", "hands", "runouts"):
        assert torch.equal(getattr(found, name).cpu(), getattr(expected, name))
    torch.testing.assert_close(found.strength.cpu(), expected.strength, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(found.spread.cpu(), expected.spread, rtol=1e-3, atol=1e-4)
