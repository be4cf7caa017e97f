"""On a GPU every method trains, saves, and goes on on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from aleator.learning.run_files import RunPace
from aleator.learning.sampled.fitting import Fit, minimise
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.solvers.best_response import exploitability

SHORT: dict[str, dict[str, Any]] = {
    "deep-cfr": {"traversals": 50, "memory": 1000, "width": 8},
    "nfsp": {"games": 50, "window": 500, "memory": 500, "width": 8},
    "double-neural": {"traversals": 50, "width": 8, "policy_width": 8, "first_steps": 5, "warm": 1},
}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", list(METHODS))
def test_a_run_begins_on_a_gpu_and_ends_on_a_cpu(kind: str, tmp_path: Path) -> None:
    method = METHODS[kind]
    config = method.preset(None, game="leduc", iterations=4, steps=6, policy_steps=6, **SHORT[kind])
    run = SampledRun(tmp_path, method)
    trainer = method.trainer(config, device="cuda")
    run.create(trainer)
    train_sampled(trainer, run, RunPace(evaluate_epochs=1), stopped=lambda: trainer.epoch == 2)
    assert trainer.epoch == 2 and all(tensor.isfinite().all() for tensor in trainer.tensors().values())
    restored = method.trainer(config)
    run.restore(restored)
    train_sampled(restored, run, RunPace())
    assert restored.done and 0 < exploitability(restored.average_policy()) < 5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_steps_that_are_repeated_are_those_that_a_cpu_takes() -> None:
    """A linear layer, ten steps: its parameters end where a CPU's do, and every step draws numbers of its own."""
    inputs, wanted = torch.arange(12.0).view(4, 3) / 12, torch.tensor([[0.5], [-1.0], [2.0], [0.25]])
    ends, drawn = [], torch.zeros(10, device="cuda")
    for device in ("cpu", "cuda"):
        generator, network = torch.Generator(device).manual_seed(0), torch.nn.Linear(3, 1)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.fill_(0.1)
        network.to(device)
        x, y, step = inputs.to(device), wanted.to(device), torch.zeros(1, dtype=torch.int64, device=device)

        def error(network: Any = network, x: Any = x, y: Any = y, step: Any = step, generator: Any = generator) -> Any:
            if generator.device.type == "cuda":
                drawn.index_copy_(0, step, torch.rand(1, generator=generator, device="cuda"))
                step.add_(1)
            return (network(x) - y).square().mean()

        loss = minimise(network, error, Fit(steps=10, batch=0, learning_rate=0.05, clip=1.0), generator)
        ends.append(torch.cat([torch.tensor([loss]), *(part.detach().cpu().view(-1) for part in network.parameters())]))
    assert torch.allclose(ends[0], ends[1], atol=1e-5)
    assert len(set(drawn.tolist())) == 10 and float(drawn.min()) > 0.0
