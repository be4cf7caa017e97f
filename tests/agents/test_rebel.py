"""ReBeL as an agent."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from aleator.agents.base import play_game
from aleator.agents.rebel import RebelAgent
from aleator.agents.registry import load_agent
from aleator.errors import AgentError, SolveError
from aleator.games import load_game
from aleator.games.table import Table
from aleator.learning.rebel.shipped import shipped_path
from aleator.storage import StorageError


def test_it_beats_random_play() -> None:
    game = load_game("liars-dice:1x4")
    rebel, uniform = load_agent("rebel:iterations=16", game), load_agent("uniform", game)
    rng = np.random.default_rng(0)
    won = sum(play_game([rebel, uniform], rng).payoff(0) for _ in range(60))
    won += sum(play_game([uniform, rebel], rng).payoff(1) for _ in range(60))
    assert won > 40  # a fair game: standard deviation 11 at n = 120
    assert rebel.searches > 0 and rebel.recalled > 0  # type: ignore[attr-defined]


def test_it_holds_beliefs() -> None:
    game = load_game("liars-dice:1x4")
    rebel = load_agent(f"rebel:{shipped_path('liars-dice:1x4')},iterations=8", game)
    table = Table(game, np.random.default_rng(1))
    rebel.begin(0, np.random.default_rng(2))
    belief = rebel.belief(table.observe().history)
    assert belief is not None
    np.testing.assert_allclose(belief.beliefs[1] / belief.beliefs[1].sum(), 0.25)


def test_seconds_end_a_search() -> None:
    game = load_game("liars-dice:1x4")
    rebel = load_agent("rebel:seconds=0.01,iterations=100000", game)
    rebel.begin(0, np.random.default_rng(0))
    policy = rebel.policy_at(Table(game, np.random.default_rng(1)).observe().history)
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    assert rebel.config.seconds == 0.01  # type: ignore[attr-defined]
    solution = next(iter(rebel._solved.values()))  # type: ignore[attr-defined]
    assert 1 <= len(solution.plays[0]) < 50_000


def test_bad_names_are_refused() -> None:
    with pytest.raises(SolveError, match="there are networks for"):
        load_agent("rebel", load_game("kuhn"))
    with pytest.raises(StorageError, match="not for liars-dice:1x5"):
        load_agent(f"rebel:{shipped_path('liars-dice:1x4')}", load_game("liars-dice:1x5"))
    with pytest.raises(AgentError, match="'rebel:speed=9': unknown 'speed=9'; allowed: NETWORK, iterations=N"):
        load_agent("rebel:speed=9", load_game("liars-dice:1x4"))
    for iterations in (0, -5):  # not "as many as in training", nor one
        with pytest.raises(SolveError, match=f"at least 1 iteration, not {iterations}"):
            RebelAgent(load_game("liars-dice:1x4"), iterations=iterations)
