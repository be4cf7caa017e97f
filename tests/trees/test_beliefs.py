"""Public belief states: Bayes' rule against brute force over single histories."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import SolveError
from aleator.games import CHANCE, load_game
from aleator.trees import PublicBeliefState, build_tree
from aleator.trees.beliefs import normalised_rows, reach_at
from aleator.trees.policy import Policy, random_policy
from tests.games.random_game import RandomGame


def histories(policy: Policy, node: int) -> dict[tuple[int, int], float]:
    """Returns the players' part in the probability of each pair of hands at a node, one history at a time."""
    tree = policy.tree
    if node == 0:
        return {(i, j): 1.0 for i in range(tree.num_hands[0, 0]) for j in range(tree.num_hands[1, 0])}
    parent = int(tree.parent[node])
    above, found = histories(policy, parent), {}
    actor, number = int(tree.actor[parent]), node - int(tree.first_child[parent])
    for i in range(tree.num_hands[0, node]):
        for j in range(tree.num_hands[1, node]):
            before, probability = [], 1.0
            for player, hand in enumerate((i, j)):
                origin, hands = tree.origin(player, node), int(tree.num_hands[player, parent])
                place = hand if origin is None else int(origin[hand])
                action = number if origin is None else place // hands
                if player == actor:
                    probability *= policy[parent][action, place % hands]
                before.append(place % hands)
            found[i, j] = probability * above[before[0], before[1]]
    return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_bayes_rule_is_what_brute_force_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = build_tree(RandomGame(seed))
    policy = random_policy(tree, rng)
    node, belief = 0, PublicBeliefState.initial(tree.game)
    while tree.num_children[node]:
        number = int(rng.integers(tree.num_children[node]))
        block = None if tree.actor[node] == CHANCE else policy[node]
        belief, node = belief.after(number, block), int(tree.first_child[node]) + number
        expected = tree.game.deal(tree.states[node]) * 0.0
        for (i, j), probability in histories(policy, node).items():
            expected[i, j] = probability * tree.game.deal(tree.states[node])[i, j]
        assert belief.state == tree.states[node]
        if expected.sum() > 0.0:
            np.testing.assert_allclose(belief.joint(), expected / expected.sum(), atol=1e-12)
            np.testing.assert_allclose(belief.marginal(1), belief.joint().sum(axis=0), atol=1e-12)
        reach = reach_at(policy, node)
        np.testing.assert_allclose(normalised_rows(reach[0]), belief.beliefs[0], atol=1e-12)
        np.testing.assert_allclose(normalised_rows(reach[1]), belief.beliefs[1], atol=1e-12)


def test_who_bets_the_king_alone_holds_the_king() -> None:
    game = load_game("kuhn")
    bet_the_king = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    after = PublicBeliefState.initial(game).after(1, bet_the_king)
    np.testing.assert_array_equal(after.beliefs[0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(after.marginal(1), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(after.as_seen_by(1, 0), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(PublicBeliefState.initial(game).as_seen_by(0, 2), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(after.as_seen_by(0, 0), [0.0, 0.5, 0.5])  # nobody believes in the jack but who holds it
    both = PublicBeliefState(game, after.state, (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])))
    np.testing.assert_allclose(
        both.as_seen_by(0, 2), [0.5, 0.5, 0.0]
    )  # who holds the king knows that the other does not


def test_what_is_never_done_leaves_a_uniform_belief() -> None:
    never = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    after = PublicBeliefState.initial(load_game("kuhn")).after(1, never)
    np.testing.assert_allclose(after.beliefs[0], np.full(3, 1 / 3))


def test_mistakes_are_named() -> None:
    start = PublicBeliefState.initial(load_game("kuhn"))
    with pytest.raises(SolveError, match=r"player 1's belief has shape \(2,\), not \(3,\)"):
        PublicBeliefState(start.game, start.state, (np.ones(3), np.ones(2)))
    with pytest.raises(SolveError, match=r"must be finite and not negative"):
        PublicBeliefState(start.game, start.state, (np.ones(3), np.array([1.0, -1.0, 1.0])))
    with pytest.raises(SolveError, match="no child 2; this public state has children 0 to 1"):
        start.after(2, np.ones((2, 3)))
    with pytest.raises(SolveError, match="player 0 acts here"):
        start.after(0)
