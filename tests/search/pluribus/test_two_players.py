"""Pluribus' search: rounds, held actions, and what it is worth on a whole game."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.multi_valued import bias_continuations
from aleator.search.pluribus.two_players import PluribusSearch, PluribusSearcher, round_start
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.trees import DepthLimit, Policy, build_tree
from aleator.trees.beliefs import reach_at
from aleator.trees.policy import random_policy, uniform_policy
from aleator.trees.subgame import TO_THE_END


def test_rounds_begin_behind_chance() -> None:
    tree = build_tree(load_game("leduc"))
    assert round_start(tree, tree.find(["check", "bet 2"])) == 0
    second = tree.find(["bet 2", "call", "Q"])
    assert round_start(tree, tree.find(["bet 2", "call", "Q", "check", "bet 4"])) == second == round_start(tree, second)


def test_without_chance_a_round_is_as_many_moves_as_the_limit_has() -> None:
    tree = build_tree(load_game("liars-dice:1x3"))
    limit = DepthLimit(moves=2)
    node = tree.find(["1x1", "1x2", "1x3"])
    assert round_start(tree, node, limit) == tree.find(["1x1", "1x2"])
    assert round_start(tree, tree.find(["1x1"]), limit) == 0 == round_start(tree, node)


def test_own_actions_of_the_round_are_held() -> None:
    tree = build_tree(load_game("leduc"))
    policy = random_policy(tree, np.random.default_rng(0))
    searcher = PluribusSearcher(policy, 0, PluribusSearch(iterations=20))
    before, after = tree.find(["bet 2", "call", "Q"]), tree.find(["bet 2", "call", "Q", "bet 4", "raise 4"])
    first = searcher._round(tree.find(["bet 2", "call", "Q", "check"]))  # player 1 begins neither round
    held = first.policy[0].copy()
    again = searcher._round(after)
    assert searcher.searches == 3  # at the start, at the card, and after the raise
    np.testing.assert_allclose(again.policy[0], held, atol=1e-12)
    for node, searched in ((before, held), (after, searcher.block(after))):
        assert np.abs(searched - policy[node]).max() > 0.1, "it is not the blueprint"
    assert searcher.block(before).shape == (2, 3)
    with pytest.raises(SolveError, match="own turn"):
        searcher.block(tree.find(["bet 2", "call", "Q", "check"]))


def test_the_opponent_may_have_deviated_within_the_round() -> None:
    """After a bet that the blueprint makes with its worst hand alone, unsafe search would call with anything."""
    tree = build_tree(load_game("kuhn"))
    wrong = uniform_policy(tree)
    wrong[0][:] = [[0, 1, 1], [1, 0, 0]]  # player 0 bets the jack only, says the blueprint
    searcher = PluribusSearcher(wrong, 1, PluribusSearch(iterations=2000))
    # a subgame at the bet itself would believe in the jack and call for certain with the queen
    assert searcher.block(tree.find(["bet"]))[1, 1] == pytest.approx(1 / 3, abs=0.05)


def test_beliefs_in_a_new_round_follow_from_the_last_search() -> None:
    tree = build_tree(load_game("leduc"))
    searcher = PluribusSearcher(uniform_policy(tree), 0, PluribusSearch(iterations=100))
    card = tree.find(["check", "check", "K"])
    searched = searcher._round(0)
    expected = reach_at(searched.policy, tree.find(["check", "check"]))
    for player in (0, 1):
        np.testing.assert_allclose(searcher.reach(card)[player], expected[player] / expected[player].sum(), atol=1e-12)
    assert not np.allclose(searcher.reach(card)[1], 1 / 3)  # the uniform blueprint would say that


@pytest.mark.parametrize(("limit", "share"), [(TO_THE_END, 0.2), (DepthLimit(rounds=1), 0.8)])
def test_searching_everywhere_improves_a_poor_blueprint(limit: DepthLimit, share: float) -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, NAMED_RULES["cfr"])
    solver.run(5)
    blueprint = solver.average_policy()
    both = bias_continuations(blueprint, 0), bias_continuations(blueprint, 1)
    config = PluribusSearch(limit=limit, iterations=100)
    first, second = (PluribusSearcher(blueprint, seat, config, both).policy() for seat in (0, 1))
    found = Policy(tree, (first.probabilities[0], second.probabilities[1]))
    found.check()
    assert exploitability(found) < share * exploitability(blueprint)


def test_what_is_refused() -> None:
    with pytest.raises(SolveError, match="at least 1 iteration"):
        PluribusSearch(iterations=0)
