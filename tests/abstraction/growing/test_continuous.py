"""Best responses in continuous Leduc."""

from __future__ import annotations

import numpy as np
import pytest

from aleator import load_game
from aleator.abstraction.growing.continuous import _best_bet, continuous_exploitability, respond
from aleator.abstraction.translation import pseudo_harmonic
from aleator.errors import GameError
from aleator.games.continuous_leduc import ContinuousLeduc
from aleator.games.contract import check_game
from aleator.solvers.best_response import best_response_value, exploitability
from aleator.solvers.cfr import CFR
from aleator.trees.policy import uniform_policy
from aleator.trees.public_tree import build_tree


def test_the_best_bet_is_that_of_a_search_over_many_sizes():
    rng, menu = np.random.default_rng(1), [0.01, 0.3, 1.0]
    folds, rest = rng.normal(size=(3, 50)), rng.normal(size=(3, 50))
    found = _best_bet(menu, list(folds), list(rest))

    def worth(size):
        index = 0 if size <= 0.3 else 1
        small = pseudo_harmonic(menu[index], menu[index + 1], size)
        values = folds + (1 + 2 * size) * rest
        return small * values[index] + (1 - small) * values[index + 1]

    tried = np.array([worth(size) for size in np.union1d(np.linspace(0.01, 1.0, 2001), menu)])
    np.testing.assert_allclose(found.cfv, tried.max(axis=0), atol=1e-5)
    assert (found.cfv >= tried.max(axis=0) - 1e-12).all()
    inner = (found.size > 0.011) & (found.size < 0.99) & (abs(found.size - 0.3) > 0.01)
    assert inner.any()
    for hand in np.flatnonzero(inner):
        assert worth(found.size[hand])[hand] == pytest.approx(found.cfv[hand])


def test_with_one_size_it_is_the_best_response_of_the_tree():
    policy = uniform_policy(build_tree(ContinuousLeduc((0.5,))))
    for player in (0, 1):
        assert respond(policy, player).value == pytest.approx(best_response_value(policy, player))


def test_a_response_comes_to_where_its_own_actions_lead():
    solver = CFR(build_tree(ContinuousLeduc((0.01, 0.4, 1.0))))
    solver.run(50)
    tree = solver.tree
    for player in (0, 1):
        response = respond(solver.average_policy(), player)
        assert response.comes[0].all() and 0.01 < response.comes.mean() < 0.5
        for node in range(1, tree.num_nodes):
            parent = int(tree.parent[node])
            assert (response.comes[node] <= response.comes[parent]).all()
            if tree.actor[parent] != player:
                assert (response.comes[node] == response.comes[parent]).all()
        for node in tree.decisions(player):
            first, count = int(tree.first_child[node]), int(tree.num_children[node])
            assert (response.comes[first : first + count].any(axis=0) == response.comes[node]).all()


def test_more_sizes_to_respond_with_win_at_least_as_much():
    solver = CFR(build_tree(ContinuousLeduc((0.01, 1.0))))
    solver.run(50)
    policy = solver.average_policy()
    assert continuous_exploitability(policy) > exploitability(policy) + 0.1


def test_the_game():
    check_game(ContinuousLeduc((0.25, 1.0)))
    game = load_game("leduc:pots=0.01+1")
    state = game.child(game.root(), 2)
    assert list(game.actions(state)) == ["fold", "call", "raise 0.01", "raise 1"] and state.chips == (3.0, 1.0)
    assert game.child(state, 3).chips == (3.0, 9.0)
    own = ContinuousLeduc(menus={("bet 1",): (0.01, 0.4, 1.0)})
    assert list(own.actions(own.child(own.root(), 2)))[2:] == ["raise 0.01", "raise 0.4", "raise 1"]
    for text in ("pots=1+0.5", "pots=0.001+1", "pots=2"):
        with pytest.raises(GameError, match="ascending"):
            load_game(f"leduc:{text}")
