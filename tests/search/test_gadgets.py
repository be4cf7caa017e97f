"""Gadgets: solutions of the augmented subgames have the properties that the papers promise."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.search.blueprint import Blueprint
from aleator.search.gadgets import (
    FOLLOW,
    forest,
    maxmargin_gadget,
    opponent_chance,
    resolve_gadget,
    unsafe_gadget,
)
from aleator.solvers.best_response import best_response_cfvs, best_response_value
from aleator.solvers.cfr import CFR
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import Policy, PublicTree, build_tree
from aleator.trees.policy import places, policy_from, random_policy
from aleator.trees.subgame import cut


def coin_toss_blueprint() -> tuple[PublicTree, Policy]:
    """Returns Coin Toss and the blueprint of thesis Fig. 5.2."""
    tree = build_tree(load_game("coin-toss"))
    plays = {0: [0.25, 0.75], 1: [0.5, 0.5]}
    return tree, policy_from(tree, lambda node, hand: np.array([0.5, 0.25, 0.25] if node else plays[hand]))


@pytest.mark.parametrize(("kind", "guesses"), [("unsafe", [1.0, 0.0, 0.0]), ("maxmargin", [5 / 8, 3 / 8, 0.0])])
def test_coin_toss_exactly(kind: str, guesses: list[float]) -> None:
    tree, policy = coin_toss_blueprint()
    blueprint, node = Blueprint(policy), tree.find(["play"])
    subtree = cut(tree, node).tree
    alternative = blueprint.values(0, node, blueprint.response_cfvs[0])
    np.testing.assert_allclose(alternative, [0.0, 0.5])
    reach = blueprint.reach[0][node], blueprint.reach[1][node]
    gadget = (
        unsafe_gadget(subtree, 0, reach) if kind == "unsafe" else maxmargin_gadget(subtree, 0, reach[1], alternative)
    )
    _, solution = solve_linear_program(gadget.tree)
    np.testing.assert_allclose(solution[int(gadget.nodes[0])][:, 0], guesses, atol=1e-9)


def leduc_case(seed: int, searcher: int) -> tuple[Blueprint, int, PublicTree, np.ndarray]:
    tree = build_tree(load_game("leduc"))
    blueprint = Blueprint(random_policy(tree, np.random.default_rng(seed)))
    node = tree.find(["bet 2", "call", "Q"])
    subgame = cut(tree, node)
    return blueprint, node, subgame.tree, subgame.nodes


@pytest.mark.parametrize("searcher", [0, 1])
def test_resolve_and_maxmargin_leave_no_hand_better_off(searcher: int) -> None:
    blueprint, node, subtree, nodes = leduc_case(3, searcher)
    opponent = 1 - searcher
    before = blueprint.values(opponent, node, blueprint.response_cfvs[opponent])
    margins = {}
    for name, make in (("resolve", resolve_gadget), ("maxmargin", maxmargin_gadget)):
        gadget = make(subtree, opponent, blueprint.reach[searcher][node], before)
        value, solution = solve_linear_program(gadget.tree)
        parts = list(blueprint.policy.probabilities)
        parts[searcher] = parts[searcher].copy()
        parts[searcher][places(blueprint.tree, nodes, searcher)] = solution.probabilities[searcher][
            places(gadget.tree, gadget.nodes, searcher)
        ]
        after = Policy(blueprint.tree, (parts[0], parts[1]))
        margins[name] = before - blueprint.values(opponent, node, best_response_cfvs(after, opponent))
        assert best_response_value(after, opponent) <= best_response_value(blueprint.policy, opponent) + 1e-9
        if name == "maxmargin":  # the value of the gadget game is minus the smallest margin
            assert (value if opponent == 0 else -value) == pytest.approx(-margins[name].min(), abs=1e-9)
    assert margins["resolve"].min() >= -1e-9
    assert margins["maxmargin"].min() > margins["resolve"].min() - 1e-9
    assert margins["maxmargin"].min() > 0.1  # a random blueprint can be improved against every hand


@pytest.mark.parametrize("seed", range(4))
def test_where_no_margin_can_be_kept_resolve_has_the_smallest_sum_and_maxmargin_the_smallest_gain(seed: int) -> None:
    """Alternative payoffs below what the hands can get anyway, as estimates may be (thesis 5.1.7)."""
    blueprint, node, subtree, _ = leduc_case(seed, searcher=1)
    reach = blueprint.reach[1][node]
    alternative = blueprint.values(0, node, blueprint.response_cfvs[0]) - [4.0, 2.0, 6.0]
    chance = opponent_chance(subtree, 0, reach).sum(axis=1)
    gains = {}
    for make in (resolve_gadget, maxmargin_gadget):
        gadget = make(subtree, 0, reach, alternative)
        _, solution = solve_linear_program(gadget.tree)
        first, second = (solution.probabilities[k][places(gadget.tree, gadget.nodes, k)] for k in (0, 1))
        cfvs = best_response_cfvs(Policy(subtree, (first, second)), 0, (np.ones(3), reach))[0]
        gains[make] = np.maximum(cfvs / chance - alternative, 0.0)
    resolve, maxmargin = gains[resolve_gadget], gains[maxmargin_gadget]
    assert resolve.max() > 0.1  # somebody gains whatever the answer
    assert resolve @ chance <= maxmargin @ chance + 1e-9
    assert maxmargin.max() <= resolve.max() + 1e-9


def test_the_value_of_the_resolve_gadget_is_what_opting_out_is_worth() -> None:
    blueprint, node, subtree, _ = leduc_case(4, 0)
    alternative = blueprint.values(1, node, blueprint.response_cfvs[1])
    gadget = resolve_gadget(subtree, 1, blueprint.reach[0][node], alternative)
    value, _ = solve_linear_program(gadget.tree)
    assert -value == pytest.approx(float(gadget.cf_reach @ alternative), abs=1e-9)
    assert gadget.tree.labels[gadget.tree.first_child[0] + FOLLOW] == "follow"


def test_a_forest_is_solved_as_its_trees_are() -> None:
    blueprint, node, subtree, _ = leduc_case(5, 0)
    alternative = blueprint.values(1, node, blueprint.response_cfvs[1])
    reach = blueprint.reach[0][node]
    single = [
        resolve_gadget(subtree, 1, reach, alternative),
        maxmargin_gadget(subtree, 1, reach, alternative),
        unsafe_gadget(subtree, 1, (reach, blueprint.reach[1][node])),
    ]
    tree, parts = forest(single)
    together = CFR(tree, CFR_PLUS)
    together.run(50)
    for alone, part in zip(single, parts, strict=True):
        solver = CFR(alone.tree, CFR_PLUS)
        solver.run(50)
        for player in (0, 1):
            np.testing.assert_allclose(
                together.average_policy().probabilities[player][places(tree, part.nodes, player)],
                solver.average_policy().probabilities[player][places(alone.tree, alone.nodes, player)],
                atol=1e-12,
            )
