"""On a GPU every method trains, saves, and goes on on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from aleator.learning.run_files import RunPace
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
