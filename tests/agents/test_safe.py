"""The agent that searches subgames of a blueprint: at the table it plays the policy that can be read."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.safe import SafeAgent
from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.table import Table
from aleator.search.blueprint import Blueprint
from aleator.search.safe import SafeSearch
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.trees import build_tree
from aleator.trees.beliefs import normalised_rows
from aleator.trees.policy import uniform_policy


def test_search_makes_a_rough_blueprint_better_and_the_table_agrees() -> None:
    game = load_game("leduc")
    tree = build_tree(game)
    solver = CFR(tree, CFR_RULE)
    solver.run(20)
    agent = SafeAgent(solver.average_policy(), SafeSearch(gadget="resolve", iterations=200))
    searched = agent.policy(tree)
    assert exploitability(searched) < 0.9 * exploitability(solver.average_policy())
    expected, rng = Blueprint(searched).reach, np.random.default_rng(3)
    for seat in (0, 1):
        for _ in range(5):
            table = Table(game, rng)
            agent.begin(seat, rng)
            while not table.is_over:
                seen = table.observe()
                if seen.seat == seat:
                    node = tree.node_at(seen.events)
                    np.testing.assert_allclose(
                        agent.policy_at(seen.history)[:, seen.hand], searched[node][:, seen.hand], atol=0.05
                    )
                    belief = agent.belief(seen.history)
                    assert belief.state == seen.state
                    own = normalised_rows(expected[seat][tree.node_at(seen.events)])  # Bayes' rule
                    np.testing.assert_allclose(belief.beliefs[seat], own, atol=0.05)
                table.act(int(rng.choice(seen.legal)))
    assert 0 < agent.searches <= 10


def test_games_without_chance_are_cut_after_two_moves() -> None:
    tree = build_tree(load_game("liars-dice:1x4"))
    agent = SafeAgent(uniform_policy(tree), SafeSearch(iterations=10))
    changed = agent.policy(tree)[int(np.flatnonzero((tree.depth == 2) & (tree.actor >= 0))[0])]
    assert np.abs(changed - 1 / len(changed)).max() > 0.1
    np.testing.assert_array_equal(agent.policy(tree)[0], uniform_policy(tree)[0])
    with pytest.raises(SolveError, match="another tree"):
        agent.policy(build_tree(load_game("kuhn")))
