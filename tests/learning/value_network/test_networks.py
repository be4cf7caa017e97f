"""The value network's outer layer: values sum to zero in every form of the network, and are learned through it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from aleator.errors import SolveError

os.environ.setdefault("TRITON_INTERPRET", "1")
torch = pytest.importorskip("torch")

from aleator.learning.rebel.model import Model, ModelSearch, load_model  # noqa: E402
from aleator.learning.rebel.training import Trainer  # noqa: E402
from aleator.learning.value_network.networks import zero_sum  # noqa: E402
from aleator.learning.value_network.numba_leaves import NumbaLeaves  # noqa: E402
from aleator.learning.value_network.torch_leaves import TorchLeaves  # noqa: E402
from tests.learning.runs import tiny  # noqa: E402


def test_the_outer_layer_makes_values_zero_sum() -> None:
    generator = torch.Generator().manual_seed(0)
    values = [torch.randn((5, 4), generator=generator) for _ in (0, 1)]
    beliefs = [torch.softmax(torch.randn((5, 4), generator=generator), dim=1) for _ in (0, 1)]
    first, second = zero_sum(values, beliefs)
    np.testing.assert_allclose((first * beliefs[0]).sum(1) + (second * beliefs[1]).sum(1), 0.0, atol=1e-6)


def loud(encoding: str) -> Trainer:
    """Returns a run of Liar's Dice 1x3 with the outer layer, whose untrained network does not say almost nothing."""
    trainer = Trainer(tiny(game="liars-dice:1x3", zero_sum=True, encoding=encoding, width=32))
    with torch.no_grad():
        trainer.network.output.weight.mul_(200)
    return trainer


@pytest.mark.parametrize("encoding", ["relative", "absolute"])
def test_answers_for_both_players_sum_to_zero(encoding: str) -> None:
    trainer, generator = loud(encoding), torch.Generator().manual_seed(1)
    places = torch.randint(len(trainer.subgames.encoding.states), (40,), generator=generator)
    reach = tuple(torch.rand((40, 3), generator=generator) for _ in (0, 1))
    beliefs = trainer.subgames.encoding.beliefs(places, reach)
    values = [trainer.network(trainer.subgames.encoding.encode(places, player, reach)) for player in (0, 1)]
    worth = [(values[player] * beliefs[player]).sum(dim=1) for player in (0, 1)]
    assert float(worth[0].detach().abs().max()) > 0.05
    torch.testing.assert_close(worth[0], -worth[1], rtol=0, atol=1e-6)
    # differences between hands are the perceptron's own: all hands are shifted alike
    raw = trainer.network.outputs(trainer.subgames.encoding.encode(places, 1, reach))
    torch.testing.assert_close(values[1][:, 1:] - values[1][:, :1], raw[:, 1:] - raw[:, :1], rtol=0, atol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("encoding", ["relative", "absolute"])
def test_all_forms_of_the_network_have_the_outer_layer(encoding: str) -> None:
    pytest.importorskip("triton")
    from aleator.learning.value_network.triton_leaves import TritonLeaves

    trainer, generator = loud(encoding), torch.Generator().manual_seed(2)
    forest = trainer.subgames.forest(torch.tensor([0, 2, 1]))
    reach = tuple(torch.rand((forest.num_rows, 3), generator=generator) for _ in (0, 1))
    plain = TorchLeaves(trainer.network, trainer.subgames.encoding).bind(forest)
    compiled = NumbaLeaves(trainer.network, trainer.subgames.encoding).bind(forest)
    fused = TritonLeaves(trainer.network, trainer.subgames.encoding, torch.float16).bind(forest)
    for player in (0, 1):
        expected = plain(player, reach)
        assert float(expected.abs().max()) > 0.1
        torch.testing.assert_close(compiled(player, reach), expected, rtol=0, atol=1e-4)
        torch.testing.assert_close(fused(player, reach), expected, rtol=0, atol=5e-3)


def test_gradients_flow_through_the_outer_layer() -> None:
    trainer = loud("relative")
    reach = (torch.ones((1, 3)), torch.tensor([[1.0, 0.0, 0.5]]))
    inputs = trainer.subgames.encoding.encode(torch.tensor([1]), 0, reach)
    trainer.network(inputs).sum().backward()
    for name, parameter in trainer.network.named_parameters():
        assert parameter.grad is not None and float(parameter.grad.abs().max()) > 0, name
    # by hand: sum_h v(h) = sum_h raw(h) - 3 / 2 (b0 . raw0 + b1 . raw1), and the bias is part of both
    bias, beliefs = trainer.network.output.bias.grad, trainer.subgames.encoding.beliefs(torch.tensor([1]), reach)
    torch.testing.assert_close(bias, 1.0 - 1.5 * (beliefs[0] + beliefs[1])[0], rtol=0, atol=1e-6)


def test_a_run_with_the_outer_layer_learns_and_is_saved(tmp_path: Path) -> None:
    # a subgame of depth 8 is all of 1x2: targets do not depend on the network
    trainer = Trainer(tiny(zero_sum=True, depth=8, searches=256, batch=64, draws=16.0, learning_rate=1e-2))
    losses = [metrics.loss for metrics in trainer.run()]
    assert losses[1] is not None and losses[-1] is not None and losses[-1] < losses[1] / 10
    Model(trainer.config, trainer.network).save(tmp_path / "a.safetensors")
    model = load_model(tmp_path / "a.safetensors")
    assert model.config.network.zero_sum and float(model.network.first_flag) == 1.0
    inputs = trainer.replay.inputs[:8]
    assert torch.equal(model.network(inputs), trainer.network(inputs))
    assert isinstance(ModelSearch(model).leaf_values, NumbaLeaves)


def test_hands_that_depend_on_each_other_are_refused() -> None:
    with pytest.raises(SolveError, match="those of leduc are not"):
        Trainer(tiny(game="leduc", zero_sum=True))
