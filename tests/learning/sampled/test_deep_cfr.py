"""Deep CFR and SD-CFR learn, resume bit by bit, and play what they have learnt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aleator.agents.base import play_game
from aleator.agents.registry import load_agent
from aleator.errors import AgentError, SolveError
from aleator.games import load_game
from aleator.learning.run_files import CHECKPOINT, CONFIG, METRICS, NETWORK, RunPace
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.model import load_model
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.solvers.best_response import exploitability
from aleator.storage import StorageError
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy

KUHN = DeepCfrConfig(
    game="kuhn",
    iterations=24,
    traversals=300,
    from_scratch=True,
    steps=25,
    policy_steps=120,
    width=32,
    learning_rate=1e-2,
)
TINY = DeepCfrConfig(
    game="leduc", iterations=4, traversals=30, from_scratch=True, steps=4, policy_steps=5, width=8, memory=500
)


def trained(config: DeepCfrConfig) -> DeepCFR:
    trainer = DeepCFR(config)
    while not trainer.done:
        trainer.run_epoch()
    return trainer


@pytest.mark.parametrize("average", [pytest.param("network", marks=pytest.mark.slow), "mixture"])
def test_it_learns(average: str) -> None:
    """Kuhn, seed 0: 8 times better than the uniform policy (0.458)."""
    uniform = exploitability(uniform_policy(build_tree(load_game("kuhn"))))
    assert exploitability(trained(replace(KUHN, average=average)).average_policy()) < uniform / 8


def test_the_memory_has_the_regrets_of_linear_cfr() -> None:
    """With linear weights the weighted mean of all samples is that of their sum, weighted by t."""
    trainer = trained(replace(TINY, iterations=3, memory=100_000))
    plain = trained(replace(TINY, iterations=3, memory=100_000, linear=False))
    weights = trainer.memories[0].weights[: trainer.memories[0].count]
    assert set(weights.tolist()) == {1.0, 2.0, 3.0}
    assert set(plain.memories[0].weights[: plain.memories[0].count].tolist()) == {1.0}
    policies = trained(replace(TINY, iterations=3, memory=100_000, policy_power=2.0)).policy_memory
    assert set(policies.weights[: policies.count].tolist()) == {1.0, 4.0, 9.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"from_scratch": False}, {"best_action": False}, {"reservoir": False}, {"linear": False}, {"batch": 64},
        {"flat": False}, {"sampling": "robust1"}, {"sampling": "outcome"},
    ],
)  # fmt: skip
def test_every_switch_changes_the_run(changes: dict[str, Any]) -> None:
    """Nothing is a switch in name only: parameters after a few iterations are others, and still finite."""
    usual, other = trained(TINY), trained(replace(TINY, **changes))
    first, second = usual.tensors()["network.0"], other.tensors()["network.0"]
    assert bool(second.isfinite().all()) and (first.shape != second.shape or not torch.equal(first, second))
    other.average_policy().check(tolerance=1e-6)


@pytest.mark.parametrize("average", ["network", "mixture"])
def test_a_resumed_run_is_equal_bit_by_bit(average: str, tmp_path: Path) -> None:
    config, method = replace(TINY, average=average), METHODS["deep-cfr"]
    contents = []
    for name, parts in (("straight", 1), ("parts", 4)):
        run = SampledRun(tmp_path / name, method)
        run.create(DeepCFR(config))
        for _ in range(parts):
            trainer = DeepCFR(config)
            run.restore(trainer)
            train_sampled(trainer, run, RunPace(evaluate_epochs=2), stopped=lambda: parts > 1)  # noqa: B023
        lines = [{k: v for k, v in line.items() if "second" not in k} for line in run.metrics()]
        contents.append((lines, trainer.tensors(), load_model(run.path / NETWORK).tensors))
    assert contents[0][0] == contents[1][0] and len(contents[0][0]) == 4
    assert [line["epoch"] for line in contents[0][0] if "exploitability" in line] == [2, 4]
    for first, second in zip(contents[0][1:], contents[1][1:], strict=True):
        assert set(first) == set(second)
        assert all(torch.equal(value, second[name]) for name, value in first.items())


def test_a_run_that_was_over_goes_on_as_if_it_had_been_longer(tmp_path: Path) -> None:
    long = trained(TINY)
    run = SampledRun(tmp_path, METHODS["deep-cfr"])
    run.create(DeepCFR(replace(TINY, iterations=2)))
    for iterations in (2, 4):
        run.lengthen(iterations)
        trainer = DeepCFR(run.config())
        run.restore(trainer)
        train_sampled(trainer, run, RunPace())
    assert all(torch.equal(value, trainer.tensors()[name]) for name, value in long.tensors().items())


@pytest.mark.parametrize("average", ["network", "mixture"])
def test_the_agent_plays_what_was_trained(average: str, tmp_path: Path) -> None:
    config = replace(KUHN, average=average, iterations=4)
    run = SampledRun(tmp_path, METHODS["deep-cfr"])
    trainer = DeepCFR(config)
    run.create(trainer)
    train_sampled(trainer, run, RunPace())
    game = load_game("kuhn")
    agent = load_agent(f"deep-cfr:{tmp_path / NETWORK}", game)
    tree = build_tree(game)
    policy, expected = agent.policy(tree), trainer.average_policy()
    for player in (0, 1):
        np.testing.assert_allclose(policy.probabilities[player], expected.probabilities[player], atol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert play_game([agent, load_agent("uniform", game)], rng).is_over
    if average == "mixture":
        drawn = {(agent.begin(0, rng), agent._drawn)[1] for _ in range(40)}  # type: ignore[attr-defined]
        assert len(drawn) > 3
    with pytest.raises(StorageError, match="trained for kuhn, not for leduc"):
        load_agent(f"deep-cfr:{tmp_path / NETWORK}", load_game("leduc"))
    with pytest.raises(AgentError, match="deep-cfr is written deep-cfr:NETWORK"):
        load_agent("deep-cfr", game)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    run = SampledRun(tmp_path / "run", METHODS["deep-cfr"])
    trainer = DeepCFR(TINY)
    run.create(trainer)
    train_sampled(trainer, run, RunPace())
    with pytest.raises(StorageError, match="holds a training run already"):
        run.create(trainer)
    with pytest.raises(StorageError, match="belongs to a run with other settings"):
        SampledRun(run.path, METHODS["deep-cfr"]).restore(DeepCFR(replace(TINY, seed=1)))
    for name in (CHECKPOINT, NETWORK, CONFIG):
        content = bytearray((run.path / name).read_bytes())
        content[len(content) // 2] ^= 1
        (run.path / name).write_bytes(content)
    with pytest.raises(StorageError):
        load_model(run.path / NETWORK)
    with pytest.raises(StorageError):
        run.config()
    assert len(run.metrics()) == 4 and (run.path / METRICS).exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1, not 0"),
        ({"average": "mean"}, "unknown average 'mean'; allowed: network, mixture"),
        ({"sampling": "chance"}, "no sampling 'chance'; allowed: external, robustK, outcome"),
        ({"policy_power": -1.0}, "policy_power must be at least 0, not -1.0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive, not 0.0"),
        ({"batch": -1}, "batch must be at least 0 and less than 2\\^63, not -1"),
        ({"magic": 1}, "unknown training setting 'magic'; allowed: average, batch"),
    ],
)
def test_impossible_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SolveError, match=message):
        METHODS["deep-cfr"].settings(changes)
