"""The compiled network on the CPU: equal to torch's, at the leaves of searches too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from aleator.learning.rebel.subgames import Subgames
from aleator.learning.rebel.training import Trainer
from aleator.learning.value_network.leaf_values import leaf_values
from aleator.learning.value_network.networks import NetworkConfig, ValueNetwork
from aleator.learning.value_network.numba_leaves import NumbaLeaves
from aleator.learning.value_network.numba_network import NumbaNetwork
from aleator.learning.value_network.torch_leaves import TorchLeaves
from aleator.solvers.engines.batched.forest import Forest
from tests.learning.runs import ask, tiny


def one_layer(norm: bool, units: int = 40) -> ValueNetwork:
    """Returns a network with one feature and no weights on beliefs, whose outputs are its hidden units."""
    config = NetworkConfig(layers=1, width=units, layer_norm=norm)
    network = ValueNetwork(1 + 2 * units, units, config, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        network.linear[0].weight[:, 1:] = 0.0
        network.output.weight.copy_(torch.eye(units))
        network.output.bias.zero_()
    return network


def inputs_from(feature: torch.Tensor, network: ValueNetwork) -> torch.Tensor:
    """Returns inputs with this feature [n] and any beliefs."""
    return torch.cat([feature[:, None], torch.ones((len(feature), network.size - 1))], dim=1)


def test_gelu_is_as_exact_as_it_says() -> None:
    network, x = one_layer(norm=False), torch.linspace(-30, 30, 60_001)
    with torch.no_grad():
        network.linear[0].weight[:, 0] = 1.0
        network.linear[0].bias.zero_()
    found = ask(network, inputs_from(x, network))
    expected = torch.nn.functional.gelu(x.double(), approximate="tanh").numpy()[:, None]
    assert np.all(np.abs(found - expected) <= 5e-7 * np.maximum(1.0, np.abs(x.numpy()))[:, None])


def test_layer_norm_is_torchs() -> None:
    network, generator = one_layer(norm=True), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.norms[0].parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    inputs = inputs_from(torch.linspace(-8, 8, 999), network)
    found = ask(network, inputs)
    with torch.no_grad():
        expected = network.double()(inputs.double()).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("layers", "width", "norm"), [(1, 32, False), (2, 256, True), (3, 40, True), (3, 100, False)])
def test_the_kernels_say_what_the_network_says(layers: int, width: int, norm: bool) -> None:
    config, generator = (
        NetworkConfig(layers=layers, width=width, layer_norm=norm),
        torch.Generator().manual_seed(layers),
    )
    network = ValueNetwork(16, 5, config, generator=generator)
    with torch.no_grad():
        network.output.weight.mul_(100)
    inputs = 3 * torch.randn((33, 16), generator=generator)
    found = ask(network, inputs)
    with torch.no_grad():
        expected = network.double()(inputs.double()).numpy()
    assert np.abs(expected).max() > 0.3
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    for only in (slice(7, 8), slice(0, 33, 4)):
        assert np.array_equal(ask(network.float(), inputs, only), found[only]), "whatever else is asked"


@pytest.mark.parametrize("changes", [{}, {"layers": 3, "layer_norm": False}, {"game": "leduc"}])
def test_values_at_leaves_are_those_of_the_plain_network(changes: dict[str, Any]) -> None:
    trainer = Trainer(tiny(**changes))
    shapes, generator = trainer.subgames.shapes, torch.Generator().manual_seed(1)
    for parameter in trainer.network.parameters():  # an untrained network says almost nothing
        parameter.data.add_(torch.rand(parameter.shape, generator=generator))
    forest = trainer.subgames.forest(torch.randint(len(trainer.subgames.states), (300,), generator=generator))
    reach = [torch.rand((forest.num_rows, shapes.num_hands), generator=generator) for _ in (0, 1)]
    for rows in reach:
        rows *= torch.rand((forest.num_rows, 1), generator=generator) < 0.7  # some leaves are not reached
    plain = TorchLeaves(trainer.network, trainer.subgames.encoding).bind(forest)
    compiled = NumbaLeaves(trainer.network, trainer.subgames.encoding).bind(forest)
    for player in (0, 1):
        expected, found = plain(player, (reach[0], reach[1])), compiled(player, (reach[0], reach[1]))
        reached = reach[1 - player][forest.leaves].amax(dim=1) > 0
        assert 0 < int(reached.sum()) < len(reached)
        torch.testing.assert_close(found[reached], expected[reached], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("zero", [True, False])
def test_only_leaves_with_new_beliefs_are_asked_about(zero: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    perceive = NumbaNetwork.perceive

    def counted(self: NumbaNetwork, rows: Any, *arguments: Any) -> None:
        asked.append(len(rows))
        perceive(self, rows, *arguments)

    monkeypatch.setattr(NumbaNetwork, "perceive", counted)
    trainer, generator = Trainer(tiny(zero_sum=zero)), torch.Generator().manual_seed(1)
    forest = Forest.build(trainer.subgames.shapes, torch.zeros(5, dtype=torch.int64))
    reach = (torch.rand((forest.num_rows, 2), generator=generator), torch.ones((forest.num_rows, 2)))
    bound, number = trainer.leaf_values().bind(forest), len(forest.leaves)
    before = bound(0, reach).clone()
    assert torch.equal(bound(0, (4 * reach[0], reach[1])), before)  # the same beliefs
    reach[1][forest.leaves[2]] = torch.tensor([0.3, 0.6])
    reach[1][forest.leaves[3]] = 0.0  # never reached: what it is worth does not matter
    after = bound(0, reach)
    assert not torch.equal(after[2], before[2])
    assert torch.equal(after[:2], before[:2])
    assert asked == ([number, number, 1, 1] if zero else [number, 1])
    fresh = NumbaLeaves(trainer.network, trainer.subgames.encoding).bind(forest)(0, reach)
    assert torch.equal(fresh[:3], after[:3])


def test_it_is_what_training_on_the_cpu_uses() -> None:
    trainer = Trainer(tiny())
    assert isinstance(trainer.leaf_values(), NumbaLeaves)
    exact = Subgames(trainer.subgames.game, dtype=torch.float64).encoding
    assert isinstance(leaf_values(trainer.network, exact), TorchLeaves)
