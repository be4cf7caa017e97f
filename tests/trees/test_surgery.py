"""Trees made of trees mean what they should: values, payoffs and hands survive cutting, weighing, assembling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.games import load_game
from aleator.solvers.best_response import best_response_cfvs, cfvs, expected_value
from aleator.trees import build_tree
from aleator.trees.policy import Policy, places, random_policy
from aleator.trees.subgame import DepthLimit, cut
from aleator.trees.surgery import Edge, End, Grafted, Inner, assemble, weigh
from tests.games.random_game import RandomGame

SEEDS = st.integers(0, 10_000)


def part_of(policy: Policy, tree, nodes) -> Policy:
    """Returns a policy's part on a tree whose nodes are `nodes` of the policy's."""
    first, second = (policy.probabilities[player][places(policy.tree, nodes, player)] for player in (0, 1))
    return Policy(tree, (first, second))


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_weighing_is_reach_at_the_root(seed: int) -> None:
    tree, rng = build_tree(RandomGame(seed)), np.random.default_rng(seed)
    policy = random_policy(tree, rng)
    weights = [rng.random(tree.num_hands[player, 0]) for player in (0, 1)]
    weighed = weigh(tree, weights[0], weights[1])
    ours = cfvs(Policy(weighed, policy.probabilities), 0)[0]
    units = np.eye(len(weights[1]))
    # a cfv is linear in the opponent's root reach: add up the games in which only one of its hands is held
    parts = [cfvs(Policy(weigh(tree, np.ones(len(weights[0])), unit), policy.probabilities), 0)[0] for unit in units]
    np.testing.assert_allclose(ours, weights[0] * (weights[1] @ np.array(parts)), atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_a_root_above_its_subtrees_is_the_tree(seed: int) -> None:
    tree = build_tree(RandomGame(seed))
    assume(tree.num_children[0] > 0)
    policy = random_policy(tree, np.random.default_rng(seed))
    subgames = {child: cut(tree, child) for child in tree.children(0) if tree.num_children[child]}
    parts = [
        subgames[child].tree if child in subgames else End(tree.payoffs[tree.payoff_group[child]], tree.stake[child])
        for child in tree.children(0)
    ]
    edges = tuple(
        Edge(tree.labels[child], part, (tree.origin(0, child), tree.origin(1, child)))
        for child, part in zip(tree.children(0), parts, strict=True)
    )
    root = Inner(int(tree.actor[0]), tuple(tree.num_hands[:, 0].tolist()), edges, int(tree.num_actions[0]))
    made = assemble(tree.game, root)
    rebuilt = made.tree
    np.testing.assert_array_equal(rebuilt.actor, tree.actor)
    np.testing.assert_array_equal(rebuilt.parent, tree.parent)
    np.testing.assert_array_equal(rebuilt.policy_start, tree.policy_start)
    assert rebuilt.labels == tree.labels
    assert expected_value(Policy(rebuilt, policy.probabilities)) == pytest.approx(expected_value(policy), abs=1e-14)
    for subgame, new in zip(subgames.values(), made.nodes, strict=True):
        np.testing.assert_array_equal(subgame.nodes, new)


def test_a_subtree_keeps_what_the_whole_tree_says_about_it() -> None:
    tree = build_tree(load_game("leduc"))
    policy = random_policy(tree, np.random.default_rng(1))
    node = tree.find(["bet 2", "call", "Q"])
    subgame = cut(tree, node)
    subtree, nodes = subgame.tree, subgame.nodes
    assert subtree.path(1) == ("check",) and tree.path(int(nodes[1])) == ("bet 2", "call", "Q", "check")
    # the searcher's reach is missing in the subtree; weighed by it, the values are those of the whole tree
    from aleator.search.blueprint import own_reach

    reach = own_reach(policy, 1)[node]
    below = Policy(weigh(subtree, np.ones(3), reach), part_of(policy, subtree, nodes).probabilities)
    np.testing.assert_allclose(best_response_cfvs(below, 0)[0], best_response_cfvs(policy, 0)[node], atol=1e-14)


def test_ends_of_one_matrix_share_a_group() -> None:
    pays = np.array([[1.0, -1.0]])
    root = Inner(0, (1, 2), (Edge("a", End(pays)), Edge("b", End(pays, 2.0))), num_actions=2)
    tree = assemble(load_game("kuhn"), root).tree
    assert tree.payoff_group.tolist() == [-1, 0, 0] and tree.stake.tolist() == [0.0, 1.0, 2.0]
    assert tree.labels == ("", "a", "b")


def test_trees_in_the_place_of_leaves_are_the_tree_they_were_cut_from() -> None:
    tree = build_tree(load_game("leduc"))
    upper = cut(tree, limit=DepthLimit(moves=2))
    below = {int(leaf): cut(tree, int(upper.nodes[leaf])).tree for leaf in upper.leaves}
    rebuilt = assemble(tree.game, Grafted(upper.tree, below)).tree
    assert rebuilt.labels == tree.labels and rebuilt.states == tree.states
    for name in ("actor", "parent", "first_child", "num_actions", "num_hands", "policy_start", "stake"):
        np.testing.assert_array_equal(getattr(rebuilt, name), getattr(tree, name))
