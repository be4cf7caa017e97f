"""The policy network: what it is told and taught, what it starts searches with, and that it learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.search_rule import SEARCH_RULES

torch = pytest.importorskip("torch")

from aleator.learning.rebel.decisions import STEPS, Decisions, NetworkPolicies  # noqa: E402
from aleator.learning.rebel.evaluation import play_out  # noqa: E402
from aleator.learning.rebel.learner import squared_loss  # noqa: E402
from aleator.learning.rebel.model import Model, ModelSearch, load_model  # noqa: E402
from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.learning.rebel.training import Trainer  # noqa: E402
from aleator.learning.value_network.networks import NetworkConfig, PolicyNetwork  # noqa: E402
from aleator.solvers.engines.batched.engine import BoundValue, Searched, TorchEngine  # noqa: E402
from aleator.solvers.engines.batched.forest import Forest  # noqa: E402
from aleator.trees.public_tree import build_tree  # noqa: E402
from tests.learning.runs import tiny  # noqa: E402

Tensor = torch.Tensor


class Zero:
    """Leaves that are worth nothing."""

    def bind(self, forest: Forest) -> BoundValue:
        return lambda player, reach: torch.zeros_like(reach[player][forest.leaves])


def searched(name: str, roots: list[int]) -> tuple[Subgames, Searched]:
    """Returns some subgames of a game, searched for a while at odd beliefs."""
    subgames = Subgames(load_game(name), dtype=torch.float64)
    forest, generator = subgames.forest(torch.tensor(roots)), torch.Generator().manual_seed(1)
    shape = (len(roots), subgames.shapes.num_hands)
    reach = tuple(torch.rand(shape, generator=generator, dtype=torch.float64) for _ in (0, 1))
    return subgames, TorchEngine(forest, Zero(), (reach[0], reach[1]), SEARCH_RULES["cfr-d"], 7).search()


def reach_of(forest: Forest, row: int, policy: Tensor, root_reach: tuple[Tensor, Tensor]) -> list[Tensor]:
    """Returns both players' reach [H] at a row under a policy, by following its path."""
    subgame = int(forest.subgame[row])
    reach = [root_reach[0][subgame].clone(), root_reach[1][subgame].clone()]
    while int(forest.parent[row]) != row:
        mover = int(forest.mover[row])
        if mover >= 0:
            reach[mover] *= policy[row]
        row = int(forest.parent[row])
    return reach


def asked(decisions: Decisions, forest: Forest, row: int, reach: list[Tensor]) -> Tensor:
    """Returns the input [1, size] for a row, from its public state."""
    shape, node = int(forest.shape[forest.subgame[row]]), int(forest.shapes.node[forest.template[row]])
    state = decisions.encoding.states.index(forest.shapes.trees[shape].states[node])
    return decisions.encoding.encode(torch.tensor([state]), int(forest.actor[row]), (reach[0][None], reach[1][None]))


def test_actions_are_named_alike_everywhere() -> None:
    decisions = Decisions(Subgames(load_game("liars-dice:1x2")))
    assert sorted(decisions.names) == ["1x1", "1x2", "2x1", "2x2", "liar"]
    # both players' decisions, at roots and inside of subgames: player 0 after no bid or one of 3, player 1 after one of
    # 4
    assert len(decisions.encoding.states) == 8
    for state, legal in zip(decisions.encoding.states, decisions.legal, strict=True):
        names = [name for name, allowed in zip(decisions.names, legal, strict=True) if allowed]
        assert set(names) == set(load_game("liars-dice:1x2").actions(state))
    assert Decisions(Subgames(load_game("leduc"))).names == [
        "check",
        "bet 2",
        "fold",
        "call",
        "raise 2",
        "bet 4",
        "raise 4",
    ]


@pytest.mark.parametrize("name", ["kuhn", "liars-dice:1x3"])
def test_examples_are_the_average_policies_at_their_beliefs(name: str) -> None:
    subgames, found = searched(name, [0, 1, 0])
    decisions, forest = Decisions(subgames), found.forest
    inputs, targets, masks = decisions.examples(found)
    rows = [row for row in range(forest.num_rows) if int(forest.actor[row]) >= 0]
    assert len(rows) == len(inputs) and bool(masks.any())
    for place, row in enumerate(rows):
        reach = reach_of(forest, row, found.average, found.root_reach)
        np.testing.assert_allclose(inputs[place], asked(decisions, forest, row, reach)[0], atol=1e-12)
        expected = torch.zeros_like(targets[place], dtype=torch.float64)
        legal = torch.zeros_like(masks[place])
        game, tree = subgames.game, forest.shapes.trees[int(forest.shape[forest.subgame[row]])]
        state = tree.states[int(forest.shapes.node[forest.template[row]])]
        for slot, label in enumerate(game.actions(state)):
            expected[decisions.names.index(label)] = found.average[int(forest.first_child[row]) + slot]
            legal[decisions.names.index(label)] = True
        np.testing.assert_allclose(targets[place] / STEPS, expected, atol=0.5 / STEPS + 1e-9)
        actor = int(forest.actor[row])
        counts = (reach[actor] > 0) & (reach[1 - actor].sum() > 0)
        assert torch.equal(masks[place], legal & counts)


