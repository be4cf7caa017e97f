"""The kernel of runouts against the torch operations that it replaces; needs a CUDA device."""

from __future__ import annotations

import pytest
import torch

from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import round_boards


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
