"""Deep CFR's traversals by workers: the run of one process with the same blocks, bit by bit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.sampled.crew_traversals import BlockTraverser, traversed_by
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.worker_game import WorkerGame
from aleator.workers.base import Here, Workers
from aleator.workers.processes import Processes

TINY = DeepCfrConfig(game="kuhn", iterations=3, traversals=50, blocks=3, width=8, steps=3, policy_steps=3, memory=1000)


def run(workers: Workers | None) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    """Returns all that changes in a run, and its metrics."""
    trainer = DeepCFR(TINY)
    if workers is None:
        lines = [trainer.run_epoch() for _ in range(3)]
    else:
        with traversed_by(workers, trainer, None):
            lines = [trainer.run_epoch() for _ in range(3)]
    return trainer.tensors(), lines


@pytest.mark.parametrize("workers", [Here(), Processes(2)])
def test_whoever_traverses_the_run_is_the_same(workers: Workers) -> None:
    (there, lines), (here, alone) = run(workers), run(None)
    assert there.keys() == here.keys()
    for name, tensor in here.items():
        assert torch.equal(there[name], tensor), name
    for line, other in zip(lines, alone, strict=True):
        assert (line["nodes"], line["loss"], line["samples"]) == (other["nodes"], other["loss"], other["samples"])
        assert line["workers"] == workers.count and line["replaced"] == 0 and "workers" not in other


def test_other_rules_and_single_blocks_are_refused() -> None:
    trainer = DeepCFR(TINY)
    other = WorkerGame("kuhn", None, DeepCFR(DeepCfrConfig(game="one-card:4")).fingerprint)
    with pytest.raises(SolveError, match="a worker has other rules of kuhn than the process that trains"):
        BlockTraverser(trainer.config, other, "cpu")
    with (
        pytest.raises(SolveError, match="set blocks to 2 or more"),
        traversed_by(Here(), DeepCFR(DeepCfrConfig(game="kuhn")), None),
    ):
        pass
    with pytest.raises(SolveError, match="blocks must be at least 1 and at most 250, not 251"):
        DeepCfrConfig(blocks=251)
