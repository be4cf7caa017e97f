"""Leaf values: continuation policies against the full tree, the oracle against solving each leaf on its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search import ContinuationValue, OracleValue, ZeroValue
from aleator.solvers.best_response import cfvs, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import PCFR_PLUS
from aleator.trees import DepthLimit, Subgame, build_tree, cut
from aleator.trees.beliefs import Reach, reach_at
from aleator.trees.policy import Policy, random_policy, uniform_policy
from tests.games.random_game import RandomGame


def leaf_reach(policy: Policy, subgame: Subgame) -> Reach:
    """Returns [L, H0], [L, H1]: reach at the leaves under a policy of the full tree."""
    rows = (np.zeros(subgame.leaf_mask(0).shape), np.zeros(subgame.leaf_mask(1).shape))
    assert subgame.nodes is not None
    for k, leaf in enumerate(subgame.leaves):
        for player, reach in enumerate(reach_at(policy, int(subgame.nodes[leaf]))):
            rows[player][k, : len(reach)] = reach
    return rows


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_continuation_values_are_the_full_trees(seed: int) -> None:
    full = build_tree(RandomGame(seed, depth=5))
    assume(full.num_children[0] > 0)
    policy = random_policy(full, np.random.default_rng(seed))
    subgame = cut(full, limit=DepthLimit(moves=2))
    assume(len(subgame.leaves) > 0)
    found = ContinuationValue(policy).cfvs(subgame, leaf_reach(policy, subgame))
    assert subgame.nodes is not None
    for player in (0, 1):
        expected = cfvs(policy, player)
        for k, leaf in enumerate(subgame.leaves):
            row = expected[subgame.nodes[leaf]]
            np.testing.assert_allclose(found[player][k, : len(row)], row, atol=1e-12)
            assert not found[player][k, len(row) :].any()


@pytest.mark.parametrize(("name", "limit"), [("leduc", DepthLimit(rounds=1)), ("goofspiel:3", DepthLimit(moves=3))])
def test_the_oracle_solves_every_leaf_to_its_precision(name: str, limit: DepthLimit) -> None:
    full = build_tree(load_game(name))
    subgame = cut(full, limit=limit)
    reach = leaf_reach(random_policy(full, np.random.default_rng(3)), subgame)
    oracle = OracleValue(precision=1e-3)
    found = oracle.cfvs(subgame, reach)
    assert (oracle.calls, oracle.leaves) == (1, len(subgame.leaves)) and oracle.iterations > 0
    assert subgame.nodes is not None
    for k, leaf in enumerate(subgame.leaves):
        below = cut(full, int(subgame.nodes[leaf])).tree
        here = (reach[0][k, : below.num_hands[0, 0]], reach[1][k, : below.num_hands[1, 0]])
        solver = CFR(below, PCFR_PLUS, root_reach=here)
        solver.run(1000)
        assert nash_conv(solver.average_policy(), here) == pytest.approx(solver.nash_conv(), abs=1e-12)
        mass = float(here[0] @ full.game.deal(below.states[0]) @ here[1])
        values = [found[player][k, : len(here[player])] @ here[player] / mass for player in (0, 1)]
        exact = [cfvs(solver.average_policy(), player, here)[0] @ here[player] / mass for player in (0, 1)]
        assert values[0] + values[1] == pytest.approx(0.0, abs=1.01e-3)
        np.testing.assert_allclose(values, exact, atol=2e-3)


def test_the_same_question_is_answered_once() -> None:
    subgame = cut(build_tree(load_game("leduc")), limit=DepthLimit(rounds=1))
    oracle, reach = OracleValue(1e-2), (np.ones((5, 3)), np.ones((5, 3)))
    first = oracle.cfvs(subgame, reach)
    iterations = oracle.iterations
    second = oracle.cfvs(subgame, (2.0 * reach[0], reach[1]))  # the same beliefs
    assert oracle.calls == 2 and oracle.iterations == iterations
    np.testing.assert_array_equal(second[0], first[0])
    np.testing.assert_array_equal(second[1], 2.0 * first[1])


def test_a_cfv_grows_with_the_opponents_reach_alone() -> None:
    full = build_tree(load_game("kuhn"))
    subgame = cut(full, limit=DepthLimit(moves=1))
    reach = leaf_reach(uniform_policy(full), subgame)
    found = OracleValue(1e-6).cfvs(subgame, reach)
    scaled = OracleValue(1e-6).cfvs(subgame, (3.0 * reach[0], 5.0 * reach[1]))
    np.testing.assert_allclose(scaled[0], 5.0 * found[0])
    np.testing.assert_allclose(scaled[1], 3.0 * found[1])
    nobody = OracleValue(1e-6).cfvs(subgame, (0.0 * reach[0], reach[1]))
    assert not nobody[1].any()
    assert nobody[0].any()


def test_zero_is_zero() -> None:
    subgame = cut(build_tree(load_game("leduc")), limit=DepthLimit(rounds=1))
    first, second = ZeroValue().cfvs(subgame, (np.ones((5, 3)), np.ones((5, 3))))
    assert first.shape == second.shape == (5, 3)
    assert not first.any() and not second.any()


def test_mistakes_are_named() -> None:
    with pytest.raises(SolveError, match="precision must be positive, not 0"):
        OracleValue(0)
    full = build_tree(load_game("kuhn"))
    subgame = cut(build_tree(load_game("kuhn")), limit=DepthLimit(moves=1))
    with pytest.raises(SolveError, match="belongs to another tree of kuhn"):
        ContinuationValue(uniform_policy(full)).cfvs(
            subgame, leaf_reach(uniform_policy(full), cut(full, limit=DepthLimit(moves=1)))
        )
