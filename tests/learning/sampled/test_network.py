"""Networks of infostates: shapes, embeddings, skips; fits find the mean of what they are shown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aleator.games import load_game
from aleator.learning.sampled.encoding import InfostateEncoding
from aleator.learning.sampled.fitting import Fit, fit_network, probabilities
from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.trainer import parameters, set_parameters
from aleator.learning.sampled.traversal import Samples
from aleator.trees import build_tree


def kuhn() -> tuple[TreePlay, InfostateEncoding]:
    play = TreePlay(build_tree(load_game("kuhn")))
    return play, InfostateEncoding(play)


def test_the_layers_that_the_thesis_says() -> None:
    """Flop hold'em: two groups of cards with embeddings of 52 + 13 + 4, 12 places for bets, 8 layers, 3 actions."""
    network = InfostateNetwork((69, 69), 24, 3, 64, generator=torch.Generator())
    layers = 128 * 64 + 64 + 24 * 64 + 64 + 128 * 64 + 64 + 5 * (64 * 64 + 64)
    assert len(parameters(network)) == 2 * 69 * 64 + layers + 64 * 3 + 3


@pytest.mark.parametrize("flat", [False, True])
def test_parameters_are_one_vector(flat: bool) -> None:
    _, encoding = kuhn()
    network = InfostateNetwork.of(encoding, 8, torch.Generator().manual_seed(1), flat=flat)
    other = InfostateNetwork.of(encoding, 8, torch.Generator().manual_seed(2), flat=flat)
    inputs = encoding.inputs(torch.arange(12))
    assert not torch.equal(network(inputs), other(inputs))
    set_parameters(other, parameters(network))
    assert torch.equal(network(inputs), other(inputs))
    with pytest.raises(ValueError, match="finite parameters"):
        set_parameters(other, parameters(network)[1:])


def memory_of(play: TreePlay, means: torch.Tensor) -> Memory:
    """Returns a memory of noisy samples with these means [I, A], some infostates with ten times the weight."""
    generator, memory = torch.Generator().manual_seed(0), Memory(10_000, play.num_actions)
    infostates = torch.randint(play.num_infostates, (5000,), generator=generator)
    noise = torch.randn((5000, play.num_actions), generator=generator)
    weights = torch.where(infostates % 2 == 0, 10.0, 1.0)
    memory.add(Samples(infostates, means[infostates] + noise, weights), 1.0, generator)
    return memory


@pytest.mark.parametrize("batch", [0, 256])
def test_a_fit_finds_the_means_up_to_a_factor(batch: int) -> None:
    play, encoding = kuhn()
    means = 3.0 * torch.randn((12, play.num_actions), generator=torch.Generator().manual_seed(3))
    memory = memory_of(play, means)
    network = InfostateNetwork.of(encoding, 24, torch.Generator().manual_seed(1))
    fit = Fit(steps=150, batch=batch, learning_rate=1e-2, clip=1.0)
    fit_network(network, play, encoding, memory, fit, torch.Generator().manual_seed(2))
    everything = torch.arange(12)
    found = encoding.of_actions(everything, network(encoding.inputs(everything))).detach()
    exact = memory.sums(12).means
    factor = float((found * exact).sum() / found.square().sum())
    error = (factor * found - exact).square().mean() / exact.square().mean()
    assert float(error) < (0.01 if batch == 0 else 0.03)


def test_a_fit_of_policies_gives_policies() -> None:
    play, encoding = kuhn()
    policy = torch.tensor([[0.2, 0.8], [0.7, 0.3], [0.5, 0.5]] * 4)
    memory = Memory(100, 2)
    memory.add(Samples(torch.arange(12), policy, torch.ones(12)), 1.0, torch.Generator())
    network = InfostateNetwork.of(encoding, 24, torch.Generator().manual_seed(1))
    fit = Fit(steps=150, batch=0, learning_rate=1e-2, clip=1.0)
    loss = fit_network(network, play, encoding, memory, fit, torch.Generator(), answer=probabilities)
    everything = torch.arange(12)
    outputs = encoding.of_actions(everything, network(encoding.inputs(everything)))
    np.testing.assert_allclose(probabilities(outputs, play.legal(everything)).detach(), policy, atol=0.03)
    assert loss < 1e-3
