"""Minimax against a recursion, on random games of perfect information; and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from aleator.errors import GameError, SolveError
from aleator.games import CHANCE, TERMINAL, Game, check_game, load_game
from aleator.games.base import FloatArray
from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import ContinuationValue
from aleator.solvers.best_response import nash_conv
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.minimax import position_values
from aleator.solvers.search_rule import AVERAGE, SEARCH_RULES, SearchRule
from aleator.trees import Policy, build_tree
from aleator.trees.policy import random_policy
from aleator.trees.public_tree import PublicTree
from aleator.trees.subgame import DepthLimit, cut
from tests.games.subtraction import subtraction

MINIMAX = SEARCH_RULES["minimax"]
Node = tuple[int, ...]


class RandomTree(Game[Node]):
    """A random game of perfect information, with chance; a state is its history."""

    def __init__(self, seed: int, depth: int = 5) -> None:
        self.name, self.seed, self.depth = f"tree:{seed}", seed, depth

    def _rng(self, state: Node) -> np.random.Generator:
        return np.random.default_rng([self.seed, len(state), *state])

    def root(self) -> Node:
        return ()

    def actor(self, state: Node) -> int:
        if len(state) == self.depth or (state and self._rng(state).random() < 0.15):
            return TERMINAL
        return int(self._rng(state).choice([0, 1, CHANCE], p=[0.4, 0.4, 0.2]))

    def actions(self, state: Node) -> Sequence[str]:
        return [str(k) for k in range(int(self._rng((*state, 7)).integers(1, 4)))]

    def child(self, state: Node, action: int) -> Node:
        return (*state, action)

    def hands(self, state: Node, player: int) -> Sequence[str]:
        return ("-",)

    def chance(self, state: Node) -> FloatArray:
        """Returns the probabilities of chance's outcomes."""
        return self._rng((*state, 8)).dirichlet(np.ones(len(self.actions(state))))

    def deal(self, state: Node) -> FloatArray:
        before = [(state[:k], state[k]) for k in range(len(state)) if self.actor(state[:k]) == CHANCE]
        return np.array([[np.prod([self.chance(node)[move] for node, move in before])]])

    def utility(self, state: Node) -> FloatArray:
        return self._rng((*state, 9)).integers(-3, 4, size=(1, 1)).astype(np.float64)  # ties are frequent


class Traitor(RandomTree):
    """A game in which a player's moves are made by the other one."""

    def __init__(self, game: RandomTree, seat: int) -> None:
        super().__init__(game.seed)
        self.seat = seat

    def actor(self, state: Node) -> int:
        return super().actor(state) if super().actor(state) < 0 else 1 - self.seat


def minimax(game: Game[Any], state: Any) -> float:
    """Returns player 0's value, by the definition."""
    actor = game.actor(state)
    if actor == TERMINAL:
        return float(game.utility(state)[0, 0])
    children = [child.state for child in game.children(state)]
    values = [minimax(game, child) for child in children]
    if actor == CHANCE:
        shares = [game.deal(child)[0, 0] / game.deal(state)[0, 0] for child in children]
        return float(np.dot(shares, values))
    return max(values) if actor == 0 else min(values)


def best_policy(tree: PublicTree) -> Policy:
    """Returns the policies of a search of a whole tree by one iteration of minimax."""
    solver = DepthLimitedSolver(cut(tree), ContinuationValue(random_policy(tree, np.random.default_rng(0))), MINIMAX)
    solver.run(1)
    return solver.average_policy()


