"""The value network at leaves, in its forms: torch, the CPU engine's leaf value, Triton kernels."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import ZeroValue
from aleator.search.random_iteration import SearchConfig
from aleator.solvers.search_rule import SEARCH_RULES
from aleator.trees.subgame import DepthLimit, subgame_at

os.environ.setdefault("TRITON_INTERPRET", "1")
torch = pytest.importorskip("torch")

from aleator.learning.rebel.model import Model, ModelSearch  # noqa: E402
from aleator.learning.rebel.network_value import NetworkValue  # noqa: E402
from aleator.learning.rebel.shipped import shipped_games, shipped_model  # noqa: E402
from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.learning.rebel.training import Trainer  # noqa: E402
from aleator.learning.value_network.networks import NetworkConfig, ValueNetwork  # noqa: E402
from aleator.learning.value_network.torch_leaves import TorchLeaves  # noqa: E402
from aleator.solvers.engines.batched.engine import TorchEngine  # noqa: E402
from tests.learning.runs import tiny  # noqa: E402


def random_network(size: int, hands: int, layers: int = 2, norm: bool = True) -> ValueNetwork:
    generator = torch.Generator().manual_seed(layers)
    network = ValueNetwork(size, hands, NetworkConfig(layers=layers, width=32, layer_norm=norm), generator=generator)
    with torch.no_grad():
        network.output.weight.mul_(100)
    return network


def model_of(name: str) -> Model:
    """Returns the network that comes with the package, or one that says anything."""
    if name in shipped_games():
        return shipped_model(name)
    trainer = Trainer(tiny(game=name))
    encoding, hands = trainer.subgames.encoding, trainer.subgames.shapes.num_hands
    return Model(replace(trainer.config, layers=2, width=32), random_network(encoding.size, hands))


@pytest.mark.parametrize("name", ["liars-dice:1x4", "liars-dice:2x3", "liars-dice:1+2x2"])
@pytest.mark.parametrize("rule", ["cfr-d", "modified-cfr-ave", "linear-fp", "flop"])
def test_both_engines_search_alike_with_a_network(name: str, rule: str) -> None:
    """In the last game one player has three hands and the other two."""
    model = model_of(name)
    searcher = ModelSearch(model)
    game, root = searcher.game, searcher.subgames.states[1]
    subgame = subgame_at(game, root, DepthLimit(moves=2))
    rng = np.random.default_rng(0)
    counts, hands = game.num_hands(root), searcher.subgames.shapes.num_hands
    reach = (rng.random(counts[0]), rng.random(counts[1]))
    solver = DepthLimitedSolver(subgame, NetworkValue(model), rule, root_reach=reach)
    solver.run(3)
    forest = searcher.subgames.forest(torch.tensor([1]))
    padded = (np.pad(rows, (0, hands - len(rows))) for rows in reach)
    tensors = tuple(torch.tensor(rows[None], dtype=torch.float32) for rows in padded)
    engine = TorchEngine(forest, searcher.leaf_values, (tensors[0], tensors[1]), SEARCH_RULES[rule], 6)
    found = engine.search()
    average = solver.average_policy()
    node_of = forest.shapes.node[forest.template].tolist()
    row_of = {node: row for row, node in enumerate(node_of)}
    for node in np.flatnonzero(subgame.tree.actor >= 0):
        rows = [row_of[child] for child in subgame.tree.children(node)]
        own = counts[subgame.tree.actor[node]]
        np.testing.assert_allclose(found.average[rows][:, :own], average[int(node)], atol=2e-3)
    chances = game.deal(root)
    for player, cfvs in enumerate(solver.root_cfvs()):
        chance = chances @ reach[1] if player == 0 else reach[0] @ chances
        np.testing.assert_allclose(found.values[player][0][: counts[player]], cfvs / chance, atol=2e-3)


def test_a_foreign_game_is_refused() -> None:
    value = NetworkValue(shipped_model("liars-dice:1x4"))
    subgame = subgame_at(load_game("leduc"), load_game("leduc").root(), DepthLimit(moves=2))
    with pytest.raises(SolveError, match="trained for subgames of liars-dice:1x4"):
        DepthLimitedSolver(subgame, value).run(1)
    DepthLimitedSolver(subgame, ZeroValue()).run(1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("layers", "norm"), [(1, False), (2, True), (3, True)])
def test_the_fused_network_says_the_same(layers: int, norm: bool) -> None:
    pytest.importorskip("triton")
    from aleator.learning.value_network.triton_leaves import TritonLeaves

    game = load_game("liars-dice:1x3")
    subgames = Subgames(game)
    shapes, encoding = subgames.shapes, subgames.encoding
    network = random_network(encoding.size, shapes.num_hands, layers, norm)
    forest = subgames.forest(torch.tensor([0, 1, 3, 2]))
    generator = torch.Generator().manual_seed(0)
    reach = tuple(torch.rand((forest.num_rows, shapes.num_hands), generator=generator) for _ in (0, 1))
    for player in (0, 1):
        plain = TorchLeaves(network, encoding).bind(forest)(player, (reach[0], reach[1]))
        # the interpreter has no bfloat16 products; the kernel is the same in float16
        fused = TritonLeaves(network, encoding, torch.float16).bind(forest)(player, (reach[0], reach[1]))
        np.testing.assert_allclose(plain, fused, atol=5e-3)
        assert float(plain.abs().max()) > 0.1


@pytest.mark.parametrize("width", [16, 100, 384])
def test_a_width_that_the_kernels_of_a_gpu_cannot_hold_is_refused(width: int) -> None:
    pytest.importorskip("triton")
    from aleator.learning.value_network.triton_leaves import check_width

    with pytest.raises(SolveError, match=f"a power of 2 from 32 on, not {width}"):
        check_width(width)
    for allowed in (32, 64, 128, 256):
        check_width(allowed)


def test_networks_come_with_the_paper_s_games() -> None:
    assert set(shipped_games()) >= {f"liars-dice:{size}" for size in ("1x4", "1x5", "1x6", "2x3")}
    for name in shipped_games():
        model = shipped_model(name)
        assert model.config.game == name and 0 < model.report["exploitability"] < 0.03
    with pytest.raises(SolveError, match="there are networks for: liars-dice:1x4"):
        shipped_model("leduc")


def test_both_engines_start_with_the_policy_network() -> None:
    trainer = Trainer(tiny(game="liars-dice:1x3", policy=True))
    assert trainer.policies is not None
    with torch.no_grad():
        for network in (trainer.network, trainer.policies.network):
            network.output.weight.mul_(100)
    model = Model(trainer.config, trainer.network, {}, trainer.policies.network)
    value, searcher = NetworkValue(model), ModelSearch(model)
    subgame = subgame_at(searcher.game, searcher.subgames.states[1], DepthLimit(moves=2))
    rng = np.random.default_rng(0)
    reach = (rng.random(3), rng.random(3))
    config = SearchConfig(limit=DepthLimit(moves=2), iterations=3, start=value.start)
    solver = config.solve(subgame, value, reach)
    assert solver.iteration == 18 and sorted(solver.kept) == [15, 16, 17, 18]
    forest = searcher.subgames.forest(torch.tensor([1]))
    tensors = tuple(torch.tensor(rows[None], dtype=torch.float32) for rows in reach)
    rule = SEARCH_RULES["cfr-d"]
    found = TorchEngine(forest, searcher.leaf_values, tensors, rule, 6, searcher.warm_start).search(torch.tensor([0]))
    row_of = {node: row for row, node in enumerate(forest.shapes.node[forest.template].tolist())}
    first, average = solver.kept[15].policy, solver.average_policy()
    for node in np.flatnonzero(subgame.tree.actor >= 0):
        rows = [row_of[child] for child in subgame.tree.children(node)]
        np.testing.assert_allclose(found.policy[rows], first[int(node)], atol=1e-5)
        np.testing.assert_allclose(found.average[rows], average[int(node)], atol=2e-3)
    assert float((found.policy[row_of[1]] - 1 / 6).abs().max()) > 0.02, "not the uniform policy"
