"""The torch engine against the CPU engine, one subgame against many, fused kernels against plain torch."""

from __future__ import annotations

import os

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.cfr import CFR
from aleator.solvers.fictitious_play import FictitiousPlay
from aleator.solvers.fictitious_rule import LINEAR_FICTITIOUS_PLAY
from aleator.solvers.search_rule import AVERAGE, SEARCH_RULES, SearchRule
from aleator.trees import build_tree
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree
from tests.trees.ties import without_ties

os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported: its kernels then run on the CPU
torch = pytest.importorskip("torch")

from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.solvers.engines.batched.engine import BoundValue, Searched, TorchEngine  # noqa: E402
from aleator.solvers.engines.batched.forest import Forest  # noqa: E402
from aleator.solvers.engines.batched.shapes import Shapes  # noqa: E402


def difference(tree: PublicTree, forest: Forest, rows: torch.Tensor, subgame: int, policy: Policy) -> float:
    """Returns the largest difference between the probabilities in rows of one subgame and a policy."""
    mine = torch.nonzero(forest.subgame == subgame)[:, 0]
    table = np.zeros((tree.num_nodes, rows.shape[1]))
    table[forest.shapes.node[forest.template[mine]].numpy()] = rows[mine].numpy()
    return max(
        float(np.abs(table[list(tree.children(node)), : policy[node].shape[1]] - policy[node]).max())
        for node in np.flatnonzero(tree.actor >= 0)
    )


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars-dice:1x3"])
@pytest.mark.parametrize("rule", ["cfr", "cfr+", "lcfr", "dcfr", "sharp-dcfr+"])
def test_equal_to_the_cpu_engine_on_whole_games(name: str, rule: str) -> None:
    tree = without_ties(build_tree(load_game(name)))
    shapes = Shapes([tree], dtype=torch.float64)
    forest = Forest.build(shapes, torch.zeros(2, dtype=torch.int64))
    ones = torch.ones((2, shapes.num_hands), dtype=torch.float64)
    engine = TorchEngine(forest, None, (ones, ones), SearchRule(update=NAMED_RULES[rule]), 14)
    found = engine.search()
    solver = CFR(tree, NAMED_RULES[rule])
    solver.run(7)
    for subgame in (0, 1):
        assert difference(tree, forest, found.average, subgame, solver.average_policy()) < 1e-10
        assert difference(tree, forest, found.policy, subgame, solver.current_policy()) < 1e-10


def test_fictitious_play_converges_as_on_the_cpu_engine() -> None:
    # ties are broken in another way, so that only the results are alike
    tree = build_tree(load_game("kuhn"))
    shapes = Shapes([tree], dtype=torch.float64)
    forest = Forest.build(shapes, torch.zeros(1, dtype=torch.int64))
    ones = torch.ones((1, shapes.num_hands), dtype=torch.float64)
    rule = SearchRule(update=LINEAR_FICTITIOUS_PLAY, leaves=AVERAGE)
    found = TorchEngine(forest, None, (ones, ones), rule, 2000).search()
    solver = FictitiousPlay(tree, LINEAR_FICTITIOUS_PLAY)
    solver.run(1000)
    assert difference(tree, forest, found.average, 0, solver.average_policy()) < 0.2
    value = float((found.values[0] * shapes.matrices[shapes.root_deal[0]].sum(1)).sum())
    assert value == pytest.approx(-1 / 18, abs=0.01)


