"""Agents with a searcher in each seat: at the table they play the policy that can be read."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.registry import load_agent
from aleator.agents.search import SearchAgent
from aleator.agents.searcher import SearcherAgent
from aleator.errors import AgentError
from aleator.games import load_game
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Spot
from aleator.games.table import Table
from aleator.search.blueprint import Blueprint
from aleator.solvers.best_response import exploitability
from aleator.trees import build_tree
from aleator.trees.beliefs import normalised_rows
from aleator.trees.policy import uniform_policy
from aleator.trees.subgame import TO_THE_END
from tests.solvers.holdem.test_solver import RIVER, TURN

AGENTS = [
    "multi-valued:iterations=30,blueprint=20",
    "multi-valued:self-generated,count=3,both,unsafe,iterations=30,blueprint=20",
    "pluribus:iterations=30,blueprint=20",
    "nested:iterations=30,blueprint=20",
    "nested:resolve,reach,expensive,iterations=30,blueprint=20",
    "continual:conservative,iterations=10",
]


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("game", ["leduc:bets=1+2+3/2,cap=1", "liars-dice:1x3", "goofspiel:3"])
def test_the_table_plays_the_policy(name: str, game: str) -> None:
    rules, rng = load_game(game), np.random.default_rng(5)
    tree = build_tree(rules)
    agent, policy = load_agent(name, rules), load_agent(name, rules).policy(tree)
    policy.check()
    expected = Blueprint(policy).reach
    for seat in (0, 1, 0, 1):
        table = Table(rules, rng)
        agent.begin(seat, rng)
        while not table.is_over:
            seen = table.observe()
            if seen.seat == seat:
                there = policy[tree.node_at(seen.events)][:, seen.hand]
                np.testing.assert_allclose(agent.policy_at(seen.history)[:, seen.hand], there, atol=1e-6)
                belief = agent.belief(seen.history)
                assert belief is not None and belief.state == seen.state
                own = normalised_rows(expected[seat][tree.node_at(seen.events)])  # Bayes' rule
                np.testing.assert_allclose(belief.beliefs[seat], own, atol=1e-6)
                likely = [action for action in seen.legal if there[action] > 0]
                table.act(int(rng.choice(likely)))  # what it never does it need not know the same way
            else:
                table.act(int(rng.choice(seen.legal)))


def test_nested_search_answers_moves_that_the_blueprint_lacks() -> None:
    game = load_game("leduc:nolimit")
    tree = build_tree(game)
    policy = load_agent("nested:off-tree=bet 2+bet 3,blueprint=300", game).policy(tree)
    assert policy[0].shape == (5, 3)
    np.testing.assert_array_equal(policy[0][[2, 3]], 0.0)  # it does not know these itself
    answer = policy[tree.find(["bet 2"])]
    assert answer[0, 0] > 0.5 and answer[0, 2] < 0.01  # the jack folds to it, the king does not
    assert exploitability(policy) < 0.1  # the uniform policy: 1.29


def test_budgets_and_names() -> None:
    game = load_game("leduc")
    tree = build_tree(game)
    for name in ("multi-valued", "pluribus", "nested", "continual", "safe", "search"):
        agent = load_agent(f"{name}:seconds=0.01", game)
        table = Table(game, np.random.default_rng(0))
        agent.begin(0, np.random.default_rng(0))
        np.testing.assert_allclose(agent.policy_at(table.observe().history).sum(axis=0), 1.0)
        with pytest.raises(AgentError, match="depends on the clock"):
            agent.policy(tree)
    for name, message in (
        ("multi-valued:odd", "'multi-valued:odd': unknown 'odd'; allowed: bias, self-generated"),
        ("pluribus:seconds=0", "pluribus: seconds must be a number above 0 and below 1e.09, not '0'"),
        ("pluribus:iterations=1.5", "pluribus: iterations must be a whole number from 1 to 1,000,000,000, not '1.5'"),
        ("nested:off-tree=bet 7", r"leduc has no moves \['bet 7'\]; it has"),
    ):
        with pytest.raises(AgentError, match=message):
            load_agent(name, game)


@pytest.mark.parametrize("name", ["pluribus", "multi-valued", "continual", "search"])
@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_hold_em_is_searched_to_the_end_by_its_own_solver(
    name: str, spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it comes, without a word about depth or budget; the general engine is never needed."""
    monkeypatch.setattr("aleator.solvers.holdem.tree.CFR", None)
    monkeypatch.setattr("aleator.search.subgame_solver.DepthLimitedSolver", None)
    game = HoldemGame(spot)
    agent, rng = load_agent(name, game), np.random.default_rng(0)
    for seat in (0, 1):
        table = Table(game, rng)
        agent.begin(seat, rng)
        while not table.is_over:
            seen = table.observe()
            if seen.seat == seat:
                assert agent.policy_at(seen.history)[:, seen.hand].sum() == pytest.approx(1.0)
                assert agent.belief(seen.history) is not None
            table.act(int(rng.choice(seen.legal)))
    assert isinstance(agent, SearcherAgent | SearchAgent) and agent.searches >= 1


@pytest.mark.parametrize("name", ["pluribus", "multi-valued", "continual", "search"])
def test_what_is_played_on_a_river_is_an_equilibrium(name: str) -> None:
    game = HoldemGame(RIVER)
    tree = build_tree(game)
    found = load_agent(name, game).policy(tree)
    assert exploitability(found) < 0.02 * exploitability(uniform_policy(tree))


def test_hold_em_with_cards_to_come_gets_fewer_iterations() -> None:
    game = HoldemGame(TURN)
    agents = [load_agent(f"multi-valued{text}", game) for text in ("", ":iterations=7", ":seconds=1")]
    budgets = [agent._of(0).config for agent in agents]
    assert [budget.iterations for budget in budgets] == [150, 7, 500]
    assert all(budget.limit == TO_THE_END for budget in budgets)
