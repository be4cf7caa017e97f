"""AIVAT: unbiased for any baseline and whichever policies are known, proved by going through all that can happen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.arena import Aivat
from aleator.games import load_game
from aleator.games.base import CHANCE, FloatArray
from aleator.solvers.best_response import expected_value
from aleator.trees import Policy, build_tree
from aleator.trees.policy import random_policy, uniform_policy
from tests.games.random_game import RandomGame

MORE_AND_MORE = ((False, False), (True, False), (True, True))
KNOWN = list(product((True, False), repeat=2))


class Deal:
    """A deal so far: how likely it is, what was seen, what was held and by which policies."""

    def __init__(self, chance: float, node: int, events: list[int], hands: list[tuple[int, int]]) -> None:
        self.chance, self.node, self.events, self.hands = chance, node, events, hands


def all_deals(policy: Policy) -> Iterator[Deal]:
    """Yields every deal that can be, hand by hand and action by action."""
    tree = policy.tree
    deal = tree.game.deal(tree.states[0])
    waiting = [Deal(deal[i, j], 0, [], [(int(i), int(j))]) for i, j in np.argwhere(deal > 0)]
    while waiting:
        now = waiting.pop()
        if tree.payoff_group[now.node] >= 0:
            yield now
            continue
        actor, held = int(tree.actor[now.node]), now.hands[-1]
        count = 1 if actor == CHANCE else int(tree.num_actions[now.node])
        before = tree.game.deal(tree.states[now.node])[held]
        for action, (index, child) in product(range(count), enumerate(tree.children(now.node))):
            after = tree.game.deal(tree.states[child])
            chance = now.chance * (1.0 if actor == CHANCE else policy[now.node][action, held[actor]])
            choices = []
            for player in (0, 1):
                origin, hand = tree.origin(player, child), held[player]
                if origin is None:
                    choices.append([hand] if player != actor or index == action else [])
                else:
                    came = hand + (action * int(tree.num_hands[player, now.node]) if player == actor else 0)
                    choices.append(np.flatnonzero(origin == came).tolist())
            for pair in product(*choices):
                if chance * after[pair] > 0.0:
                    waiting.append(Deal(chance * after[pair] / before, child, [*now.events, index], [*now.hands, pair]))


def score(aivat: Aivat, policy: Policy, deal: Deal, known: tuple[bool, bool]) -> float:
    tree, node = policy.tree, 0
    policies: list[FloatArray | None] = []
    for event in deal.events:
        actor = int(tree.actor[node])
        policies.append(policy[node] if actor >= 0 and known[actor] else None)
        node = int(tree.first_child[node]) + event
    return aivat.score(deal.events, deal.hands, policies, known=known)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), known=st.sampled_from(KNOWN))
def test_unbiased_on_random_games_with_private_moves_and_draws(seed: int, known: tuple[bool, bool]) -> None:
    tree, rng = build_tree(RandomGame(seed)), np.random.default_rng(seed)
    policy, aivat = random_policy(tree, rng), Aivat(random_policy(tree, rng))
    deals = list(all_deals(policy))
    chances = np.array([deal.chance for deal in deals])
    assert chances.sum() == pytest.approx(1.0)
    scores = np.array([score(aivat, policy, deal, known) for deal in deals])
    assert chances @ scores == pytest.approx(expected_value(policy), abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn", "liars-dice:1x3", "goofspiel:3"])
def test_the_more_is_known_the_less_luck_is_left(name: str) -> None:
    """Exact variances: of what is won, with chance known, with one policy known, with both."""
    tree, rng = build_tree(load_game(name)), np.random.default_rng(4)
    policy, other = random_policy(tree, rng), uniform_policy(tree)
    first, second = (
        (mine + theirs) / 2 for mine, theirs in zip(policy.probabilities, other.probabilities, strict=True)
    )
    aivat = Aivat(Policy(tree, (first, second)))  # a baseline that is right by half
    deals = list(all_deals(policy))
    chances = np.array([deal.chance for deal in deals])
    utility = [tree.game.utility(tree.states[deal.node])[deal.hands[-1]] for deal in deals]
    value, variances = expected_value(policy), []
    columns = [
        utility,
        *([score(aivat, policy, deal, known) for deal in deals] for known in MORE_AND_MORE),
    ]
    for column in columns:
        assert chances @ np.array(column) == pytest.approx(value, abs=1e-9)
        variances.append(chances @ (np.array(column) - value) ** 2)
    assert variances[0] >= variances[1] > variances[2] > variances[3]  # Goofspiel has no chance
    assert variances[3] < variances[0] / 10


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_luck_is_left_where_the_baseline_is_what_is_played(seed: int) -> None:
    tree, rng = build_tree(RandomGame(seed)), np.random.default_rng(seed)
    policy = random_policy(tree, rng)
    aivat, value = Aivat(policy), expected_value(policy)
    for deal in all_deals(policy):
        assert score(aivat, policy, deal, (True, True)) == pytest.approx(value, abs=1e-9)
