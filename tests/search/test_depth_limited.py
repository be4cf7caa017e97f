"""Depth-limited solving: equal to the solvers of whole games without leaves; near them with an oracle at the leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search import SEARCH_RULES, ContinuationValue, DepthLimitedSolver, OracleValue, SearchRule, ZeroValue
from aleator.search.trunk import trunk_exploitability
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import cfvs, expected_value
from aleator.solvers.cfr import CFR
from aleator.solvers.fictitious_play import FictitiousPlay
from aleator.solvers.fictitious_rule import FLOP
from aleator.solvers.regret_rule import DCFR, LCFR
from aleator.solvers.warm_start import WarmStarter
from aleator.trees import DepthLimit, Subgame, build_tree, cut
from aleator.trees.beliefs import reach_at
from aleator.trees.policy import random_policy, uniform_policy
from tests.games.random_game import RandomGame

LEDUC_VALUE = -0.085606424


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), rule=st.sampled_from(sorted(NAMED_RULES)))
def test_without_leaves_it_is_cfr(seed: int, rule: str) -> None:
    tree = build_tree(RandomGame(seed))
    rng = np.random.default_rng(seed)
    reach = (rng.random(tree.num_hands[0, 0]), rng.random(tree.num_hands[1, 0]))
    cfr = CFR(tree, NAMED_RULES[rule], root_reach=reach)
    search = DepthLimitedSolver(
        Subgame(tree), ZeroValue(), SearchRule(update=NAMED_RULES[rule]), root_reach=reach, keep=range(1, 7)
    )
    cfr.run(3)
    before = cfr.current_policy()
    cfr.run(1)
    after = cfr.current_policy()
    cfr.run(2)
    search.run(6)
    # on iteration 4 player 1 met the policy that player 0 had just found
    met = (after if NAMED_RULES[rule].alternating else before, before)
    for player in (0, 1):
        expected = cfr.average_policy().probabilities[player]
        np.testing.assert_array_equal(search.average_policy().probabilities[player], expected)
        np.testing.assert_array_equal(search.kept[4].policy.probabilities[player], met[player].probabilities[player])


@pytest.mark.parametrize("linear", [False, True])
def test_without_leaves_it_is_fictitious_play(linear: bool) -> None:
    tree = build_tree(load_game("leduc"))
    rule = FLOP if linear else SEARCH_RULES["fp"].update
    whole, search = (
        FictitiousPlay(tree, rule),
        DepthLimitedSolver(Subgame(tree), ZeroValue(), "flop" if linear else "fp"),
    )  # type: ignore[arg-type]
    whole.run(20)
    search.run(20)
    for player in (0, 1):
        np.testing.assert_array_equal(
            search.average_policy().probabilities[player], whole.average_policy().probabilities[player]
        )


def test_the_short_cut_without_leaves_is_the_long_way() -> None:
    tree = build_tree(RandomGame(8))
    quick, kept = (DepthLimitedSolver(Subgame(tree), ZeroValue(), keep=keep) for keep in ((), range(20)))
    for solver in (quick, kept):
        solver.run(5)
        solver.run(7)
    assert quick.weights() == kept.weights() and not quick.kept
    for player in (0, 1):
        np.testing.assert_allclose(quick.root_cfvs()[player], kept.root_cfvs()[player], atol=1e-15)
        np.testing.assert_array_equal(
            quick.average_policy().probabilities[player], kept.average_policy().probabilities[player]
        )


def test_beliefs_at_the_root_of_a_subgame_are_the_full_trees_reach() -> None:
    full = build_tree(load_game("leduc"))
    policy = random_policy(full, np.random.default_rng(5))
    for node in np.flatnonzero(full.num_children)[::11]:
        subgame = cut(full, int(node))
        assert subgame.nodes is not None
        parts = [np.zeros(size) for size in subgame.tree.policy_size]
        for player in (0, 1):
            for below in subgame.tree.decisions(player):
                at, block = subgame.tree.policy_start[below], policy[int(subgame.nodes[below])]
                parts[player][at : at + block.size] = block.ravel()
        inside = type(policy)(subgame.tree, (parts[0], parts[1]))
        reach = reach_at(policy, int(node))
        for player in (0, 1):
            np.testing.assert_allclose(cfvs(inside, player, reach)[0], cfvs(policy, player)[node], atol=1e-14)


def test_leaves_that_go_on_by_a_policy_give_the_value_of_the_whole() -> None:
    full = build_tree(load_game("leduc"))
    policy = random_policy(full, np.random.default_rng(1))
    search = DepthLimitedSolver(cut(full, limit=DepthLimit(rounds=1)), ContinuationValue(policy), "cfr-d")
    search.run(1)  # plays uniformly before the card
    mixed = uniform_policy(full)
    assert search.subgame.nodes is not None
    above = set(search.subgame.nodes.tolist())
    for node in np.flatnonzero(full.actor >= 0):
        if node not in above:
            mixed[node][:] = policy[node]
    assert search.root_cfvs()[0].sum() == pytest.approx(expected_value(mixed), abs=1e-12)


@pytest.mark.parametrize("rule", sorted(set(SEARCH_RULES) - {"minimax"}))
def test_with_an_oracle_at_the_leaves_the_trunk_and_the_value_are_the_games(rule: str) -> None:
    """The trunk of the uniform policy costs 0.84; with the oracle below it player 1's value is -0.69."""
    oracle = OracleValue(precision=1e-2)
    search = DepthLimitedSolver(cut(build_tree(load_game("leduc")), limit=DepthLimit(rounds=1)), oracle, rule)
    search.run(40)
    assert oracle.calls == 80
    assert trunk_exploitability(search.subgame, search.average_policy()) < 0.08
    for player, value in enumerate((LEDUC_VALUE, -LEDUC_VALUE)):
        assert search.root_cfvs()[player].sum() == pytest.approx(value, abs=0.05)