@pytest.mark.parametrize("name", ["kuhn", "liars-dice:1x3"])
def test_policies_to_start_with_are_what_the_network_says_at_their_beliefs(name: str) -> None:
    subgames, found = searched(name, [1, 0])
    decisions, forest, hands = Decisions(subgames), found.forest, subgames.shapes.num_hands
    generator = torch.Generator().manual_seed(0)
    config = NetworkConfig(layers=1, width=16)
    network = PolicyNetwork(decisions.encoding.size, len(decisions.names), hands, config, generator=generator).double()
    with torch.no_grad():
        network.output.weight.mul_(300)
    policy = NetworkPolicies(network, decisions).policies(forest, found.root_reach)
    assert float(policy.max()) > 0.8
    for row in range(forest.num_rows):
        if int(forest.actor[row]) < 0:
            continue
        first, count = int(forest.first_child[row]), int(forest.num_children[row])
        inputs = asked(decisions, forest, row, reach_of(forest, row, policy, found.root_reach))
        shape, node = int(forest.shape[forest.subgame[row]]), int(forest.shapes.node[forest.template[row]])
        state = forest.shapes.trees[shape].states[node]
        legal = decisions.legal[decisions.encoding.states.index(state)][None]
        with torch.no_grad():
            said = network(inputs, legal)[0]
        names = [decisions.names.index(label) for label in subgames.game.actions(state)]
        np.testing.assert_allclose(policy[first : first + count], said[names], atol=1e-9)
        np.testing.assert_allclose(policy[first : first + count].sum(dim=0), 1.0, atol=1e-9)


def test_gradients_reach_all_parameters_and_only_what_counts() -> None:
    trainer = Trainer(tiny(policy=True))
    assert trainer.policies is not None
    trainer.run_epoch()
    learner = trainer.policies
    learner.step(torch.arange(8))
    for name, parameter in learner.network.named_parameters():
        assert parameter.grad is not None and float(parameter.grad.abs().max()) > 0, name
    # by hand: errors 0.5 and 0.25 count, 0.75 does not
    found, targets = torch.tensor([[[0.5], [0.25], [0.25]]]), torch.tensor([[[0.0], [0.0], [1.0]]])
    mask = torch.tensor([[[1.0], [1.0], [0.0]]])
    assert float(squared_loss(found, targets, mask)) == pytest.approx((0.25 + 0.0625) / 2)


def test_a_policy_network_learns_the_average_policy(tmp_path: Path) -> None:
    # a subgame of depth 8 is all of 1x2: every search finds the same policy
    config = tiny(
        policy=True, warm_start=0, depth=8, updates=64, searches=512, games=32, batch=64, replay=512, draws=16.0,
        width=32, learning_rate=1e-2, halvings=(0.3, 0.5, 0.7, 0.9),
    )  # fmt: skip
    trainer = Trainer(config)
    losses = [metrics.policy_loss for metrics in trainer.run()]
    assert losses[0] is None and losses[1] is not None and losses[-1] is not None and losses[-1] < losses[1] / 20
    Model(config, trainer.searcher, {}, trainer.policies and trainer.policies.searcher).save(tmp_path / "a.safetensors")
    model = load_model(tmp_path / "a.safetensors")
    assert ModelSearch(model).warm_start is None, "its searches start with nothing, as in training"
    started = ModelSearch(Model(tiny(policy=True, depth=8, width=32), model.network, {}, model.policy))
    found = [
        play_out(
            build_tree(started.game), started.subgames, started.leaf_values, config.rule, updates=2, playthroughs=16,
            generator=torch.Generator().manual_seed(0), start=start,
        ).exploitability
        for start in (None, started.warm_start)
    ]  # fmt: skip
    # one update of each player from scratch plays the uniform policy
    assert found[1] < found[0] / 10


def test_searches_are_started_by_the_policy_network() -> None:
    with_start, without = Trainer(tiny(policy=True)), Trainer(tiny(policy=True, warm_start=0))
    assert without.warm_start() is None
    start = with_start.warm_start()
    assert start is not None and start.updates == 15
    asked_for = []
    ask = start.source.policies

    class Counted:
        def policies(self, forest: Forest, root_reach: tuple[Tensor, Tensor]) -> Tensor:
            asked_for.append(len(forest.shape))
            return ask(forest, root_reach)

    with_start.source.blocks[0].play(with_start.leaf_values(), type(start)(Counted(), start.updates))
    assert sum(asked_for) == 8
    with_start, without = Trainer(tiny(policy=True)), Trainer(tiny(policy=True, warm_start=0))
    targets = [
        trainer.source.blocks[0].play(trainer.leaf_values(), trainer.warm_start()).values.targets
        for trainer in (with_start, without)
    ]
    assert not torch.equal(targets[0], targets[1])
