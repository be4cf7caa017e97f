"""The excessive gap technique: its parts against their definitions, its invariant, its rate, its thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.solvers.algorithms import GapRule
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.egt import EGT
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.response import push_reach
from aleator.solvers.limits import Limits
from aleator.solvers.solve import make_solver, solve
from aleator.trees import build_tree
from aleator.trees.policy import Policy, random_policy
from tests.games.random_game import RandomGame


def reaches(solver: EGT, policy: Policy) -> list[np.ndarray]:
    found = [np.ones(size + 1) for size in solver.tree.policy_size]
    for player in (0, 1):
        push_reach(solver._layout.sides[player], policy.probabilities[player], found[player])
    return found


@pytest.mark.parametrize("seed", range(6))
def test_gradients_give_the_value_of_any_pair_of_policies(seed: int) -> None:
    tree = build_tree(RandomGame(seed, depth=5))
    solver, policy = EGT(tree), random_policy(tree, np.random.default_rng(seed))
    reach, value = reaches(solver, policy), expected_value(policy)
    assert solver._gradient(0, reach[1]) @ reach[0] == pytest.approx(value, abs=1e-12)
    assert solver._gradient(1, reach[0]) @ reach[1] == pytest.approx(-value, abs=1e-12)


def divergence(solver: EGT, player: int, policy: np.ndarray, center: np.ndarray, reach: np.ndarray) -> float:
    """Returns the sum over infostates of weight x own reach x KL(policy || center), from the definition."""
    side, total = solver._layout.sides[player], 0.0
    for place, probability in enumerate(policy):
        if probability > 0:
            state = side.places[place, col.INFOSTATE]
            weight = solver._weights[player][state] * reach[side.above[state]]
            total += weight * probability * np.log(probability / center[place])
    return total


@pytest.mark.parametrize("seed", range(6))
def test_smoothed_responses_are_the_best_of_what_they_weigh(seed: int) -> None:
    tree, rng = build_tree(RandomGame(seed, depth=5)), np.random.default_rng(seed)
    solver = EGT(tree)
    center, other = random_policy(tree, rng), random_policy(tree, rng)
    for player in (0, 1):
        worth = solver._gradient(player, reaches(solver, other)[1 - player])
        middle = center.probabilities[player]
        value, policy, reach = solver._respond(player, worth, 0.3, middle)
        assert worth @ reach - 0.3 * divergence(solver, player, policy, middle, reach) == pytest.approx(value)
        for _ in range(20):
            near = 0.9 * policy + 0.1 * random_policy(tree, rng).probabilities[player]
            pair = (near, near) if player == 0 else (center.probabilities[0], near)
            rival = reaches(solver, Policy(tree, (pair[0], center.probabilities[1]) if player == 0 else pair))[player]
            assert worth @ rival - 0.3 * divergence(solver, player, near, middle, rival) <= value + 1e-12
        sharp = solver._respond(player, worth, 1e-9, solver._uniform[player])[0]
        assert sharp == pytest.approx(best_response_value(other, player), abs=1e-6)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "matrix:20x30"])
def test_the_gap_stays_excessive_and_exploitability_falls_as_1_over_t(name: str) -> None:
    solver, found = EGT(build_tree(load_game(name))), []
    for point in (25, 100, 400):
        for _ in range(point - solver.iteration):
            solver.run(1)
            assert solver.gap() <= 1e-11
        found.append(solver.nash_conv())
    assert found[2] < found[1] / 2 < found[0] / 4
    assert found[2] < 0.02  # uniform: kuhn 0.92, leduc 4.75


def test_thresholds_leave_out_histories() -> None:
    tree = build_tree(load_game("leduc"))
    plain, pruned = EGT(tree), EGT(tree, GapRule(threshold=0.01))
    for solver in (plain, pruned):
        solver.run(300)
    assert pruned.nodes_touched < 0.8 * plain.nodes_touched
    assert pruned.nash_conv() < 0.05


def test_it_is_solved_saved_and_resumed() -> None:
    straight = solve("kuhn", "egt:threshold=0.001", limits=Limits(iterations=60))
    half = solve("kuhn", "egt:threshold=0.001", limits=Limits(iterations=25))
    resumed = solve("kuhn", "egt:threshold=0.001", limits=Limits(iterations=60), resume=half)
    assert resumed.summary.nash_conv == straight.summary.nash_conv
    assert resumed.summary.nodes_touched == straight.summary.nodes_touched == straight.summary.curve[-1].nodes_touched
    assert straight.summary.value == pytest.approx(-1 / 18, abs=0.01)


@pytest.mark.parametrize("text", ["egt:c=1", "egt:threshold", "egt:threshold=x", "egt:threshold=-1"])
def test_impossible_names_are_refused(text: str) -> None:
    with pytest.raises(SolveError, match="threshold"):
        make_solver(build_tree(load_game("kuhn")), text)
