"""What an agent answers is checked; whoever wrote the agent learns which one it was and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aleator import errors
from aleator.agents import Agent, load_agent, play_game
from aleator.agents.asking import ask_policy
from aleator.agents.scripted import ScriptedAgent
from aleator.arena import Aivat, play_match
from aleator.errors import AgentError
from aleator.games import load_game
from aleator.games.table import Observation, PublicHistory
from aleator.trees import build_tree
from tests.games.random_game import RandomGame


class Answers(Agent):
    """Answers as it is told, whatever it sees."""

    name = "answers"

    def __init__(self, game: Any, policy: Any = None, action: Any = None) -> None:
        super().__init__(game)
        self.answer, self.action = policy, action

    def policy_at(self, history: PublicHistory) -> Any:
        return self.answer(history) if callable(self.answer) else self.answer

    def act(self, observation: Observation) -> Any:
        return super().act(observation) if self.action is None else self.action


def fails(history: PublicHistory) -> Any:
    return np.ones(2) @ np.ones(history.seat + 5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], r"shape \(1,\), not \(2, 3\): a row for each of check, bet, a column for each of 3 hands"),
        (np.ones(7), r"answers gave a policy of shape \(7,\)"),
        (
            [[1, 0, 1], [0, 0, 0]],
            r"answers gave hand Q the probabilities \[0.0, 0.0\]: they must be 0 or more, not all 0",
        ),
        ([[2.0] * 3, [-1.0] * 3], "must be 0 or more"),
        ([[1.0] * 3, [1.0, 1.0, np.nan]], "gave hand K the probabilities .* must be 0 or more"),
        (None, r"answers gave a policy of shape \(\)"),
        ("often", "answers gave the policy 'often': it must be an array of numbers"),
        (fails, r"answers failed: ValueError: .* \(test_asking.py, line \d+\)"),
    ],
)
def test_answers_that_are_no_policy(answer: Any, message: str) -> None:
    game = load_game("kuhn")
    aivat = Aivat(load_agent("uniform", game).policy(build_tree(game)))
    bad, rng = Answers(game, answer), np.random.default_rng(0)
    with pytest.raises(AgentError, match=message):
        play_game((bad, load_agent("uniform", game)), rng)
    with pytest.raises(AgentError, match=message):
        play_match(bad, load_agent("uniform", game), 2, rng, aivat=aivat)
    with pytest.raises(AgentError, match=message):
        bad.policy(build_tree(game))


def test_bugs_of_this_package_are_not_blamed_on_the_agent() -> None:
    code: dict[str, Any] = {}
    exec(compile("def policy_at(history):\n    return {}[0]", str(errors.__file__), "exec"), code)
    agent = load_agent("uniform", load_game("kuhn"))
    agent.policy_at = code["policy_at"]  # type: ignore[method-assign]
    with pytest.raises(KeyError):
        play_game((agent, agent), np.random.default_rng(0))


@pytest.mark.parametrize("action", [17, -1, "check", 0.0])
def test_actions_that_are_not_legal(action: Any) -> None:
    game = load_game("kuhn")
    bad = Answers(game, np.ones((2, 3)), action)
    with pytest.raises(AgentError, match=r"answers chose .*; allowed: 0 \(check\), 1 \(bet\)"):
        play_game((bad, load_agent("uniform", game)), np.random.default_rng(0))


def test_probabilities_of_what_is_not_legal() -> None:
    """The first move of this game is secret, and not all hands have all actions."""
    game = RandomGame(2)
    history = PublicHistory(game.actor(0), 0, ())
    legal = ScriptedAgent(game, "uniform").policy_at(history) > 0
    assert not legal.all()
    with pytest.raises(AgentError, match=r"answers gave act \d a probability with hand hand \d; allowed: \d \(act"):
        ask_policy(Answers(game, np.ones(legal.shape)), history)
    np.testing.assert_array_equal(ask_policy(Answers(game, 3.0 * legal), history), legal / legal.sum(axis=0))


@pytest.mark.parametrize("name", ["leduc", "goofspiel:3", "liars-dice:1x3"])
def test_an_agent_that_is_asked_everywhere_has_its_policy(name: str) -> None:
    game = load_game(name)
    tree, script = build_tree(game), load_agent("last", game)
    asked = Answers(game, script.policy_at).policy(tree)
    asked.check()
    for found, expected in zip(asked.probabilities, script.policy(tree).probabilities, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_events_lead_to_the_state_that_is_asked_about() -> None:
    game = load_game("leduc")
    seen: set[tuple[int, ...]] = set()

    def follow(history: PublicHistory) -> Any:
        state: Any = game.root()
        for event in history.events:
            state = game.children(state)[event].state
        assert state == history.state and game.actor(state) == history.seat
        seen.add(history.events)
        return np.ones((len(game.actions(state)), game.num_hands(state)[history.seat]))

    tree = build_tree(game)
    Answers(game, follow).policy(tree)
    assert len(seen) == sum(len(tree.decisions(player)) for player in (0, 1))
