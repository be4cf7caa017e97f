"""Deep CFR's traversals by workers: the run of one process with the same blocks, bit by bit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.learning.sampled.crew_traversals import BlockTraverser, traversed_by
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.methods import METHODS
from aleator.learning.worker_game import WorkerGame
from aleator.workers.base import Here, Workers
from aleator.workers.processes import Processes

TINY = DeepCfrConfig(game="kuhn", iterations=3, traversals=50, blocks=3, width=8, steps=3, policy_steps=3, memory=1000)


@pytest.fixture(scope="module")
def small() -> WholeHoldemGame:
    """The two highest ranks of flop hold'em."""
    return WholeHoldemGame(WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(44, 52))))


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


@pytest.mark.parametrize("walked", ["cards", "flops"])
def test_walks_of_flops_have_no_blocks_and_no_workers(small: WholeHoldemGame, walked: str) -> None:
    values: dict[str, Any] = {"game": "flop-holdem", "batch": 10, "flat": False, "memory": 10, walked: 2000}
    with pytest.raises(SolveError, match="blocks must be 1 with flops or cards, which one process walks, not 3"):
        DeepCfrConfig(**values, blocks=3)
    message = f"{walked}=2,000 walks flops in one process; workers share traversals, which need cards=0 and flops=0"
    trainer = DeepCFR(DeepCfrConfig(**values), small)
    with pytest.raises(SolveError, match=message), traversed_by(Processes(2), trainer, None):
        pass


def test_files_of_before_may_have_blocks_that_nobody_made() -> None:
    method = METHODS["deep-cfr"]
    made = method.settings({"game": "flop-holdem", "cards": 2000, "blocks": 8})
    assert made == DeepCfrConfig(game="flop-holdem", cards=2000)
    assert method.settings({"blocks": 8}) == DeepCfrConfig(blocks=8)
