"""Random iterations: safe in expectation where unsafe search is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search import (
    SEARCH_RULES,
    DepthLimitedSolver,
    OracleValue,
    PlayedPolicy,
    SearchConfig,
    ZeroValue,
    draw_iteration,
)
from aleator.search.trunk import trunk_exploitability
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import LCFR, PCFR_PLUS
from aleator.trees import DepthLimit, Policy, build_tree, cut, subgame_at
from aleator.trees.policy import normalised, places, uniform_policy
from tests.games.random_game import RandomGame

ONE_MOVE = DepthLimit(moves=1)


def test_one_ply_search_with_fixed_values_cannot_mix_right() -> None:
    """Against values that do not depend on beliefs, rock-paper-scissors+ has no one-ply solution: all are worth 0."""
    search = DepthLimitedSolver(subgame_at(load_game("rps-plus"), limit=ONE_MOVE), ZeroValue())
    search.run(500)
    np.testing.assert_allclose(search.average_policy()[0].ravel(), np.full(3, 1 / 3))


def test_values_of_public_belief_states_find_the_equilibrium() -> None:
    oracle = OracleValue(1e-4)
    search = DepthLimitedSolver(cut(build_tree(load_game("rps-plus")), limit=ONE_MOVE), oracle, "cfr-ave")
    search.run(300)
    np.testing.assert_allclose(search.average_policy()[0].ravel(), [0.4, 0.4, 0.2], atol=0.02)
    assert oracle.calls == 600


@pytest.mark.parametrize("rule", ["cfr-d", "cfr-ave"])
def test_a_random_iteration_is_safe_and_the_average_is_not(rule: str) -> None:
    full = build_tree(load_game("rps-plus"))
    found = {}
    for safe in (True, False):
        config = SearchConfig(limit=ONE_MOVE, rule=rule, iterations=300, safe=safe)
        found[safe] = PlayedPolicy(full, config, OracleValue(1e-3)).exact()
        found[safe].check()
    assert exploitability(found[True]) < 0.033  # uniform: 0.333
    assert exploitability(found[False]) > 0.4
    assert found[False][1].max() > 0.95  # a best response to beliefs that are a little off


def test_the_expected_policy_converges_to_equilibrium() -> None:
    """Exact, over all iterations, all below the first subgame's leaves solved: CFR-D as a whole-game method."""
    full = build_tree(load_game("leduc"))
    subgame = cut(full, limit=DepthLimit(rounds=1))
    solver = DepthLimitedSolver(subgame, OracleValue(1e-2), "cfr-ave", keep=range(1, 65))
    played = PlayedPolicy(full, SearchConfig(rule="cfr-ave"), OracleValue(1e-2), finish=OracleValue(1e-2))
    quality = []
    for iterations in (8, 64):
        solver.run(iterations - solver.iteration)
        quality.append(exploitability(played.of(solver)))
    assert quality[1] < 0.1 < 0.16 < quality[0]  # uniform: 2.37
    assert trunk_exploitability(subgame, solver.average_policy(), iterations=200) < 0.03


def test_subgames_without_leaves_are_solved_whole() -> None:
    full = build_tree(load_game("kuhn"))
    config = SearchConfig(limit=DepthLimit(moves=9), iterations=40)
    solver = CFR(full, LCFR, root_reach=(np.full(3, 1 / 3), np.full(3, 1 / 3)))
    solver.run(40)
    found = PlayedPolicy(full, config, ZeroValue()).exact()
    for player in (0, 1):
        np.testing.assert_allclose(
            found.probabilities[player], solver.average_policy().probabilities[player], atol=1e-9
        )
    assert exploitability(found) < 0.01  # uniform: 0.458