class Waves:
    """Leaf values that depend smoothly on both players' beliefs."""

    def __init__(self, hands: int, dtype: torch.dtype) -> None:
        self.matrix = torch.sin(torch.arange(2 * hands * hands, dtype=dtype)).view(2 * hands, hands)

    def bind(self, forest: Forest) -> BoundValue:
        def values(player: int, reach: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
            beliefs = [torch.nn.functional.normalize(rows[forest.leaves], p=1.0, dim=1) for rows in reach]
            return torch.tanh(torch.cat(beliefs, dim=1) @ self.matrix) * (1 - 2 * player)

        return values


def search(name: str, rule: str, roots: list[int], engine: type[TorchEngine], dtype: torch.dtype) -> Searched:
    """Returns a search of 9 updates in some subgames at fixed odd beliefs, each of which keeps another update."""
    shapes = Subgames(load_game(name), dtype=dtype).complete().shapes
    number = torch.tensor(roots)
    forest = Forest.build(shapes, number)
    row = torch.arange(shapes.num_hands, dtype=dtype)
    reach = (torch.cos(number[:, None] + row) ** 2, torch.cos(2.0 * number[:, None] - row) ** 2)
    return engine(forest, Waves(shapes.num_hands, dtype), reach, SEARCH_RULES[rule], 9).search(number % 10)


SEARCHES = ["cfr-d", "sharp-cfr-d", "modified-cfr-ave", "linear-fp", "flop"]


@pytest.mark.parametrize("rule", SEARCHES)
@pytest.mark.parametrize("name", ["leduc", "liars-dice:1x3"])
def test_many_subgames_are_solved_as_each_alone(name: str, rule: str) -> None:
    roots = [5, 0, 3, 0, 1]
    together = search(name, rule, roots, TorchEngine, torch.float64)
    for place, root in enumerate(roots):
        alone = search(name, rule, [root], TorchEngine, torch.float64)
        mine = together.forest.subgame == place
        for player in (0, 1):
            np.testing.assert_allclose(together.values[player][place], alone.values[player][0], atol=1e-10)
        for field in ("policy", "beliefs_policy", "average"):
            rows, other = getattr(together, field)[mine], getattr(alone, field)
            # rows of a subgame keep their order within each level
            np.testing.assert_allclose(rows, other, atol=1e-10)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", SEARCHES)
@pytest.mark.parametrize("name", ["leduc", "liars-dice:1x3"])
def test_fused_kernels_are_equal_to_plain_torch(name: str, rule: str) -> None:
    pytest.importorskip("triton")
    from aleator.solvers.engines.batched.fused import FusedEngine

    roots = [5, 0, 3, 1]
    plain = search(name, rule, roots, TorchEngine, torch.float32)
    fused = search(name, rule, roots, FusedEngine, torch.float32)
    for player in (0, 1):
        np.testing.assert_allclose(plain.values[player], fused.values[player], atol=1e-4)
    for field in ("policy", "beliefs_policy", "average"):
        np.testing.assert_allclose(getattr(plain, field), getattr(fused, field), atol=1e-4)


def test_the_kept_iteration_is_the_one_asked_for() -> None:
    shapes = Subgames(load_game("liars-dice:1x3"), dtype=torch.float64).shapes
    forest = Forest.build(shapes, torch.tensor([0, 0, 0]))
    ones = torch.ones((3, shapes.num_hands), dtype=torch.float64)
    leaves = Waves(shapes.num_hands, torch.float64)
    engine = TorchEngine(forest, leaves, (ones, ones), SEARCH_RULES["cfr-d"], 8)
    kept = engine.search(torch.tensor([0, 3, 8])).policy
    for subgame, updates in enumerate((0, 3, 8)):
        other = TorchEngine(forest, leaves, (ones, ones), SEARCH_RULES["cfr-d"], 8)
        for number in range(1, updates + 1):
            other.update(number)
        mine = forest.subgame == subgame
        np.testing.assert_array_equal(kept[mine], other.policy[mine])


def test_what_the_engine_cannot_do_is_refused() -> None:
    with pytest.raises(SolveError, match="renumbers hands"):
        Shapes([build_tree(load_game("goofspiel:3"))])
    shapes = Subgames(load_game("liars-dice:1x3")).shapes
    forest = Forest.build(shapes, torch.tensor([0]))
    ones = torch.ones((1, shapes.num_hands))
    with pytest.raises(SolveError, match="leaves need a value function"):
        TorchEngine(forest, None, (ones, ones), SEARCH_RULES["cfr-d"], 4)
    leaves = Waves(shapes.num_hands, torch.float32)
    with pytest.raises(SolveError, match="needs an oracle"):
        TorchEngine(forest, leaves, (ones, ones), SEARCH_RULES["cfr-ave"], 4)
    with pytest.raises(SolveError, match="at least 1 update"):
        TorchEngine(forest, leaves, (ones, ones), SEARCH_RULES["cfr-d"], 0)