def test_weights_of_iterations_make_the_average_policy() -> None:
    subgame = cut(build_tree(load_game("leduc")), limit=DepthLimit(rounds=1))
    policy = uniform_policy(build_tree(load_game("leduc")))
    leaves = ContinuationValue(type(policy)(subgame.full, policy.probabilities))  # type: ignore[arg-type]
    # with alternating updates player 0 plays what comes one iteration later, because that is what player 1 met
    lcfr = SearchRule(update=replace(LCFR, alternating=False))
    for rule, pretended in (
        (SearchRule(update=replace(DCFR, alternating=False)), 0),
        (lcfr, 0),
        (lcfr, 7),
        ("linear-fp", 0),
        ("fp", 0),
        ("flop", 0),
    ):
        search = DepthLimitedSolver(subgame, leaves, rule, keep=range(30))
        if pretended:
            search.warm_start(random_policy(subgame.tree, np.random.default_rng(0)), pretended)
        search.run(20)
        weights = search.weights()
        assert set(weights) == set(search.kept) and sum(weights.values()) == pytest.approx(1.0)
        for player in (0, 1):
            for node in subgame.tree.decisions(player):
                total = 0.0
                for number, weight in weights.items():
                    played = search.kept[number].policy
                    total = total + weight * reach_at(played, int(node))[player] * played[int(node)]
                with np.errstate(invalid="ignore"):
                    mean = total / total.sum(axis=0)  # type: ignore[attr-defined]
                reached = ~np.isnan(mean)
                np.testing.assert_allclose(mean[reached], search.average_policy()[int(node)][reached], atol=1e-9)


def test_modified_cfr_ave_is_cfr_if_leaves_do_not_depend_on_beliefs() -> None:
    full = build_tree(load_game("leduc"))
    leaves = ContinuationValue(random_policy(full, np.random.default_rng(2)))
    subgame = cut(full, limit=DepthLimit(rounds=1))
    plain, modified = (DepthLimitedSolver(subgame, leaves, rule) for rule in ("cfr-d", "modified-cfr-ave"))
    plain.run(30)
    modified.run(30)
    for player in (0, 1):
        np.testing.assert_allclose(
            plain.average_policy().probabilities[player], modified.average_policy().probabilities[player], atol=1e-9
        )


def test_a_warm_start_with_leaves_is_the_same_for_current_and_average_beliefs() -> None:
    full = build_tree(load_game("leduc"))
    leaves = ContinuationValue(random_policy(full, np.random.default_rng(2)))
    subgame = cut(full, limit=DepthLimit(rounds=1))
    start = random_policy(subgame.tree, np.random.default_rng(3))
    plain, modified = (DepthLimitedSolver(subgame, leaves, rule) for rule in ("cfr-d", "modified-cfr-ave"))
    for solver in (plain, modified):
        solver.warm_start(start)
        solver.run(20)
    for player in (0, 1):
        np.testing.assert_allclose(
            plain.average_policy().probabilities[player], modified.average_policy().probabilities[player], atol=1e-9
        )


@pytest.mark.parametrize("rule", ["cfr", "lcfr", "dcfr", "cfr+"])
def test_a_warm_start_is_the_one_of_whole_games(rule: str) -> None:
    tree = build_tree(load_game("leduc"))
    policy = random_policy(tree, np.random.default_rng(4))
    whole = WarmStarter(tree).start(policy, NAMED_RULES[rule], iterations=15, softness=0.0)
    search = DepthLimitedSolver(Subgame(tree), ZeroValue(), SearchRule(update=NAMED_RULES[rule]))
    search.warm_start(policy)
    assert search.iteration == 15
    for player in (0, 1):
        np.testing.assert_allclose(search.root_cfvs()[player], cfvs(policy, player)[0], atol=1e-14)
    whole.run(10)
    search.run(10)
    assert set(search.weights()) == set(range(15, 26)), "what is pretended, and 10 more"
    for player in (0, 1):
        np.testing.assert_allclose(
            search.average_policy().probabilities[player], whole.average_policy().probabilities[player], atol=1e-9
        )


def test_mistakes_are_named() -> None:
    subgame = cut(build_tree(load_game("kuhn")), limit=DepthLimit(moves=1))
    with pytest.raises(
        SolveError,
        match=r"unknown search rule 'cfr'; did you mean 'cfr-d'\? allowed: cfr-d, discounted-cfr-d, sharp-cfr-d, cfr",
    ):
        DepthLimitedSolver(subgame, ZeroValue(), "cfr")
    with pytest.raises(SolveError, match="take modified-cfr-ave"):
        DepthLimitedSolver(subgame, ZeroValue(), "cfr-ave")
    with pytest.raises(SolveError, match=r"player 0's root reach has shape \(2,\), not \(3,\)"):
        DepthLimitedSolver(subgame, ZeroValue(), root_reach=(np.ones(2), np.ones(3)))
    with pytest.raises(SolveError, match=r"solve it with aleator\.search"):
        CFR(subgame.tree)
    with pytest.raises(SolveError, match="allowed: current, average, difference"):
        SearchRule(leaves="past")