def test_drawing_iterations_many_times_comes_to_the_expected_policy() -> None:
    """n = 100 repeats of 5 iterations: standard deviation at most 0.5 / sqrt(100) = 0.05; bound at 3 sigma."""
    full = build_tree(load_game("kuhn"))
    config = SearchConfig(limit=DepthLimit(moves=2), iterations=5)
    played = PlayedPolicy(full, config, OracleValue(1e-2))
    exact, sampled = played.exact(), played.sampled(np.random.default_rng(7), 100)
    np.testing.assert_allclose(sampled[0], exact[0], atol=0.15)
    assert np.abs(sampled[0] - uniform_policy(full)[0]).max() > 0.15


def test_iterations_are_drawn_with_the_weights_of_the_average() -> None:
    """n = 4000, z < 5: linear CFR weighs iteration t by t."""
    solver = DepthLimitedSolver(subgame_at(load_game("kuhn"), limit=ONE_MOVE), ZeroValue())
    solver.run(4)
    rng = np.random.default_rng(11)
    counts = np.bincount([draw_iteration(solver, rng) for _ in range(4000)], minlength=5)[1:]
    expected = np.arange(1, 5) / 10
    assert (np.abs(counts / 4000 - expected) < 5 * np.sqrt(expected * (1 - expected) / 4000)).all()


def test_the_trunk_of_a_solution_costs_nothing() -> None:
    full = build_tree(load_game("leduc"))
    solver = CFR(full, PCFR_PLUS)
    solver.run(1000)
    subgame = cut(full, limit=DepthLimit(rounds=1))
    assert subgame.nodes is not None
    inside = [solver.average_policy().probabilities[p][places(full, subgame.nodes, p)] for p in (0, 1)]
    good = Policy(subgame.tree, (inside[0], inside[1]))
    bad = normalised(subgame.tree, (np.zeros_like(inside[0]), np.zeros_like(inside[1])))
    assert trunk_exploitability(subgame, good) == pytest.approx(0.0, abs=2e-3)
    assert trunk_exploitability(subgame, bad) > 0.1


@pytest.mark.parametrize("seed", [2, 8, 16, 23])
def test_depth_limits_are_sound_in_games_with_private_moves_and_draws(seed: int) -> None:
    full = build_tree(RandomGame(seed, depth=5))
    subgame = cut(full, limit=DepthLimit(moves=2))
    oracle = OracleValue(5e-3)
    solver = DepthLimitedSolver(subgame, oracle, "cfr-ave")
    solver.run(60)
    uniform = trunk_exploitability(subgame, uniform_policy(subgame.tree), iterations=300)
    assert oracle.calls == 120
    assert trunk_exploitability(subgame, solver.average_policy(), iterations=300) < 0.05 * uniform


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 10_000), rule=st.sampled_from(sorted(set(SEARCH_RULES) - {"minimax"})), moves=st.integers(1, 2)
)
def test_what_is_played_is_a_policy_in_any_game(seed: int, rule: str, moves: int) -> None:
    full = build_tree(RandomGame(seed, depth=3))
    assume(full.num_children[0] > 0)
    played = PlayedPolicy(full, SearchConfig(limit=DepthLimit(moves=moves), rule=rule, iterations=3), OracleValue(0.05))
    for policy in (played.exact(), played.sampled(np.random.default_rng(seed), 2)):
        policy.check()
        assert policy.tree is full


def test_mistakes_are_named() -> None:
    with pytest.raises(SolveError, match="unknown search rule 'none'"):
        SearchConfig(rule="none")
    with pytest.raises(SolveError, match="at least 1 iteration, not 0"):
        SearchConfig(iterations=0)
    with pytest.raises(SolveError, match="at least 1 repeat"):
        PlayedPolicy(build_tree(load_game("kuhn")), SearchConfig(), ZeroValue()).sampled(np.random.default_rng(0), 0)
    with pytest.raises(SolveError, match=r"takes [\d,]+ searches, more than 200,000: draw some"):
        PlayedPolicy(build_tree(load_game("liars-dice:1x4")), SearchConfig(), ZeroValue()).exact()
    with pytest.raises(SolveError, match="begins at the root"):
        trunk_exploitability(subgame_at(load_game("kuhn")), uniform_policy(build_tree(load_game("kuhn"))))
