"""Self-play: where games go, what examples they leave."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.search_rule import SEARCH_RULES
from aleator.trees import build_tree

torch = pytest.importorskip("torch")

from aleator.learning.rebel.self_play import SelfPlay, SelfPlayConfig, sample_path  # noqa: E402
from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.learning.value_network.networks import NetworkConfig, ValueNetwork  # noqa: E402
from aleator.learning.value_network.torch_leaves import TorchLeaves  # noqa: E402
from aleator.solvers.engines.batched.engine import TorchEngine  # noqa: E402
from aleator.solvers.engines.batched.forest import Forest  # noqa: E402
from tests.learning.runs import Nothing  # noqa: E402


def self_play(name: str, depth: int, updates: int, games: int, **config: object) -> tuple[SelfPlay, TorchLeaves]:
    subgames = Subgames(load_game(name), depth, encoding="absolute")
    encoding, hands = subgames.encoding, subgames.shapes.num_hands
    generator = torch.Generator().manual_seed(0)
    network = ValueNetwork(encoding.size, hands, NetworkConfig(width=16), generator=generator)
    leaves = TorchLeaves(network, encoding)
    play = SelfPlay(
        subgames,
        SEARCH_RULES["cfr-d"],
        updates,
        SelfPlayConfig(games=games, **config),
        generator,  # type: ignore[arg-type]
    )
    return play, leaves


def test_examples_of_a_whole_game_are_its_values() -> None:
    play, leaves = self_play("kuhn", 10, 2000, 1)
    examples = play.play(leaves).values
    assert examples.inputs.shape == (2, play.subgames.encoding.size) and examples.masks.all()
    value, _ = solve_linear_program(build_tree(load_game("kuhn")))
    # both players' values at the root, averaged over hands
    np.testing.assert_allclose(examples.targets.mean(dim=1), [value, -value], atol=2e-3)


def test_games_go_on_from_leaves_and_begin_anew_when_over() -> None:
    play, leaves = self_play("liars-dice:1x3", 2, 4, 200)
    assert (play.root == 0).all()
    seen = set()
    for _ in range(6):
        play.play(leaves)
        seen |= set(play.root.tolist())
        for player in (0, 1):
            assert (play.reach[player].amax(dim=1) == 1).all() and (play.reach[player] >= 0).all()
        fresh = play.root == 0
        assert (play.reach[0][fresh] == 1).all()
    assert seen == set(range(len(play.subgames.states)))


@pytest.mark.parametrize("rule", ["cfr-d", "fp"])
def test_paths_follow_the_kept_policies(rule: str) -> None:
    subgames = Subgames(load_game("kuhn"), 2)
    number = 30_000
    forest = Forest.build(subgames.shapes, torch.zeros(number, dtype=torch.int64))
    ones = torch.ones((number, subgames.shapes.num_hands))
    engine = TorchEngine(forest, Nothing(), (ones, ones), SEARCH_RULES[rule], 3)
    searched = engine.search()
    first = torch.zeros(number, dtype=torch.int64)
    path = sample_path(searched, searched.beliefs_policy, first, 0.0, torch.Generator().manual_seed(3))
    # exact chances of the rows, by the joint deal and both policies: the first player's own, the other's that beliefs
    # follow
    policies = [searched.policy, searched.beliefs_policy]
    assert torch.equal(*policies) == (rule == "cfr-d")
    shapes = subgames.shapes
    chance = torch.zeros(len(shapes.node))
    own = torch.nonzero(forest.subgame == 0)[:, 0]
    reach = {0: [engine.root_reach[p][0] for p in (0, 1)]}
    deal = shapes.matrices[shapes.root_deal[0]]
    for row in own.tolist():
        if row:
            parent = int(forest.parent[row])
            mover = int(forest.mover[row])
            reach[row] = [r * policies[p][row] if p == mover else r for p, r in enumerate(reach[parent])]
        chance[forest.template[row]] = (reach[row][0][:, None] * deal * reach[row][1]).sum()
    found = torch.bincount(forest.template[path.row], minlength=len(chance)).double() / number
    ends = forest.num_children[own] == 0
    for template in forest.template[own[ends]].tolist():
        assert float(found[template]) == pytest.approx(float(chance[template]), abs=0.012)  # z = 4 at n = 30,000


def test_random_beliefs_are_the_ablation() -> None:
    play, leaves = self_play("liars-dice:1x3", 2, 2, 500, random_beliefs=True)
    play.play(leaves)
    assert len(set(play.root.tolist())) == len(play.subgames.states)
    assert float(play.reach[0].std()) > 0.5


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 game"):
        SelfPlayConfig(games=0)
    with pytest.raises(ValueError, match="probability, not 2"):
        SelfPlayConfig(exploration=2.0)
