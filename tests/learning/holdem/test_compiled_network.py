"""A network whose loops over hands are compiled says what the network in torch says."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
import torch

from aleator.learning.holdem.compiled_network import CompiledValueNetwork
from tests.learning.holdem.test_knot_network import situation, trained


@pytest.mark.parametrize("levels", [1, 3])
def test_it_equals_the_network_in_torch(levels: int) -> None:
    network, asked = trained(levels), situation(levels, seed=3)
    asked.checked[1] = 0.5 * asked.compatible[1]  # everybody wins for certain: the last knot
    expected = network(asked).detach()
    assert float((expected - asked.checked)[1:].abs().max()) > 0.01
    torch.testing.assert_close(CompiledValueNetwork(network)(asked), expected, atol=2e-6, rtol=1e-4)