@pytest.mark.parametrize("seed", range(6))
def test_one_iteration_solves_a_game_of_perfect_information(seed: int) -> None:
    game = RandomTree(seed)
    check_game(game)
    tree = build_tree(game)
    values = position_values(game)
    for node in range(tree.num_nodes):
        assert values[tree.states[node]] == pytest.approx(minimax(game, tree.states[node]), abs=1e-12)
    assert values[()] == pytest.approx(solve_linear_program(tree)[0], abs=1e-8)
    assert nash_conv(best_policy(tree)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_values_against_a_policy_are_those_in_the_tree(seed: int) -> None:
    game = RandomTree(seed)
    tree = build_tree(game)
    policy = random_policy(tree, np.random.default_rng(seed))
    chances = {tree.states[node]: policy[int(node)][:, 0] for node in np.flatnonzero(tree.actor >= 0)}
    best = position_values(game, (None, chances))[()] - position_values(game, (chances, None))[()]
    assert best == pytest.approx(nash_conv(policy), abs=1e-12)
    # what can go wrong for a player who mixes everything is what would, were the player an enemy of itself
    for seat, worst in enumerate(((chances, None), (None, chances))):
        value = position_values(game, worst, worst=True)[()]
        assert value == pytest.approx(minimax(Traitor(game, seat), ()), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_leaves_with_the_right_values_give_the_right_search(seed: int) -> None:
    tree = build_tree(RandomTree(seed))
    subgame = cut(tree, limit=DepthLimit(moves=2))
    assert len(subgame.leaves)
    best = Policy(tree, best_policy(tree).probabilities)
    solver = DepthLimitedSolver(subgame, ContinuationValue(best), MINIMAX, keep=range(2))
    solver.run(1)
    value = minimax(tree.game, ())
    first, second = solver.root_cfvs()
    assert (first[0], second[0]) == pytest.approx((value, -value), abs=1e-12)
    assert solver.weights() == {1: 1.0} and list(solver.kept[1].leaf_reach[0][0][:, 0]) == [1.0] * len(subgame.leaves)


def test_hidden_information_is_refused() -> None:
    tree = build_tree(load_game("kuhn"))
    with pytest.raises(SolveError, match="perfect information, in which each player has one hand; kuhn has 3"):
        DepthLimitedSolver(cut(tree), ContinuationValue(random_policy(tree, np.random.default_rng(0))), "minimax")
    with pytest.raises(SolveError, match="kuhn has 3"):
        position_values(load_game("kuhn"))


def test_leaves_are_valued_at_no_average() -> None:
    with pytest.raises(SolveError, match="minimax has no 'average' beliefs"):
        SearchRule(update=MINIMAX.update, leaves=AVERAGE)


def test_moves_in_a_circle_are_refused() -> None:
    class Circle(RandomTree):
        def actor(self, state: Node) -> int:
            return len(state) % 2

        def child(self, state: Node, action: int) -> Node:
            return () if len(state) == 3 else (*state, action)

    with pytest.raises(GameError, match="lead back"):
        position_values(Circle(0))


def test_batched_engine_equals_a_recursion() -> None:
    torch = pytest.importorskip("torch")
    from aleator.learning.rebel.subgames import Subgames
    from aleator.solvers.engines.batched.engine import make_engine
    from aleator.solvers.engines.batched.forest import Forest

    game = subtraction(9)
    exact = position_values(game)

    def worth(tree: PublicTree, node: int) -> float:
        """Returns player 0's value in a subgame whose leaves' values are wrong, depending on the position."""
        position: Any = tree.states[node]
        if tree.actor[node] < 0:
            return exact[position] + (0.01 * position if node in tree.leaves else 0.0)
        below = [worth(tree, child) for child in tree.children(node)]
        return max(below) if tree.actor[node] == 0 else min(below)

    class Wrong:
        """A value function at the leaves that says the same."""

        def __init__(self, states: list[Any]) -> None:
            self.worth = torch.tensor([exact[position] + 0.01 * position for position in states])

        def bind(self, forest: Forest) -> Any:
            return lambda player, _: (self.worth[forest.leaf_states] * (1 - 2 * player))[:, None]

    for depth in (1, 2, 3):
        subgames = Subgames(game, depth).complete()
        number = len(subgames.states)
        forest, ones = Forest.build(subgames.shapes, torch.arange(number)), torch.ones((number, 1))
        found = make_engine(forest, Wrong(subgames.states), (ones, ones), MINIMAX, 1).search()
        for root, tree in enumerate(subgames.shapes.trees):
            value = worth(tree, 0)
            assert [found.values[player][root].item() for player in (0, 1)] == pytest.approx([value, -value], abs=1e-6)
            first = int(forest.first_child[root])
            chances = found.policy[first : first + tree.num_children[0], 0].tolist()
            best = [abs(worth(tree, child) - value) < 1e-6 for child in tree.children(0)]
            assert chances == pytest.approx([good / sum(best) for good in best], abs=1e-6)


def test_batched_engine_refuses_hidden_information() -> None:
    torch = pytest.importorskip("torch")
    from aleator.solvers.engines.batched.engine import make_engine
    from aleator.solvers.engines.batched.forest import Forest
    from aleator.solvers.engines.batched.shapes import Shapes

    forest = Forest.build(Shapes([build_tree(load_game("kuhn"))]), torch.zeros(1, dtype=torch.int64))
    with pytest.raises(SolveError, match="kuhn has 3"):
        make_engine(forest, None, (torch.ones((1, 3)), torch.ones((1, 3))), MINIMAX, 1)
