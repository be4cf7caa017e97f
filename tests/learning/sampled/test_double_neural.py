"""Double Neural CFR learns, with either network or both; resumes bit by bit; plays what it has learnt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aleator.agents.registry import load_agent
from aleator.errors import SolveError, TooBigError
from aleator.games import load_game
from aleator.learning.run_files import NETWORK, RunPace
from aleator.learning.sampled import trainer as trainers
from aleator.learning.sampled.double_neural import DoubleNeuralCFR, DoubleNeuralConfig
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.model import SampledModel, load_model
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.learning.sampled.sums import TableSums
from aleator.learning.sampled.traversal import match_regrets
from aleator.solvers.best_response import exploitability
from aleator.storage import StorageError
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy

CARDS = DoubleNeuralConfig(
    game="one-card:5",
    iterations=40,
    traversals=300,
    width=16,
    policy_width=16,
    steps=6,
    policy_steps=30,
    first_steps=80,
)
TINY = replace(
    CARDS, game="leduc", iterations=4, traversals=20, steps=2, policy_steps=2, first_steps=4, policy_every=3, warm=0
)


def trained(config: DoubleNeuralConfig) -> DoubleNeuralCFR:
    trainer = DoubleNeuralCFR(config)
    while not trainer.done:
        trainer.run_epoch()
    return trainer


@pytest.mark.parametrize(
    ("regrets", "average", "share"), [("network", "network", 4), ("table", "table", 10), ("network", "table", 5)]
)
def test_it_learns(regrets: str, average: str, share: float) -> None:
    """One-card poker, 5 cards, seed 0, 40 iterations: so many times better than the uniform policy (0.425)."""
    uniform = exploitability(uniform_policy(build_tree(load_game("one-card:5"))))
    found = exploitability(trained(replace(CARDS, regrets=regrets, average=average)).average_policy())
    assert found < uniform / share


def test_increments_are_own_reach_times_policy() -> None:
    trainer = DoubleNeuralCFR(CARDS)
    play, tree = trainer.play, trainer.play.tree
    weights = torch.rand(trainer._legal.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    policy = match_regrets(weights, trainer._legal, best=False)
    increments = trainer._increments(policy)
    first, later = (int(play._infostate_at[tree.find(path)]) for path in ([], ["check", "bet"]))
    for hand in range(5):
        torch.testing.assert_close(increments[first + hand], policy[first + hand])
        expected = policy[first + hand, 0] * policy[later + hand]
        torch.testing.assert_close(increments[later + hand], expected)


def test_tables_add_up_with_a_floor() -> None:
    """Sums of regrets: never below zero with the floor, below it without; of policies: t^power a root and iteration."""
    floored = trained(replace(CARDS, regrets="table", average="table"))
    plain = trained(replace(CARDS, regrets="table", average="table", floor=False))
    assert float(floored.regrets.sums().min()) == 0.0 > float(plain.regrets.sums().min())
    alike = trained(replace(CARDS, regrets="table", average="table", policy_power=0.0))
    for found, wanted in ((floored, sum(t**2 for t in range(1, CARDS.iterations + 1))), (alike, CARDS.iterations)):
        root = found.policies.sums()[:5].sum(dim=1)
        torch.testing.assert_close(root, torch.full_like(root, wanted))


def test_a_warm_start_clones_its_tables() -> None:
    tabular = trained(replace(CARDS, iterations=5, regrets="table", average="table"))
    warm = DoubleNeuralCFR(replace(CARDS, warm=5, first_steps=400))
    for _ in range(4):
        warm.run_epoch()
    assert isinstance(warm.regrets, TableSums) and isinstance(warm.policies, TableSums)
    warm.run_epoch()
    assert not isinstance(warm.regrets, TableSums) and not isinstance(warm.policies, TableSums)
    for cloned, table in ((warm.regrets, tabular.regrets), (warm.policies, tabular.policies)):
        wrong = (cloned.sums() - table.sums()).square().sum() / table.sums().square().sum()
        assert float(wrong) < 1e-3


def test_a_fit_never_ends_worse_than_it_began() -> None:
    """With a learning rate that throws the network off, what it said before is kept (the paper's best parameters)."""
    trainer = DoubleNeuralCFR(replace(CARDS, learning_rate=1e-2))
    trainer.run_epoch()
    kept: Any = trainer.regrets
    before = kept.sums()
    kept._settings = replace(kept._settings, learning_rate=1e6)
    assert kept.update(before, trainer._all, 5) < 1e-6
    torch.testing.assert_close(kept.sums(), before, atol=1e-6, rtol=1e-4)


def test_a_fit_that_is_thrown_off_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a learning rate that is ten times too high for what the network knows already, the second fit is better."""
    trainer = DoubleNeuralCFR(replace(CARDS, first_steps=400))
    trainer.run_epoch()
    kept: Any = trainer.regrets
    rates: list[float] = []
    fit = kept._fit
    monkeypatch.setattr(kept, "_fit", lambda loss, steps, rate: (rates.append(rate), fit(loss, steps, rate))[1])
    kept._settings = replace(kept._settings, learning_rate=10.0)
    changed = kept.sums() * (1.0 + 0.1 * torch.arange(len(kept.sums()))[:, None] % 3)
    kept.error = 1e-9
    kept.update(changed, trainer._all, 20)
    assert rates == [10.0, 1.0]
    kept.error = 1e9
    kept.update(changed, trainer._all, 20)
    assert rates == [10.0, 1.0, 10.0], "a fit that is no worse than the last one is kept"


def test_the_last_layer_is_solved() -> None:
    """For features as they are no other last layer has a lower error: the loss has no slope in its parameters."""
    trainer = DoubleNeuralCFR(replace(CARDS, steps=1, first_steps=1))
    trainer.run_epoch()
    kept: Any = trainer.regrets
    generator = torch.Generator().manual_seed(1)
    wanted = torch.rand(trainer._legal.shape, generator=generator) * trainer._legal

    def loss() -> torch.Tensor:
        answers = trainer.encoding.of_actions(trainer._all, kept.network(kept._walk))
        total: torch.Tensor = ((answers - wanted) * trainer._legal).square().mean()
        return total

    before = loss().item()
    for _ in range(20):  # each costs a little to change anything: the limit costs nothing
        kept._solve_output(trainer._all, kept._walk, wanted)
    slopes = torch.autograd.grad(loss(), list(kept.network.output.parameters()))
    assert loss().item() < before / 2 and all(float(slope.abs().max()) < 1e-4 for slope in slopes)


def test_runs_of_earlier_versions_are_not_resumed() -> None:
    trainer = DoubleNeuralCFR(TINY)
    trainer.run_epoch()
    tensors = {name: tensor for name, tensor in trainer.tensors().items() if name != "regrets.steps"}
    with pytest.raises(ValueError, match="earlier version"):
        trainer.load(tensors)


def test_the_unit_changes_nothing_that_is_said() -> None:
    trainer = DoubleNeuralCFR(replace(CARDS, policy_every=1))
    trainer.run_epoch()
    kept: Any
    for kept in (trainer.regrets, trainer.policies):
        before = kept.sums()
        kept._rescale(before * 3.0, 10)
        torch.testing.assert_close(kept.sums(), before, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"floor": False}, {"sampling": "outcome"}, {"sampling": "external"}, {"everywhere": False}, {"warm": 2},
        {"policy_every": 1}, {"regrets": "table"}, {"average": "table"}, {"policy_power": 1.0},
    ],
)  # fmt: skip
def test_every_switch_changes_the_run(changes: dict[str, Any]) -> None:
    usual, other = trained(TINY), trained(replace(TINY, **changes))
    first, second = usual.tensors(), other.tensors()
    assert all(bool(tensor.isfinite().all()) for tensor in second.values())
    same = set(first) == set(second) and all(torch.equal(tensor, second[name]) for name, tensor in first.items())
    assert not same
    other.average_policy().check(tolerance=1e-6)


@pytest.mark.parametrize("changes", [{}, {"warm": 3}, {"average": "table"}], ids=str)
def test_a_resumed_run_is_equal_bit_by_bit(changes: dict[str, Any], tmp_path: Path) -> None:
    config, method = replace(TINY, **changes), METHODS["double-neural"]
    contents = []
    for name, parts in (("straight", 1), ("parts", 4)):
        run = SampledRun(tmp_path / name, method)
        run.create(DoubleNeuralCFR(config))
        for _ in range(parts):
            trainer = DoubleNeuralCFR(config)
            run.restore(trainer)
            train_sampled(trainer, run, RunPace(evaluate_epochs=2), stopped=lambda: parts > 1)  # noqa: B023
        lines = [{k: v for k, v in line.items() if "second" not in k} for line in run.metrics()]
        contents.append((lines, trainer.tensors(), load_model(run.path / NETWORK).tensors))
    assert contents[0][0] == contents[1][0] and len(contents[0][0]) == 4
    for first, second in zip(contents[0][1:], contents[1][1:], strict=True):
        assert set(first) == set(second)
        assert all(torch.equal(value, second[name]) for name, value in first.items())


@pytest.mark.parametrize("average", ["network", "table"])
def test_the_agent_plays_what_was_trained(average: str, tmp_path: Path) -> None:
    run = SampledRun(tmp_path, METHODS["double-neural"])
    trainer = DoubleNeuralCFR(replace(CARDS, iterations=3, average=average))
    run.create(trainer)
    train_sampled(trainer, run, RunPace())
    game = load_game("one-card:5")
    policy = load_agent(f"double-neural:{tmp_path / NETWORK}", game).policy(build_tree(game))
    expected = trainer.average_policy()
    for player in (0, 1):
        np.testing.assert_allclose(policy.probabilities[player], expected.probabilities[player], atol=1e-5)


def test_a_network_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    """It answers sums; read as their square roots it would be another policy."""
    model = SampledModel.of(DoubleNeuralCFR(CARDS), {})
    earlier = replace(model, tensors={"average": model.tensors["roots"]})
    earlier.save(tmp_path / NETWORK)
    with pytest.raises(
        StorageError, match="answers sums, as those of earlier versions did, not their roots: train it again"
    ):
        load_agent(f"double-neural:{tmp_path / NETWORK}", load_game("one-card:5"))


def test_impossible_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for changes, message in (
        ({"regrets": "tree"}, "unknown regrets 'tree'; allowed: network, table"),
        ({"warm": -1}, "warm must be at least 0"),
        ({"policy_every": 0}, "policy_every must be at least 1, not 0"),
    ):
        with pytest.raises(SolveError, match=message):
            METHODS["double-neural"].settings(changes)
    monkeypatch.setattr(trainers, "available_memory", lambda: 1000)
    with pytest.raises(TooBigError, match="training on leduc would take at least"):
        DoubleNeuralCFR(TINY)


def test_tables_of_another_game_are_refused() -> None:
    trainer = DoubleNeuralCFR(replace(TINY, average="table"))
    tensors = trainer.tensors()
    trainer.load(tensors)
    with pytest.raises(ValueError, match="a table of shape"):
        trainer.load({**tensors, "policies.table": tensors["policies.table"][1:]})
    with pytest.raises(ValueError, match="increments of shape"):
        trainer.load({**tensors, "waiting": tensors["waiting"][1:]})
