"""Subgames: what is cut is what the rules say, and maps to the tree that it was cut from."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import CHANCE, load_game
from aleator.trees import DepthLimit, PublicTree, build_tree, cut, subgame_at
from aleator.trees.forest import build_forest, nodes_in
from aleator.trees.public_tree import LEAF
from tests.games.random_game import RandomGame

LIMITS = [DepthLimit(), DepthLimit(moves=1), DepthLimit(moves=2), DepthLimit(rounds=1), DepthLimit(rounds=2, moves=3)]


def assert_same_tree(one: PublicTree, other: PublicTree) -> None:
    assert one.states == other.states
    for field in fields(PublicTree):
        if field.name not in ("game", "states", "payoffs", "payoff_group", "stake", "origins", "origin_start"):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)
    for node in range(one.num_nodes):
        for player in (0, 1):
            first, second = one.origin(player, node), other.origin(player, node)
            assert (first is None) == (second is None)
            if first is not None and node:
                np.testing.assert_array_equal(first, second)
        if one.payoff_group[node] >= 0:
            first, second = (t.stake[node] * t.payoffs[t.payoff_group[node]] for t in (one, other))
            np.testing.assert_allclose(first, second)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), limit=st.sampled_from(LIMITS))
def test_cutting_a_tree_is_building_it_from_the_rules(seed: int, limit: DepthLimit) -> None:
    full = build_tree(RandomGame(seed, depth=5))
    inner = np.flatnonzero(full.num_children)
    for node in inner[:: max(1, len(inner) // 5)]:
        subgame = cut(full, int(node), limit)
        assert_same_tree(subgame.tree, subgame_at(full.game, full.states[node], limit).tree)
        assert subgame.nodes is not None
        for below, above in enumerate(subgame.nodes):
            assert subgame.tree.states[below] == full.states[above]
            if below:
                assert subgame.nodes[subgame.tree.parent[below]] == full.parent[above]


def test_the_first_betting_round_of_leduc_ends_where_the_card_is_dealt() -> None:
    full = build_tree(load_game("leduc"))
    subgame = cut(full, limit=DepthLimit(rounds=1))
    assert subgame.nodes is not None
    assert len(subgame.leaves) == 5  # check-check, bet-call, bet-raise-call, check-bet-call, check-bet-raise-call
    assert (full.actor[subgame.nodes[subgame.leaves]] == CHANCE).all()
    assert (subgame.tree.actor != CHANCE).all()
    card = full.first_child[subgame.nodes[subgame.leaves[0]]]
    assert not len(cut(full, int(card), DepthLimit(rounds=1)).leaves)


def test_depth_in_moves() -> None:
    subgame = subgame_at(load_game("liars-dice:1x4"), limit=DepthLimit(moves=2))
    assert (subgame.tree.depth[subgame.leaves] == 2).all()
    assert len(subgame.leaves) == sum(range(8))  # two bids out of eight
    assert subgame.leaf_hands == (4, 4)


def test_rows_over_leaves_know_their_hands() -> None:
    subgame = subgame_at(load_game("goofspiel:3"), limit=DepthLimit(moves=3))
    hands = subgame.tree.num_hands[:, subgame.leaves]
    for player in (0, 1):
        assert subgame.leaf_mask(player).shape == (len(subgame.leaves), subgame.leaf_hands[player])
        np.testing.assert_array_equal(subgame.leaf_mask(player).sum(axis=1), hands[player])


def test_a_cut_tree_can_be_cut_again() -> None:
    first = cut(build_tree(load_game("leduc")), limit=DepthLimit(moves=4))
    second = cut(first.tree, limit=DepthLimit(moves=2))
    assert_same_tree(second.tree, cut(build_tree(load_game("leduc")), limit=DepthLimit(moves=2)).tree)
    assert len(cut(first.tree).leaves) == len(first.leaves)


def test_a_forest_holds_the_subgames_of_its_roots() -> None:
    full = build_tree(load_game("leduc"))
    subgame = cut(full, limit=DepthLimit(rounds=1))
    assert subgame.nodes is not None
    roots = subgame.nodes[subgame.leaves]
    forest = build_forest(full.game, [full.states[root] for root in roots])
    nodes = nodes_in(full, roots, forest)
    assert forest.num_nodes == 1 + sum(1 + full.end[root] - full.first_child[root] for root in roots)
    assert [forest.states[node] for node in range(1, forest.num_nodes)] == [full.states[node] for node in nodes[1:]]


def test_mistakes_are_named() -> None:
    full = build_tree(load_game("kuhn"))
    with pytest.raises(SolveError, match="no node 9; the tree has nodes 0 to 8"):
        cut(full, 9)
    with pytest.raises(SolveError, match="node 3 is the end of its tree"):
        cut(full, 3)
    with pytest.raises(SolveError, match="at least 1 of moves, not 0"):
        DepthLimit(moves=0)
    assert (cut(full, limit=DepthLimit(moves=1)).tree.actor[1:] == LEAF).all()
