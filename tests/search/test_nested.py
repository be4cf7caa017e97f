"""Off-tree actions: the mapping's numbers, and nested search against translation and against the blueprint."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.apps.papers.nested_search import OneSided
from aleator.errors import SolveError
from aleator.games.flop_holdem import FlopHoldem
from aleator.search.nested import NestedSearch, nested_search
from aleator.search.translated_policy import translated
from aleator.solvers.best_response import best_response_value
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import Policy, PublicTree, build_tree

RULES = {"sizes": ((1.0,), (1.0,)), "max_bets": (1, 1)}


def solved(tree: PublicTree, iterations: int) -> Policy:
    solver = CFR(tree, CFR_PLUS)
    solver.run(iterations)
    return solver.average_policy()


def test_translation_mixes_what_it_takes_a_bet_for() -> None:
    rules = {"sizes": ((0.5, 1.0), (1.0,)), "max_bets": (1, 0)}
    small, big = build_tree(FlopHoldem(**rules)), build_tree(OneSided(0.75, 0, **rules))
    blueprint = solved(small, 50)
    policy = translated(big, blueprint, 1)
    policy.check()
    expected = 3 / 7 * blueprint[small.find(["raise 0.5"])] + 4 / 7 * blueprint[small.find(["raise 1"])]
    np.testing.assert_allclose(policy[big.find(["raise 0.75"])], expected, atol=1e-12)
    np.testing.assert_allclose(policy[big.find(["raise 1"])], blueprint[small.find(["raise 1"])], atol=1e-12)


@pytest.fixture(scope="module")
def case() -> tuple[Policy, PublicTree, float]:
    blueprint = solved(build_tree(FlopHoldem(**RULES)), 300)
    tree = build_tree(OneSided(0.5, 0, **RULES))
    return blueprint, tree, best_response_value(solved(tree, 300), 0)


@pytest.mark.parametrize(
    "config",
    [
        NestedSearch(gadget="resolve", iterations=100),
        NestedSearch(gadget="maxmargin", reach=True, iterations=100),
        NestedSearch(gadget="maxmargin", expensive=True, iterations=100),
    ],
)
def test_nested_search_is_far_better_than_translation(case, config: NestedSearch) -> None:
    blueprint, tree, best = case
    by_translation = best_response_value(translated(tree, blueprint, 1), 0) - best
    policy = nested_search(tree, blueprint, 1, config)
    policy.check()
    by_search = best_response_value(policy, 0) - best
    assert -1e-3 < by_search < by_translation / 3


def test_without_off_tree_actions_the_blueprint_is_played(case) -> None:
    blueprint, _, _ = case
    same = build_tree(FlopHoldem(**RULES))
    found = nested_search(same, blueprint, 1, NestedSearch(iterations=1))
    reached = np.flatnonzero(same.actor == 1)
    for node in reached:
        np.testing.assert_array_equal(found[int(node)], blueprint[int(node)])


def test_unsafe_search_must_begin_before_the_action() -> None:
    with pytest.raises(SolveError, match="expensive"):
        NestedSearch(gadget="unsafe")
    with pytest.raises(SolveError, match="allowed"):
        NestedSearch(gadget="x")
