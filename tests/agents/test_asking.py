"""What an agent answers is checked; whoever wrote the agent learns which one it was and what is allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aleator.agents import Agent, load_agent, play_game
from aleator.agents.asking import ask_probabilities
from aleator.arena import HandValues, play_match
from aleator.errors import AgentError
from aleator.games import load_game
from aleator.games.table import Observation, Table
from aleator.trees import build_tree


class Answers(Agent):
    """Answers as it is told, whatever it sees."""

    name = "answers"

    def __init__(self, game: Any, probabilities: Any = None, action: Any = None) -> None:
        super().__init__(game)
        self.answer, self.action = probabilities, action

    def probabilities(self, observation: Observation) -> Any:
        return self.answer(observation) if callable(self.answer) else self.answer

    def act(self, observation: Observation) -> Any:
        return super().act(observation) if self.action is None else self.action


def fails(observation: Observation) -> Any:
    return np.ones(2) @ np.ones(observation.hand + 5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], r"answers gave probabilities of shape \(1,\), not \(2,\): one for each of check, bet"),
        (np.ones(7), r"shape \(7,\)"),
        ([0.0, 0.0], r"answers gave the probabilities \[0.0, 0.0\]: they must be 0 or more, not all 0"),
        ([2.0, -1.0], "must be 0 or more"),
        ([np.nan, 1.0], "must be 0 or more"),
        (None, r"answers gave probabilities of shape \(\)"),
        ("often", "answers gave the probabilities 'often': they must be numbers"),
        (fails, r"answers failed in test_asking.py, line \d+: ValueError"),
    ],
)
def test_probabilities_that_are_none(answer: Any, message: str) -> None:
    game = load_game("kuhn")
    values = HandValues(load_agent("uniform", game).policy(build_tree(game)))
    bad, rng = Answers(game, answer), np.random.default_rng(0)
    with pytest.raises(AgentError, match=message):
        play_game((bad, load_agent("uniform", game)), rng)
    with pytest.raises(AgentError, match=message):
        play_match(bad, load_agent("uniform", game), 2, rng, values=values)
    with pytest.raises(AgentError, match=message):
        bad.policy(build_tree(game))


@pytest.mark.parametrize("action", [17, -1, "check", 0.0])
def test_actions_that_are_not_legal(action: Any) -> None:
    game = load_game("kuhn")
    bad = Answers(game, np.ones(2), action)
    with pytest.raises(AgentError, match=r"answers chose .*; allowed: 0 \(check\), 1 \(bet\)"):
        play_game((bad, load_agent("uniform", game)), np.random.default_rng(0))


def test_probabilities_of_what_is_not_legal() -> None:
    game = load_game("kuhn")
    seen = replace(Table(game, np.random.default_rng(0)).observe(), legal=(0,))
    with pytest.raises(AgentError, match=r"answers gave bet a probability; allowed: 0 \(check\)"):
        ask_probabilities(Answers(game, [0.5, 0.5]), seen)
    np.testing.assert_array_equal(ask_probabilities(Answers(game, [3, 0]), seen), [1.0, 0.0])


@pytest.mark.parametrize("name", ["leduc", "goofspiel:3", "liars-dice:1x3"])
def test_an_agent_that_is_asked_everywhere_has_its_policy(name: str) -> None:
    """The last legal action, by the observation alone, is the policy that the script writes down node by node."""
    game = load_game(name)
    tree, script = build_tree(game), load_agent("last", game)
    asked = Answers(game, script.probabilities).policy(tree)
    for found, expected in zip(asked.probabilities, script.policy(tree).probabilities, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_events_lead_to_the_state_that_is_asked_about() -> None:
    game = load_game("leduc")
    seen: set[tuple[int, ...]] = set()

    def follow(observation: Observation) -> Any:
        state: Any = game.root()
        for event in observation.events:
            state = game.children(state)[event].state
        assert state == observation.state and game.actor(state) == observation.seat
        seen.add(observation.events)
        return np.ones(len(game.actions(state)))

    tree = build_tree(game)
    Answers(game, follow).policy(tree)
    assert len(seen) == sum(len(tree.decisions(player)) for player in (0, 1))
