"""Pluribus' search: rounds, held actions, and what it is worth on a whole game."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.pluribus import pluribus_policy, pluribus_search, round_start
from aleator.solvers.best_response import best_response_value, exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import NAMED_RULES
from aleator.trees import Policy, build_tree
from aleator.trees.policy import random_policy


def test_rounds_begin_behind_chance() -> None:
    tree = build_tree(load_game("leduc"))
    assert round_start(tree, tree.find(["check", "bet 2"])) == 0
    second = tree.find(["bet 2", "call", "Q"])
    assert round_start(tree, tree.find(["bet 2", "call", "Q", "check", "bet 4"])) == second == round_start(tree, second)


def test_only_what_lies_below_the_node_changes() -> None:
    tree = build_tree(load_game("leduc"))
    policy = random_policy(tree, np.random.default_rng(0))
    node = tree.find(["bet 2", "call", "Q", "check", "bet 4"])
    found = pluribus_search(policy, node, 0, iterations=20)
    found.check()
    changed = [int(n) for n in tree.decisions(0) if not np.array_equal(found[int(n)], policy[int(n)])]
    below = [node, *range(int(tree.first_child[node]), int(tree.end[node]))]
    assert changed and set(changed) <= set(below)
    np.testing.assert_array_equal(found.probabilities[1], policy.probabilities[1])
    with pytest.raises(SolveError, match="own turn"):
        pluribus_search(policy, tree.find(["bet 2", "call", "Q", "check"]), 0)


def test_the_opponent_may_have_deviated_within_the_round() -> None:
    """After a bet that the blueprint makes with its worst hand alone, unsafe search would call with anything."""
    tree = build_tree(load_game("kuhn"))
    solver = CFR(tree, NAMED_RULES["cfr+"])
    solver.run(2000)
    policy = solver.average_policy()
    node = tree.find(["bet"])
    parts = [vector.copy() for vector in policy.probabilities]
    wrong = Policy(tree, (parts[0], parts[1]))
    wrong[0][:] = [[0, 1, 1], [1, 0, 0]]  # player 0 bets the jack only, says the blueprint
    found = pluribus_search(wrong, node, 1, iterations=2000)
    # a subgame at the bet itself would believe in the jack and call for certain with the queen
    assert found[node][1, 1] == pytest.approx(1 / 3, abs=0.05)


def test_searching_everywhere_improves_a_poor_blueprint() -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, NAMED_RULES["cfr"])
    solver.run(5)
    blueprint = solver.average_policy()
    first, second = (pluribus_policy(blueprint, searcher, iterations=100) for searcher in (0, 1))
    found = Policy(tree, (first.probabilities[0], second.probabilities[1]))
    assert exploitability(found) < 0.3 * exploitability(blueprint)
    assert best_response_value(found, 0) < best_response_value(blueprint, 0)
