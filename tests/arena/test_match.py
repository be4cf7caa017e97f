"""Matches: unbiased without luck, and far less noisy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.agents import Agent, load_agent
from aleator.agents.blueprint import BlueprintAgent
from aleator.arena import HandValues, exact_match, play_match
from aleator.arena.luck import MAX_ENTRIES
from aleator.errors import AgentError, TooBigError
from aleator.games import load_game
from aleator.solvers.best_response import expected_value
from aleator.trees import build_tree
from aleator.trees.policy import random_policy, uniform_policy
from tests.games.random_game import RandomGame


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_luck_is_left_where_the_baseline_is_what_is_played(seed: int) -> None:
    tree, rng = build_tree(RandomGame(seed)), np.random.default_rng(seed)
    assume(tree.num_children[0] > 0)
    policy = random_policy(tree, rng)
    agent = BlueprintAgent(policy)
    result = play_match(agent, agent, 20, rng, values=HandValues(policy))
    value = expected_value(policy)
    assert result.seats[0] is not None and result.seats[1] is not None
    assert result.seats[0].mean == pytest.approx(value, abs=1e-9)
    assert result.seats[1].mean == pytest.approx(-value, abs=1e-9)
    assert result.score.standard_error == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("game", ["leduc", "liars-dice:1x3", "goofspiel:3"])
def test_results_agree_with_exact_ones_and_are_surer(game: str) -> None:
    """n = 400 games, seed 3, z < 4, against any baseline."""
    rules = load_game(game)
    tree = build_tree(rules)
    first, second = load_agent("equilibrium:30", rules), load_agent("uniform", rules)
    exact = exact_match(first, second, tree)
    assert isinstance(first, BlueprintAgent)
    for baseline in (uniform_policy(tree), first.blueprint):
        found = play_match(first, second, 400, np.random.default_rng(3), values=HandValues(baseline))
        assert found.won is not None and found.won.standard_error and found.score.standard_error
        for got, true in zip((found.score, *found.seats), (exact.score, *exact.seats), strict=True):
            assert got is not None and true is not None and got.standard_error is not None
            assert abs(got.mean - true.mean) < 4 * got.standard_error
        assert abs(found.won.mean - exact.score.mean) < 4 * found.won.standard_error
        assert found.score.standard_error < 0.8 * found.won.standard_error


def test_agents_of_different_kinds() -> None:
    rules = load_game("kuhn")
    tree = build_tree(rules)
    values = HandValues(uniform_policy(tree))
    agents: list[Agent] = [
        load_agent(name, rules)
        for name in ("search:iterations=10", "safe", "pluribus:iterations=20", "multi-valued:iterations=20", "first")
    ]
    for first, second in zip(agents, [*agents[1:], agents[0]], strict=True):
        result = play_match(first, second, 10, np.random.default_rng(0), values=values)
        assert result.deals == 10 and np.isfinite(result.score.mean)


def test_one_game_and_an_early_end() -> None:
    rules = load_game("kuhn")
    agent = load_agent("uniform", rules)
    one = play_match(agent, agent, 1, np.random.default_rng(0))
    assert one.deals == 1 and one.score.standard_error is None and one.seats[1] is None
    assert one.won == one.score
    assert play_match(agent, agent, 100, np.random.default_rng(0), on_deal=lambda number: number == 7).deals == 7


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kuhn, leduc = load_game("kuhn"), load_game("leduc")
    with pytest.raises(AgentError, match="at least 1 deal, not 0"):
        play_match(load_agent("uniform", kuhn), load_agent("uniform", kuhn), 0, np.random.default_rng(0))
    with pytest.raises(AgentError, match="uniform plays kuhn and first leduc"):
        play_match(load_agent("uniform", kuhn), load_agent("first", leduc), 1, np.random.default_rng(0))
    monkeypatch.setattr("aleator.arena.luck.MAX_ENTRIES", 50)
    with pytest.raises(TooBigError, match="kuhn has 81 pairs of hands"):
        HandValues(uniform_policy(build_tree(kuhn)))
    assert MAX_ENTRIES > 50
