"""Safe search: what thesis 5.1 proves, and the order of its tables, on whole small games."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.alternative_payoffs import AlternativePayoffs, PayoffRule
from aleator.search.blueprint import Blueprint, own_reach
from aleator.search.gifts import gifts
from aleator.search.safe import METHODS, SafeSearch, search_everywhere, search_subgames, subgames_after_chance
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value, exploitability
from aleator.solvers.cfr import CFR
from aleator.trees import Policy, build_tree
from aleator.trees.policy import policy_from
from tests.search.test_gadgets import coin_toss_blueprint

SAFE = ("resolve", "maxmargin", "reach-resolve", "reach-maxmargin")


@cache
def leduc_blueprint(iterations: int) -> Blueprint:
    solver = CFR(build_tree(load_game("leduc")), NAMED_RULES["cfr"])
    solver.run(iterations)
    return Blueprint(solver.average_policy(), solver.current_policy())


@cache
def searched(iterations: int, method: str) -> Policy:
    blueprint = leduc_blueprint(iterations)
    return search_everywhere(blueprint, subgames_after_chance(blueprint.tree), replace(METHODS[method], iterations=500))


@pytest.mark.parametrize("method", SAFE)
@pytest.mark.parametrize("iterations", [3, 10, 50])
def test_safe_search_everywhere_is_never_worse_than_the_blueprint(iterations: int, method: str) -> None:
    before, after = leduc_blueprint(iterations).policy, searched(iterations, method)
    for player in (0, 1):
        assert best_response_value(after, player) <= best_response_value(before, player) + 1e-3
    assert exploitability(after) < 0.8 * exploitability(before)


@pytest.mark.parametrize("iterations", [3, 10, 50])
def test_the_order_of_tables_5_1_to_5_3(iterations: int) -> None:
    found = {method: exploitability(searched(iterations, method)) for method in METHODS}
    slack = 1e-3
    assert found["maxmargin"] < found["resolve"]
    assert found["reach-maxmargin"] <= found["maxmargin"] + slack
    assert found["reach-maxmargin (not split)"] <= found["reach-maxmargin"] + slack
    assert found["estimate"] < 0.95 * found["resolve"]
    assert found["estimate + distributional"] < found["estimate"]
    assert found["reach-estimate + distributional"] <= found["estimate + distributional"] + slack


def test_reach_maxmargin_of_coin_toss_reaches_0_for_the_whole_game() -> None:
    tree, policy = coin_toss_blueprint()
    node = tree.find(["play"])
    method = replace(METHODS["reach-maxmargin"], iterations=4000)
    values = []
    for _ in range(8):
        policy = search_subgames(Blueprint(policy), [node], 1, method)
        values.append(best_response_value(policy, 0))
    # gifts make the alternative payoffs (1/2, 1/2); each further search halves what is left
    np.testing.assert_allclose(values[:4], [1 / 4, 1 / 8, 1 / 16, 1 / 32], atol=1e-3)
    assert values[-1] < 3e-3
    np.testing.assert_allclose(policy[node][:, 0], [1 / 4, 3 / 4, 0], atol=3e-3)


def test_values_of_equilibrium_as_estimates_solve_coin_toss_at_once() -> None:
    tree, policy = coin_toss_blueprint()
    node = tree.find(["play"])
    best = policy_from(tree, lambda at, hand: np.array([0.25, 0.75, 0] if at else [0.5, 0.5]))
    blueprint = Blueprint(Policy(tree, (policy.probabilities[0], best.probabilities[1])))
    for method in ("resolve", "maxmargin"):
        found = search_subgames(blueprint, [node], 1, replace(METHODS[method], iterations=20_000))
        assert best_response_value(found, 0) == pytest.approx(0.0, abs=2e-3)


def test_two_subgames_split_their_gift() -> None:
    """Thesis Fig. 5.4: the gift of 1/2 to Heads may raise it by 1/2 in both subgames, or by 1 in one."""
    tree = build_tree(load_game("coin-toss:2"))
    policy = policy_from(tree, lambda node, hand: np.array([0.5, 0.5, 0.0][: tree.num_actions[node]]))
    rooms = [tree.find(["play", room]) for room in ("room1", "room2")]
    blueprint = Blueprint(policy)
    for split, alternative in (("split", 0.5), ("unsplit", 1.0)):
        payoffs = AlternativePayoffs(blueprint, 0, PayoffRule(gifts=split))
        for room in rooms:
            np.testing.assert_allclose(payoffs.at(room).mean, [alternative, 0.0])
    # a solution that gives all of an unsplit gift away in both rooms makes Play worth 1 with heads; split, 1/2
    for q, heads in ((0.0, 1.0), (0.25, 0.5)):
        guessing = policy_from(
            tree, lambda at, hand, q=q: np.array([q, 1 - q, 0.0] if tree.actor[at] == 1 else [0.0, 1.0])
        )
        here = Blueprint(guessing)
        assert here.values(0, tree.find(["play"]), here.response_cfvs[0])[0] == pytest.approx(heads)
    for gift, guess, value in (("split", 3 / 8, 1 / 8), ("unsplit", 1 / 4, 0.0)):
        method = SafeSearch(gadget="maxmargin", payoffs=PayoffRule(gifts=gift), iterations=4000)
        found = search_subgames(blueprint, rooms, 1, method)
        assert found[rooms[0]][0, 0] == pytest.approx(guess, abs=2e-3)
        assert best_response_value(found, 0) == pytest.approx(value, abs=2e-3)


def test_lower_bounds_of_gifts_do_not_exceed_the_gifts() -> None:
    blueprint = leduc_blueprint(10)
    exact = gifts(blueprint, 1, blueprint.response_cfvs[1], exact=True)
    bound = gifts(blueprint, 1, blueprint.response_cfvs[1])
    assert all((low <= high + 1e-12).all() and (low >= 0).all() for low, high in zip(bound, exact, strict=True))
    assert max(gift.max() for gift in bound) > 0.1


def test_reach_of_the_blueprint_is_brute_force_reach() -> None:
    blueprint = leduc_blueprint(3)
    tree, policy = blueprint.tree, blueprint.policy
    for node in np.random.default_rng(0).integers(1, tree.num_nodes, 20):
        expected, at = np.ones(3), int(node)
        while at:
            parent = int(tree.parent[at])
            if tree.actor[parent] == 0:
                expected = expected * policy[parent][at - tree.first_child[parent]]
            at = parent
        np.testing.assert_allclose(own_reach(policy, 0)[node], expected, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SafeSearch(gadget="x"), "unsafe, resolve, maxmargin"),
        (lambda: SafeSearch(gadget="maxmargin", distributional=True), "resolve gadget"),
        (lambda: SafeSearch(iterations=0), "at least 1"),
        (lambda: SafeSearch(entry="x"), "hedge"),
        (lambda: PayoffRule(gifts="x"), "split"),
        (lambda: PayoffRule(gift_scale=-1.0), "-1"),
    ],
)
def test_impossible_settings(make, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        make()
