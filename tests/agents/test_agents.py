"""Agents: what they play at the table is the policy that they say they play."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.agents.base import Agent, play_game
from aleator.agents.blueprint import BlueprintAgent
from aleator.agents.continual import ContinualAgent
from aleator.agents.human import HumanAgent
from aleator.agents.registry import known_agents, load_agent, spot_to_solve
from aleator.agents.safe import SafeAgent
from aleator.agents.scripted import SCRIPTS, ScriptedAgent
from aleator.agents.search import SearchAgent
from aleator.errors import AgentError, SolutionError, TooBigError
from aleator.games import load_game
from aleator.games.table import Observation, Table
from aleator.search import OracleValue, SearchConfig
from aleator.search.continual_resolving import ContinualSearch
from aleator.search.safe import SafeSearch
from aleator.solvers.best_response import expected_value, exploitability
from aleator.solvers.holdem import tree as holdem_tree
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from aleator.trees import Policy, build_tree
from aleator.trees.policy import random_policy, uniform_policy
from tests.games.random_game import RandomGame


def mixed(first: Policy, second: Policy) -> Policy:
    return Policy(first.tree, (first.probabilities[0], second.probabilities[1]))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("game", ["leduc", "goofspiel:4"])
def test_scripts_do_at_the_table_what_their_policy_says(script: str, game: str) -> None:
    agent = ScriptedAgent(load_game(game), script)
    tree = build_tree(agent.game)
    policy = agent.policy(tree)
    policy.check()
    rng = np.random.default_rng(5)
    for _ in range(20):
        table = Table(agent.game, rng)
        while not table.is_over:
            seen = table.observe()
            np.testing.assert_allclose(
                agent.policy_at(seen.history)[:, seen.hand],
                policy[tree.node_at(seen.events)][:, seen.hand],
                atol=1e-12,
            )
            table.act(int(rng.choice(seen.legal)))


def test_matches_win_what_the_policies_are_worth() -> None:
    """n = 500 games of Leduc, seed 2, z < 4."""
    game = load_game("leduc")
    tree, rng = build_tree(game), np.random.default_rng(2)
    agents = BlueprintAgent(random_policy(tree, rng)), ScriptedAgent(game, "uniform")
    won = np.array([play_game(agents, rng).payoff(0) for _ in range(500)])
    expected = expected_value(mixed(agents[0].policy(tree), agents[1].policy(tree)))
    assert abs(won.mean() - expected) < 4 * won.std() / np.sqrt(500)


def test_a_blueprint_believes_in_itself() -> None:
    game = load_game("kuhn")
    agent = BlueprintAgent.solving(game, Limits(iterations=300))
    assert exploitability(agent.policy(build_tree(game))) < 0.01
    table = Table(game, np.random.default_rng(0))
    table.act(1)  # a bet: the queen never bets
    belief = agent.belief(table.observe().history)
    assert belief.beliefs[0][1] < 0.02 < belief.beliefs[0][0] < belief.beliefs[0][2]


def test_humans_are_asked() -> None:
    asked: list[Observation] = []

    def ask(observation: Observation) -> int:
        asked.append(observation)
        return observation.legal[-1]

    game = load_game("kuhn")
    table = play_game((HumanAgent(game, ask), ScriptedAgent(game, "last")), np.random.default_rng(1))
    assert table.labels == ["bet", "call"] and [seen.seat for seen in asked] == [0]
    with pytest.raises(AgentError, match="cannot be read"):
        HumanAgent(game, ask).policy(build_tree(game))


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        (known.family, known.usage)
        for known in known_agents()
        if known.family != "rebel" and not any(one.required for one in known.settings)
    ],
)
def test_every_known_agent_plays_a_game(name: str, usage: str) -> None:
    game = load_game("kuhn")
    short = f"{name}:iterations=5" if "iterations=N" in usage else name
    agent: Agent = load_agent(short, game)
    assert agent.name == name
    for seed in range(3):
        assert play_game((agent, agent), np.random.default_rng(seed)).is_over


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_agents_that_search_play_games_with_private_moves_and_draws(seed: int) -> None:
    game, rng = RandomGame(seed), np.random.default_rng(seed)
    tree = build_tree(game)
    agents: list[Agent] = [ContinualAgent(game, ContinualSearch(iterations=3), tree=tree)]
    agents.append(SafeAgent(uniform_policy(tree), SafeSearch(iterations=3)))
    agents.append(SearchAgent(game, SearchConfig(iterations=3), OracleValue(0.05)))
    agents += [load_agent(f"{name}:iterations=3,blueprint=3", game) for name in ("multi-valued", "pluribus", "nested")]
    if tree.num_children[0]:
        for first, second in zip(agents, [*agents[1:], agents[0]], strict=True):
            assert play_game((first, second), rng).is_over


def test_agents_of_the_guide_are_those_that_can_be_typed() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "search.md").read_text()
    assert all(f"`{known.usage}`" in guide for known in known_agents())


def test_an_agent_of_ones_own_by_its_file(tmp_path: Path) -> None:
    game, file = load_game("kuhn"), tmp_path / "mine.py"
    file.write_text(
        "from aleator.agents.scripted import ScriptedAgent\n\n\n"
        "class Mine(ScriptedAgent):\n"
        "    def __init__(self, game):\n"
        "        super().__init__(game, 'last')\n\n\n"
        "class Neither:\n"
        "    def __init__(self, game):\n"
        "        pass\n\n\n"
        "class Hasty(ScriptedAgent):\n"
        "    def __init__(self, game):\n"
        "        self.book = {}\n"
    )
    agent = load_agent(f"python:{file}:Mine", game)
    assert agent.name == f"python:{file}:Mine" and agent.game is game
    assert play_game((agent, agent), np.random.default_rng(0)).is_over
    for name, message in (
        ("mine.py:Yours", "has no class 'Yours'; it has Mine"),
        ("mine.py:Neither", "Neither made a Neither, not an Agent"),
        ("mine.py:Hasty", r"its __init__ must begin with super\(\).__init__\(game\)"),
        ("none.py:Mine", "there is no Python file"),
        ("mine.py:", "expected a file and the name of a class in it, as in python:my_agent.py:MyAgent"),
    ):
        with pytest.raises(AgentError, match=message):
            load_agent(f"python:{tmp_path / name}", game)


def test_agents_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    river = load_game(f"holdem:{Path(__file__).parents[2] / 'examples' / 'river.toml'}")
    size = spot_to_solve("equilibrium:10", river)
    assert size is not None and size.public_states == 69
    assert spot_to_solve("uniform", river) is None and spot_to_solve("equilibrium", load_game("kuhn")) is None
    monkeypatch.setattr(holdem_tree, "available_memory", lambda: 1000)
    with pytest.raises(TooBigError, match="has 69 public states with every card apart"):
        load_agent("pluribus", river)
    assert load_agent("uniform", river).name == "uniform"


def test_agents_by_name(tmp_path: Path) -> None:
    game = load_game("kuhn")
    file = tmp_path / "kuhn.solution"
    solve("kuhn", limits=Limits(iterations=10)).save(file)
    assert isinstance(load_agent(str(file), game), BlueprintAgent)
    with pytest.raises(SolutionError, match="is a solution of kuhn, not of leduc"):
        load_agent(str(file), load_game("leduc"))
    with pytest.raises(AgentError, match="unknown agent 'bluff'; allowed: equilibrium"):
        load_agent("bluff", game)
    with pytest.raises(AgentError, match="depends on the clock"):
        load_agent("search:seconds=1", game).policy(build_tree(game))
    with pytest.raises(AgentError, match="'search:depth=2': unknown 'depth=2'"):
        load_agent("search:depth=2", game)
    with pytest.raises(AgentError, match="'safe:coward': unknown 'coward'; allowed: unsafe, resolve"):
        load_agent("safe:coward", game)
    with pytest.raises(AgentError, match="'continual:fast': unknown 'fast'; allowed: self-play, best-response"):
        load_agent("continual:fast", game)
    with pytest.raises(AgentError, match="equilibrium: iterations must be a whole number"):
        load_agent("equilibrium:many", game)
    with pytest.raises(AgentError, match="uniform takes no settings, not 'x'"):
        load_agent("uniform:x", game)
