"""The regularised leaf value: its solution by definition, one solution whatever came before, no jumps with beliefs."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search import DepthLimitedSolver, OracleValue, RegularisedValue, trunk_exploitability
from aleator.solvers.best_response import nash_conv
from aleator.trees import DepthLimit, Subgame, build_tree, cut
from aleator.trees.beliefs import Reach
from aleator.trees.policy import uniform_policy


def dice(name: str = "liars-dice:1x3") -> Subgame:
    return cut(build_tree(load_game(name)), limit=DepthLimit(moves=2))


def random_reach(subgame: Subgame, seed: int) -> Reach:
    rng = np.random.default_rng(seed)
    first, second = (rng.random(subgame.leaf_mask(player).shape) * subgame.leaf_mask(player) for player in (0, 1))
    return first, second


def test_a_matrix_game_has_the_logit_equilibrium() -> None:
    """One move each: policies are proportional to exp(cfv / strength), by hand."""
    subgame = cut(build_tree(load_game("rps-plus")), limit=DepthLimit(moves=1))
    strength = 0.5
    value = RegularisedValue(strength, 1e-10)
    solver = value.solve(subgame, (np.ones((1, subgame.leaf_hands[0])), np.ones((1, subgame.leaf_hands[1]))))
    policy = solver.policy()
    game = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -2.0], [-2.0, 2.0, 0.0]])
    (node,) = (int(n) for n in policy.tree.decisions(1))
    worth = -(np.full(3, 1 / 3) @ game)  # the first player's hands are its moves, all of them alike
    expected = np.exp(worth / strength) / np.exp(worth / strength).sum()
    np.testing.assert_allclose(policy[node][:, 0], expected, atol=1e-5)


def test_the_solution_is_within_its_bound_which_falls_with_the_strength() -> None:
    subgame = dice()
    reach = random_reach(subgame, 0)
    found = []
    for strength in (0.4, 0.1, 0.025):
        value = RegularisedValue(strength)
        solver = value.solve(subgame, reach)
        best = solver.forest.cfvs(solver.beliefs, solver.policies, best=True)
        gains = sum((best[player] * solver.beliefs[player]).sum(axis=1) for player in (0, 1))
        unit = np.array([deal.cf_reach(0, np.ones(deal.shape[1])).mean() / deal.shape[1] for deal in solver.deals])
        assert (gains <= (value.bound(subgame) + value.precision) * unit).all()
        assert value.bound(subgame) == pytest.approx(strength * RegularisedValue(1.0).bound(subgame))
        found.append(float(np.max(gains / unit)))
    assert found[2] < 0.25 * found[0]


def test_values_do_not_depend_on_what_was_asked_before() -> None:
    subgame = dice()
    value, here, there = RegularisedValue(0.1, 1e-9), random_reach(subgame, 1), random_reach(subgame, 2)
    first = value.cfvs(subgame, here)
    value.cfvs(subgame, there)
    again = value.cfvs(subgame, here)
    for player in (0, 1):
        np.testing.assert_allclose(again[player], first[player], atol=1e-4)
    assert value.calls == 3 and value.leaves == 3 * len(subgame.leaves) and value.iterations > 0


def test_values_change_little_with_beliefs_where_exact_ones_jump() -> None:
    subgame = dice("liars-dice:1x4")
    here, there = random_reach(subgame, 1), random_reach(subgame, 2)
    steps = np.linspace(0.0, 1.0, 40)

    def largest_jump(value: OracleValue | RegularisedValue) -> float:
        rows = []
        for part in steps:
            first, second = ((1.0 - part) * here[player] + part * there[player] for player in (0, 1))
            scaled = (first / first.sum(axis=1, keepdims=True), second / second.sum(axis=1, keepdims=True))
            rows.append(np.concatenate([values.ravel() for values in value.cfvs(subgame, scaled)]))
        return float(np.abs(np.diff(rows, axis=0)).max())

    assert largest_jump(RegularisedValue(0.2, 1e-6)) < 0.25 * largest_jump(OracleValue(1e-3))


def test_modified_cfr_ave_comes_close_where_exact_values_make_it_stall() -> None:
    subgame = dice("liars-dice:1x4")
    found = {}
    for name, value in (("regularised", RegularisedValue(0.1)), ("exact", OracleValue(1e-2))):
        solver = DepthLimitedSolver(subgame, value, "modified-cfr-ave")
        solver.run(64)
        found[name] = trunk_exploitability(subgame, solver.average_policy(), iterations=200)
    assert subgame.full is not None
    assert found["regularised"] < 0.02 < 0.08 < found["exact"]
    assert found["regularised"] < 0.1 * nash_conv(uniform_policy(subgame.full)) / 2


def test_mistakes_are_named() -> None:
    with pytest.raises(SolveError, match="strength and precision must be positive, not 0"):
        RegularisedValue(0.0)
    with pytest.raises(SolveError, match=r"not 0\.1 and -1"):
        RegularisedValue(0.1, -1.0)
