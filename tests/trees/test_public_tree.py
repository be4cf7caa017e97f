"""The public tree: numbering, navigation, sizes, policies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import TooBigError
from aleator.games import TERMINAL, load_game, measure
from aleator.trees import build_tree
from aleator.trees.policy import Policy, legal_actions, normalised, policy_from, random_policy, uniform_policy
from aleator.trees.public_tree import LEAF
from tests.games.random_game import RandomGame

NAMES = ["kuhn", "leduc", "liars-dice:1x4", "goofspiel:4", "coin-toss", "rps-plus"]


@pytest.mark.parametrize("name", NAMES)
def test_sibling_order(name: str) -> None:
    tree = build_tree(load_game(name))
    for node in range(tree.num_nodes):
        children = tree.children(node)
        assert all(tree.parent[child] == node and child > node for child in children)
        below = set(children)
        for child in children:
            if tree.num_children[child]:
                below |= set(range(tree.first_child[child], tree.end[child]))
        if children:
            assert below == set(range(tree.first_child[node], tree.end[node]))
        assert (tree.actor[node] == TERMINAL) == (not children) == (tree.payoff_group[node] >= 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_has_the_size_that_was_counted(name: str) -> None:
    game = load_game(name)
    tree, size = build_tree(game), measure(game)
    assert (tree.num_nodes, tree.num_infostates) == (size.public_states, size.infostates)


def test_paths_lead_to_nodes_and_back() -> None:
    tree = build_tree(load_game("leduc"))
    for node in range(0, tree.num_nodes, 7):
        assert tree.find(tree.path(node)) == node
    with pytest.raises(LookupError, match=r"no 'call' after the start; allowed: check, bet 2"):
        tree.find(["call"])


def test_a_big_tree_is_refused_before_it_is_built() -> None:
    with pytest.raises(TooBigError, match=r"16,777,215|33,554,431"):
        build_tree(load_game("liars-dice:2x6"), max_nodes=1_000_000)


def test_payoff_groups_are_shared() -> None:
    assert len(build_tree(load_game("liars-dice:1x6")).payoffs) == 12
    assert len(build_tree(load_game("leduc")).payoffs) == 7  # showdown and fold per board, and fold before it


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_policies_of_random_games_are_distributions(seed: int) -> None:
    tree = build_tree(RandomGame(seed))
    rng = np.random.default_rng(seed)
    for policy in (uniform_policy(tree), random_policy(tree, rng)):
        policy.check()
    legal = legal_actions(tree)
    zero = normalised(tree, (np.zeros(legal[0].size), np.zeros(legal[1].size)))
    for player in (0, 1):
        np.testing.assert_array_equal(zero.probabilities[player] > 0, legal[player])


def test_bad_policies_are_refused() -> None:
    tree = build_tree(load_game("kuhn"))
    with pytest.raises(ValueError, match="not a policy at node"):
        policy_from(tree, lambda node, hand: np.array([0.5, 0.6])).check()
    with pytest.raises(ValueError, match="shape"):
        Policy(tree, (np.zeros(3), np.zeros(3)))


def test_a_part_of_the_tree_is_cut_at_leaves_and_kept_whole_above_them() -> None:
    game = load_game("liars-dice:1x3")
    whole = build_tree(game)
    root = whole.find(["1x2"])
    part = build_tree(game, root=whole.states[root], is_leaf=lambda _, depth: depth == 2)
    assert part.states[0] == whole.states[root]
    assert len(part.leaves) and set(part.actor[part.depth == 2]) == {LEAF, TERMINAL}
    for node in range(part.num_nodes):
        twin = whole.find(["1x2", *part.path(node)])
        assert part.states[node] == whole.states[twin] and part.stake[node] == whole.stake[twin]
        if node in part.leaves:
            assert part.num_children[node] == 0 and whole.num_children[twin] > 0
        else:
            assert part.num_children[node] == whole.num_children[twin] and part.actor[node] == whole.actor[twin]


def test_a_part_that_is_too_big_is_refused() -> None:
    game = load_game("liars-dice:1x4")
    with pytest.raises(TooBigError, match="more than the 50"):
        build_tree(game, root=game.root(), max_nodes=50)
