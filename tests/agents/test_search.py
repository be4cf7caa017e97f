"""The searching agent: what it plays over many games is its expected policy."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.search import SearchAgent
from aleator.errors import AgentError, SolveError
from aleator.games import load_game
from aleator.games.table import PublicHistory, Table
from aleator.search import ContinuationValue, OracleValue, SearchConfig
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import DCFR
from aleator.trees import DepthLimit, build_tree


def test_play_at_the_table_is_the_expected_policy() -> None:
    """n = 400 games of rock-paper-scissors+ in seat 1, seed 1, z < 5: drawn iterations average to the exact policy."""
    game = load_game("rps-plus")
    tree = build_tree(game)
    agent = SearchAgent(game, SearchConfig(limit=DepthLimit(moves=1), iterations=50), OracleValue(1e-3))
    exact, rng = agent.policy(tree), np.random.default_rng(1)
    exact.check()
    total, games = np.zeros(3), 400
    for _ in range(games):
        agent.begin(1, rng)
        total += agent.policy_at(PublicHistory(1, 1, (0,)))[:, 0]
    expected = exact[1][:, 0]
    assert (np.abs(total / games - expected) < 5 * 0.5 / np.sqrt(games)).all()
    assert agent.searches <= 1 + 50 and agent.recalled > 300


def test_a_search_goes_on_where_the_last_one_ended() -> None:
    game = load_game("leduc")
    agent = SearchAgent(game, SearchConfig(limit=DepthLimit(rounds=1), iterations=8), OracleValue(0.1))
    rng = np.random.default_rng(4)
    seen_two = False
    for _ in range(12):
        table, before = Table(game, rng), agent.searches + agent.recalled
        agent.begin(0, rng)
        while not table.is_over:
            seen = table.observe()
            chances = agent.policy_at(seen.history)[:, seen.hand]
            assert chances.sum() == pytest.approx(1.0)
            belief = agent.belief(seen.history)
            assert belief.state == table.state and belief.joint().sum() == pytest.approx(1.0)
            table.act(int(rng.choice(seen.legal)))
        seen_two |= agent.searches + agent.recalled - before >= 2
    assert seen_two  # one search before the card, one after it


def test_continuation_policies_at_the_leaves_need_the_tree() -> None:
    game = load_game("leduc")
    tree = build_tree(game)
    solver = CFR(tree, DCFR)
    solver.run(200)
    config = SearchConfig(limit=DepthLimit(rounds=1), iterations=30, safe=False)
    agent = SearchAgent(game, config, ContinuationValue(solver.average_policy()), tree=tree)
    rng = np.random.default_rng(0)
    agent.begin(0, rng)
    table = Table(game, rng)
    seen = table.observe()
    assert agent.policy_at(seen.history)[:, seen.hand].sum() == pytest.approx(1.0)
    assert tree.node_at(seen.events) == 0


def test_solved_situations_are_forgotten_when_there_are_too_many() -> None:
    game = load_game("kuhn")
    agent = SearchAgent(game, SearchConfig(limit=DepthLimit(moves=1), iterations=3), OracleValue(0.1), remember=1)
    rng = np.random.default_rng(0)
    for _ in range(4):
        agent.begin(1, rng)
        agent.policy_at(PublicHistory(1, game.child(game.root(), 0), (0,)))
    assert agent.recalled == 0 and agent.searches == 8


def test_seconds_limit_a_search() -> None:
    game = load_game("kuhn")
    agent = SearchAgent(game, SearchConfig(iterations=10**6, seconds=0.05), OracleValue(0.1))
    agent.begin(0, np.random.default_rng(0))
    policy = agent.policy_at(Table(game, np.random.default_rng(0)).observe().history)
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    with pytest.raises(AgentError, match="depends on the clock"):
        agent.policy(build_tree(game))
    with pytest.raises(SolveError, match="positive number of seconds, not 0"):
        SearchConfig(seconds=0)


def test_more_iterations_play_better() -> None:
    game = load_game("kuhn")
    tree = build_tree(game)
    agent = SearchAgent(game, SearchConfig(limit=DepthLimit(moves=2), iterations=60), OracleValue(1e-3))
    assert exploitability(agent.policy(tree)) < 0.045  # uniform: 0.458
