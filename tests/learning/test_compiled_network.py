"""The compiled network on the CPU: equal to torch's, at the leaves of searches too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from aleator.learning.compiled_leaves import CompiledLeaves
from aleator.learning.compiled_network import activate
from aleator.learning.leaf_network import NetworkLeaves
from aleator.learning.training import Trainer, leaf_values
from aleator.solvers.engines.torch.forest import Forest
from tests.learning.runs import tiny


@pytest.mark.parametrize("norm", [True, False])
def test_activation_is_torchs(norm: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.linspace(-12, 12, 4096).view(16, 256) if not norm else torch.randn((16, 256), generator=generator) * 5
    scale, shift = torch.randn(256, generator=generator), torch.randn(256, generator=generator)
    expected = torch.nn.functional.layer_norm(rows, (256,), scale, shift) if norm else rows
    expected = torch.nn.functional.gelu(expected.double(), approximate="tanh").float()
    found = rows.clone()
    activate(found.numpy(), norm, scale.numpy(), shift.numpy())
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("changes", [{}, {"layers": 3, "layer_norm": False}, {"game": "leduc"}])
def test_values_at_leaves_are_those_of_the_plain_network(changes: dict[str, Any]) -> None:
    trainer = Trainer(tiny(**changes))
    shapes, generator = trainer.subgames.shapes, torch.Generator().manual_seed(1)
    for parameter in trainer.network.parameters():  # an untrained network says almost nothing
        parameter.data.add_(torch.rand(parameter.shape, generator=generator))
    forest = Forest.build(shapes, torch.randint(len(trainer.subgames.roots), (300,), generator=generator))
    reach = [torch.rand((forest.num_rows, shapes.num_hands), generator=generator) for _ in (0, 1)]
    for rows in reach:
        rows *= torch.rand((forest.num_rows, 1), generator=generator) < 0.7  # some leaves are not reached
    plain = NetworkLeaves(trainer.network, trainer.leaf_encoding).bind(forest)
    compiled = CompiledLeaves(trainer.network, trainer.leaf_encoding).bind(forest)
    for player in (0, 1):
        expected, found = plain(player, (reach[0], reach[1])), compiled(player, (reach[0], reach[1]))
        assert np.count_nonzero(expected.abs().sum(dim=1) == 0) > 0
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_it_is_what_training_on_the_cpu_uses() -> None:
    trainer = Trainer(tiny())
    assert isinstance(trainer.leaf_values(), CompiledLeaves)
    assert isinstance(leaf_values(trainer.network, trainer.leaf_encoding, low_precision=True), NetworkLeaves)
