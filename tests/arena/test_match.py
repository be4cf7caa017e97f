"""Matches: unbiased without luck, and far less noisy."""

from __future__ import annotations

from itertools import count, cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.agents import Agent, load_agent
from aleator.agents.blueprint import BlueprintAgent
from aleator.arena import Aivat, MoveTimes, exact_match, play_match
from aleator.errors import AgentError, TooBigError
from aleator.games import load_game
from aleator.games.table import Observation, PublicHistory
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
    result = play_match(agent, agent, 20, rng, aivat=Aivat(policy))
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
        found = play_match(first, second, 400, np.random.default_rng(3), aivat=Aivat(baseline))
        assert found.won is not None and found.won.standard_error and found.score.standard_error
        for got, true in zip((found.score, *found.seats), (exact.score, *exact.seats), strict=True):
            assert got is not None and true is not None and got.standard_error is not None
            assert abs(got.mean - true.mean) < 4 * got.standard_error
        assert abs(found.won.mean - exact.score.mean) < 4 * found.won.standard_error
        assert found.score.standard_error < 0.8 * found.won.standard_error


def test_agents_of_different_kinds() -> None:
    rules = load_game("kuhn")
    tree = build_tree(rules)
    aivat = Aivat(uniform_policy(tree))
    agents: list[Agent] = [
        load_agent(name, rules)
        for name in ("search:iterations=10", "safe", "pluribus:iterations=20", "multi-valued:iterations=20", "first")
    ]
    for first, second in zip(agents, [*agents[1:], agents[0]], strict=True):
        result = play_match(first, second, 10, np.random.default_rng(0), aivat=aivat)
        assert result.deals == 10 and np.isfinite(result.score.mean)


def test_one_game_and_an_early_end() -> None:
    rules = load_game("kuhn")
    agent = load_agent("uniform", rules)
    one = play_match(agent, agent, 1, np.random.default_rng(0))
    assert one.deals == 1 and one.score.standard_error is None and one.seats[1] is None
    assert one.won == one.score
    assert play_match(agent, agent, 100, np.random.default_rng(0), on_deal=lambda number: number == 7).deals == 7


CHECK = np.array([[1.0] * 3, [0.0] * 3])  # with any of Kuhn poker's hands


class Clock:
    """Stands still, except while a `Thinker` thinks."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Thinker(Agent):
    """Takes the seconds it is told for its moves, one after the other and then again."""

    name = "thinker"

    def __init__(self, game: Any, clock: Clock, seconds: list[float]) -> None:
        super().__init__(game)
        self.clock, self.seconds = clock, cycle(seconds)

    def policy_at(self, history: PublicHistory) -> Any:
        return CHECK

    def think(self) -> None:
        self.clock.now += next(self.seconds)

    def act(self, observation: Observation) -> int:
        self.think()
        return 0


class Searcher(Thinker):
    """Thinks when it is asked for its policy, and recalls it for its move."""

    def policy_at(self, history: PublicHistory) -> Any:
        self.think()
        return CHECK

    def act(self, observation: Observation) -> int:
        return 0


@pytest.mark.parametrize("agent", [Thinker, Searcher])
def test_how_long_moves_take(agent: type[Thinker]) -> None:
    """Both check: each agent makes one move a deal, in either seat."""
    game, clock = load_game("kuhn"), Clock()
    slow, quick = agent(game, clock, [1.0, 2.0, 9.0]), agent(game, clock, [0.25])
    aivat = Aivat(uniform_policy(build_tree(game)))
    result = play_match(slow, quick, 6, np.random.default_rng(0), aivat=aivat, seconds_per_move=1.5, clock=clock)
    assert result.times == (MoveTimes(6, 2.0, 4.0, 9.0, 4), MoveTimes(6, 0.25, 0.25, 0.25, 0))


def test_who_answers_twice_does_not_pay_twice() -> None:
    game, clock = load_game("kuhn"), Clock()

    class Forgetful(Thinker):
        def policy_at(self, history: PublicHistory) -> Any:
            self.think()
            return CHECK

    first, second = Forgetful(game, clock, [3.0, 5.0]), Thinker(game, clock, [1.0])
    aivat = Aivat(uniform_policy(build_tree(game)))
    result = play_match(first, second, 4, np.random.default_rng(0), aivat=aivat, clock=clock)
    assert result.times == (MoveTimes(4, 5.0, 5.0, 5.0, None), MoveTimes(4, 1.0, 1.0, 1.0, None))


def test_times_change_nothing_else() -> None:
    game = load_game("leduc")
    found = [
        play_match(
            load_agent("search:iterations=5", game),
            load_agent("uniform", game),
            20,
            np.random.default_rng(1),
            seconds_per_move=limit,
            clock=clock,
        )
        for limit, clock in ((None, Clock()), (1e-9, count().__next__))
    ]
    assert found[0][:4] == found[1][:4]
    for still, ticking in zip(found[0].times, found[1].times, strict=True):
        assert still is not None and ticking is not None and still.moves == ticking.moves > 20
        assert (still.slowest, still.over) == (0.0, None)
        assert (ticking.slowest, ticking.over) == (1.0, ticking.moves)  # one tick for each look at the clock


def test_who_never_moves_has_no_times() -> None:
    game = load_game("coin-toss")
    assert exact_match(load_agent("first", game), load_agent("first", game), build_tree(game)).times == (None, None)
    sold = play_match(load_agent("first", game), load_agent("first", game), 1, np.random.default_rng(0))
    assert [found is None for found in sold.times] == [False, True]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_limits(seconds: float) -> None:
    agent = load_agent("uniform", load_game("kuhn"))
    with pytest.raises(AgentError, match="seconds per move must be a positive number, not"):
        play_match(agent, agent, 1, np.random.default_rng(0), seconds_per_move=seconds)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kuhn, leduc = load_game("kuhn"), load_game("leduc")
    with pytest.raises(AgentError, match="at least 1 deal, not 0"):
        play_match(load_agent("uniform", kuhn), load_agent("uniform", kuhn), 0, np.random.default_rng(0))
    with pytest.raises(AgentError, match="uniform plays kuhn and first leduc"):
        play_match(load_agent("uniform", kuhn), load_agent("first", leduc), 1, np.random.default_rng(0))
    monkeypatch.setattr("aleator.arena.aivat.MAX_ENTRIES", 80)
    with pytest.raises(TooBigError, match="kuhn has 81 pairs of hands"):
        Aivat(uniform_policy(build_tree(kuhn)))
    monkeypatch.setattr("aleator.arena.aivat.MAX_ENTRIES", 81)
    Aivat(uniform_policy(build_tree(kuhn)))
