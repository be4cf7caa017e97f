"""Continual re-solving: the whole policy, enumerated, comes as close to equilibrium as iterations are spent."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.continual_resolving import ContinualSearch, continual_policy, re_solve
from aleator.search.gadgets import resolve_gadget
from aleator.search.leaf_value import ZeroValue
from aleator.search.oracle import OracleValue
from aleator.search.range_gadget import RangeGadget
from aleator.solvers.best_response import best_response_cfvs, exploitability
from aleator.solvers.linear_program import solve_linear_program
from aleator.trees import DepthLimit, Policy, PublicTree, build_tree, cut
from aleator.trees.policy import uniform_policy
from tests.search.test_gadgets import leduc_case


@cache
def tree_of(name: str) -> PublicTree:
    return build_tree(load_game(name))


def score(name: str, config: ContinualSearch, leaf_value=None) -> float:
    tree = tree_of(name)
    first, second = (continual_policy(tree, searcher, config, leaf_value) for searcher in (0, 1))
    return exploitability(Policy(tree, (first.probabilities[0], second.probabilities[1])))


@pytest.mark.parametrize("carried", ["self-play", "best-response"])
def test_exploitability_falls_with_iterations(carried: str) -> None:
    few, many = (score("leduc", ContinualSearch(iterations=count, carried=carried)) for count in (10, 60))
    assert many < 0.08 < 0.3 < few < 1.0  # the uniform policy has 2.37


def test_self_play_values_need_fewer_iterations() -> None:
    """DeepStack Fig. 6."""
    assert score("leduc", ContinualSearch(iterations=10)) < score(
        "leduc", ContinualSearch(iterations=10, carried="best-response")
    )


def test_with_the_oracle_at_the_end_of_the_round() -> None:
    oracle = OracleValue(0.02)
    found = score("leduc", ContinualSearch(iterations=30, limit=DepthLimit(deals=1)), oracle)
    assert found < 0.2 and oracle.calls == 420  # the uniform policy has 2.37


@pytest.mark.parametrize(("name", "bound"), [("kuhn", 0.03), ("liars-dice:1x4", 0.06)])
def test_other_games(name: str, bound: float) -> None:
    assert score(name, ContinualSearch(iterations=40)) < bound < 0.1 * exploitability(uniform_policy(tree_of(name)))


def test_estimated_ranges() -> None:
    conservative = score("leduc", ContinualSearch(iterations=30, ranges="conservative"))
    assert conservative < 0.15
    assert score("leduc", ContinualSearch(iterations=30, ranges="aggressive")) < 0.15


def test_a_re_solve_keeps_the_constraint() -> None:
    """The gadget between iterations finds what the tree of the resolve gadget does."""
    blueprint, node, subtree, _ = leduc_case(3, 0)
    own, before = blueprint.reach[0][node], blueprint.response_cfvs[1][node]
    subgame = cut(blueprint.tree, node)
    found = re_solve(subgame, 0, own, before, ZeroValue(), ContinualSearch(iterations=2000))
    after = best_response_cfvs(found.solver.average_policy(), 1, (own, np.ones(3)))[0]
    assert (after <= before + 2e-3).all() and (before - after).max() > 0.01
    gadget = resolve_gadget(subtree, 1, own, before / gadget_reach(subtree, own))
    value, _ = solve_linear_program(gadget.tree)
    scale = gadget.cf_reach.sum() / gadget_reach(subtree, own).sum()
    assert np.maximum(after, before).sum() * scale == pytest.approx(-value, abs=5e-3)


def gadget_reach(subtree: PublicTree, own: np.ndarray) -> np.ndarray:
    return own @ subtree.game.deal(subtree.states[0])


def test_the_range_gadget_is_regret_matching() -> None:
    gadget = RangeGadget(np.array([1.0, 1.0, 1.0]), np.ones(3), np.zeros(3))
    np.testing.assert_allclose(gadget.update(np.array([2.0, 0.0, 1.0])), [1.0, 0.0, 0.5])
    forced = RangeGadget(np.array([1.0]), np.array([0.1]), np.array([0.9]))
    np.testing.assert_allclose(forced.update(np.array([0.0])), [0.9])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "at least 1"),
        ({"carried": "x"}, "self-play"),
        ({"ranges": "x"}, "uniform"),
        ({"mix": 1.0}, "1.0"),
    ],
)
def test_impossible_settings(options: dict, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        ContinualSearch(**options)


def test_depth_limits_behind_chance() -> None:
    tree = tree_of("leduc")
    subgame = cut(tree, 0, DepthLimit(deals=1))
    assert len(subgame.leaves) == 15
    assert {subgame.tree.states[leaf].board for leaf in subgame.leaves} == {0, 1, 2}
