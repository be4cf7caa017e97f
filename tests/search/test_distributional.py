"""Distributional alternative payoffs against the finite game in which every outcome is a hand of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.games.base import CHANCE
from aleator.search.distributional import EntryPolicy, outcomes, run_distributional
from aleator.search.gadgets import opponent_chance, resolve_gadget
from aleator.solvers.best_response import best_response_value
from aleator.solvers.cfr import CFR
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees.policy import Policy, places
from aleator.trees.public_tree import place_policies
from aleator.trees.surgery import Edge, End, Inner, assemble, weigh
from tests.search.test_gadgets import leduc_case

COUNT = 5


def finite_game(subtree, reach, mean, deviation):
    """Returns the augmented subgame of thesis Fig. 5.5 for player 1 as the opponent: each hand draws an outcome."""
    values = outcomes(mean, deviation, COUNT)  # [COUNT, H]
    chance = opponent_chance(subtree, 1, reach) / COUNT
    total = chance.sum() * COUNT
    hands = len(mean)
    drawn = np.tile(np.arange(hands), COUNT)
    pays = np.concatenate([chance * values[k][:, None] for k in range(COUNT)]) / total
    below = weigh(subtree, reach, np.full(hands, 1 / COUNT / total))
    # after entering, all outcomes of a hand play on as that hand would: the subtree with its rows repeated
    rows = [np.concatenate([payoff] * COUNT, axis=1) for payoff in below.payoffs]
    repeated = replace(
        below,
        payoffs=tuple(rows),
        num_hands=np.array([below.num_hands[0], below.num_hands[1] * COUNT]),
    )
    start, size = place_policies(repeated.actor, repeated.num_actions, repeated.num_hands)
    repeated = replace(repeated, policy_start=start, policy_size=size)
    choice = Inner(
        1, (len(reach), hands * COUNT), (Edge("take", End(-pays.T)), Edge("follow", repeated)), num_actions=2
    )
    root = Inner(CHANCE, (len(reach), hands), (Edge("draw", choice, (None, drawn)),))
    return assemble(subtree.game, root)


@pytest.mark.parametrize("entry", ["hedge", "best-response"])
def test_the_searcher_is_in_equilibrium_of_the_game_with_all_outcomes(entry: str) -> None:
    blueprint, node, subtree, _ = leduc_case(7, 0)
    reach = blueprint.reach[0][node]
    mean = blueprint.values(1, node, blueprint.response_cfvs[1]) - 1.0
    deviation = np.array([0.5, 2.0, 1.0])
    finite = finite_game(subtree, reach, mean, deviation)
    value, _ = solve_linear_program(finite.tree)
    gadget = resolve_gadget(subtree, 1, reach, mean)
    solver = CFR(gadget.tree, CFR_PLUS)
    policy = EntryPolicy(mean[None], deviation[None], entry, num_outcomes=COUNT)
    run_distributional(solver, np.array([0]), 1, policy, gadget.cf_reach[None], 3000)
    own = solver.average_policy().probabilities[0][places(gadget.tree, gadget.nodes, 0)]
    # what the opponent wins by a best response, its hands and outcomes known to it alone
    found = Policy(finite.tree, (own, np.full(finite.tree.policy_size[1], np.nan)))
    uniform = np.zeros(finite.tree.policy_size[0])
    for at in finite.tree.decisions(0):
        block = slice(finite.tree.policy_start[at], finite.tree.policy_start[at] + finite.tree.num_actions[at] * 3)
        uniform[block] = 1 / finite.tree.num_actions[at]
    gain = best_response_value(found, 1) + value
    learned_nothing = best_response_value(Policy(finite.tree, (uniform, found.probabilities[1])), 1) + value
    tolerance = 0.003 if entry == "hedge" else 0.02  # the normal distribution has other outcomes than five
    assert -1e-9 <= gain < tolerance < learned_nothing / 10


def test_without_deviation_it_is_the_resolve_gadget() -> None:
    blueprint, node, subtree, _ = leduc_case(8, 0)
    reach = blueprint.reach[0][node]
    mean = blueprint.values(1, node, blueprint.response_cfvs[1]) - 1.0
    gadget = resolve_gadget(subtree, 1, reach, mean)
    solver = CFR(gadget.tree, CFR_PLUS)
    run_distributional(solver, np.array([0]), 1, EntryPolicy(mean[None], np.zeros((1, 3))), gadget.cf_reach[None], 3000)
    value, _ = solve_linear_program(gadget.tree)
    found = solver.average_policy()
    assert best_response_value(found, 1) + value < 2e-3


def test_outcomes_have_the_mean_and_nearly_the_deviation() -> None:
    found = outcomes(np.array([1.0, -2.0]), np.array([0.5, 3.0]), 200)
    np.testing.assert_allclose(found.mean(axis=0), [1.0, -2.0], atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), [0.5, 3.0], rtol=0.02)
