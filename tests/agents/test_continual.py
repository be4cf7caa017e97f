"""The re-solving agent: at the table it plays the policy that going through the whole game finds."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.continual import ContinualAgent
from aleator.agents.registry import load_agent
from aleator.games import load_game
from aleator.games.table import Table
from aleator.search.blueprint import Blueprint
from aleator.search.continual_resolving import ContinualSearch
from aleator.solvers.best_response import exploitability
from aleator.trees import build_tree
from aleator.trees.beliefs import normalised_rows


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars-dice:1x3"])
def test_the_table_plays_the_policy(name: str) -> None:
    game = load_game(name)
    tree = build_tree(game)
    agent = ContinualAgent(game, ContinualSearch(iterations=60), tree=tree)
    policy, rng = agent.policy(tree), np.random.default_rng(2)
    expected = Blueprint(policy).reach
    for seat in (0, 1):
        for _ in range(8):
            table = Table(game, rng)
            agent.begin(seat, rng)
            while not table.is_over:
                seen = table.observe()
                if seen.seat == seat:
                    np.testing.assert_allclose(
                        agent.policy_at(seen.history)[:, seen.hand],
                        policy[tree.node_at(seen.events)][:, seen.hand],
                        atol=1e-9,
                    )
                    belief = agent.belief(seen.history)
                    assert belief.state == seen.state
                    own = normalised_rows(expected[seat][tree.node_at(seen.events)])  # Bayes' rule
                    np.testing.assert_allclose(belief.beliefs[seat], own, atol=1e-9)
                    table.act(agent.act(seen))
                else:
                    table.act(int(rng.choice(seen.legal)))
    assert agent.searches > 2


def test_re_solving_plays_well() -> None:
    game = load_game("kuhn")
    agent = load_agent("continual:iterations=200", game)
    assert exploitability(agent.policy(build_tree(game))) < 0.02  # uniform: 0.458
