"""Multi-valued states: choices at the depth limit find equilibria that fixed values cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.multi_valued import (
    bias_continuations,
    biased,
    kind_of,
    leaf_matrices,
    multi_valued,
    self_generated,
    solve_depth_limited,
    spliced,
)
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.cfr import CFR
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import DepthLimit, Policy, build_tree, cut
from aleator.trees.policy import policy_from, random_policy, uniform_policy
from tests.games.random_game import RandomGame


def lock(solver: CFR, policy: Policy, nodes: np.ndarray) -> None:
    """Holds some decisions at a policy."""
    for node in nodes:
        solver.lock(np.array([node]), policy[int(node)][None])


def rps() -> tuple:
    tree = build_tree(load_game("rps-plus"))
    return tree, cut(tree, 0, DepthLimit(moves=1))


def test_rps_plus_needs_a_choice_at_the_limit() -> None:
    tree, subgame = rps()
    fixed = policy_from(tree, lambda node, hand: np.array([0.4, 0.4, 0.2]))
    pure = [policy_from(tree, lambda node, hand, k=k: np.eye(3)[k]) for k in range(3)]
    made = multi_valued(subgame, ([fixed], [fixed]))
    np.testing.assert_allclose(made.tree.payoffs[0], 0.0, atol=1e-15)  # whatever player 0 does is worth 0
    value, solution = solve_linear_program(multi_valued(subgame, ([fixed], pure)).tree)
    assert value == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(solution[0][:, 0], [0.4, 0.4, 0.2], atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_values_of_leaves_are_those_of_the_policies(seed: int) -> None:
    tree, rng = build_tree(RandomGame(seed)), np.random.default_rng(seed)
    assume(tree.depth.max() >= 2)
    subgame = cut(tree, 0, DepthLimit(moves=2))
    first, second = random_policy(tree, rng), random_policy(tree, rng)
    made = multi_valued(subgame, ([first], [second]))
    mixed = Policy(tree, (first.probabilities[0], second.probabilities[1]))
    above = random_policy(made.tree, rng)
    for player in (0, 1):  # follow one policy above the limit in both trees
        for node in np.flatnonzero(subgame.tree.actor == player):
            mixed[int(subgame.nodes[node])][:] = above[int(made.nodes[node])]
    assert expected_value(above) == pytest.approx(expected_value(mixed), abs=1e-12)


def test_both_players_choose_without_knowing_the_others_choice() -> None:
    tree = build_tree(load_game("leduc"))
    rng = np.random.default_rng(2)
    subgame = cut(tree, 0, DepthLimit(rounds=1))
    policies = [random_policy(tree, rng) for _ in range(3)]
    made = multi_valued(subgame, (policies[:2], policies))
    leaf = int(subgame.leaves[0])
    choice = int(made.nodes[leaf])
    below = int(made.tree.first_child[choice])
    assert made.tree.actor[choice] == 0 and made.tree.num_actions[choice] == 2
    assert made.tree.actor[below] == 1 and made.tree.num_actions[below] == 3
    matrices = leaf_matrices(tree, int(subgame.nodes[leaf]), (policies[:2], policies))
    end = int(made.tree.first_child[below]) + 2
    np.testing.assert_allclose(
        made.tree.payoffs[made.tree.payoff_group[end]], np.concatenate([matrices[0][2], matrices[1][2]])
    )
    solver = CFR(made.tree, CFR_PLUS)
    solver.run(200)
    assert solver.nash_conv() < 0.05


def test_exploitability_falls_with_the_number_of_values() -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, NAMED_RULES["cfr"])
    solver.run(300)
    blueprint = solver.average_policy()
    subgame = cut(tree, 0, DepthLimit(rounds=1))
    generated = self_generated(blueprint, subgame, 1, 4, iterations=300)
    found = []
    for count in (1, 4):
        solution = solve_depth_limited(subgame, ([blueprint], generated[:count]), iterations=300)
        rest = CFR(tree, CFR_PLUS)
        lock(rest, spliced(blueprint, subgame, solution, 0), subgame.nodes[subgame.tree.actor == 0])
        rest.run(500)
        found.append(best_response_value(rest.average_policy(), 1) - 0.085606424)
    assert found[1] < 0.25 * found[0], found


def test_biases() -> None:
    tree = build_tree(load_game("leduc"))
    policy = random_policy(tree, np.random.default_rng(0))
    node = tree.find(["bet 2"])
    towards = biased(policy, 1, "fold")
    before, after = policy[node][:, 0], towards[node][:, 0]
    np.testing.assert_allclose(after, before * [10, 1, 1] / (before @ [10, 1, 1]))
    np.testing.assert_array_equal(towards.probabilities[0], policy.probabilities[0])
    assert len(bias_continuations(policy, 1)) == 4
    assert [kind_of(name, 1, 3) for name in ("f", "c", "b500", "r9000", "check", "all-in")] == [
        "fold", "call", "raise", "raise", "call", "raise",
    ]  # fmt: skip


def test_games_without_poker_words_are_biased_by_the_place_of_an_action() -> None:
    tree = build_tree(load_game("liars-dice:1x3"))
    blueprint = uniform_policy(tree)
    same, *others = bias_continuations(blueprint, 0)
    assert same is blueprint and len(others) == 3
    np.testing.assert_allclose(others[0][0][:, 0], np.array([10, 1, 1, 1, 1, 1]) / 15)
    np.testing.assert_allclose(others[1][0][:, 0], np.array([1, 10, 10, 10, 10, 1]) / 42)


def test_what_is_refused() -> None:
    tree, subgame = rps()
    policy = random_policy(tree, np.random.default_rng(0))
    with pytest.raises(SolveError, match="at least one"):
        multi_valued(subgame, ([], [policy]))
    other = random_policy(build_tree(load_game("rps-plus")), np.random.default_rng(0))
    with pytest.raises(SolveError, match="policies of the tree"):
        multi_valued(subgame, ([policy], [other]))


def test_locked_decisions_keep_their_policy() -> None:
    tree = build_tree(load_game("kuhn"))
    held = random_policy(tree, np.random.default_rng(5))
    solver = CFR(tree, CFR_PLUS)
    lock(solver, held, tree.decisions(0))
    solver.run(200)
    average = solver.average_policy()
    np.testing.assert_allclose(average.probabilities[0], held.probabilities[0], atol=1e-15)
    # the other player finds its best response
    assert expected_value(average) == pytest.approx(-best_response_value(held, 1), abs=1e-4)
