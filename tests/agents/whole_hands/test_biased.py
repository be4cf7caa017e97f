"""Agents that like one kind of action too much."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands import load_hand_agent
from aleator.agents.whole_hands.base import ask_held, ask_policies
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.variants import load_hand_game

STATE = load_hand_game("hunl").setup.start()


def test_what_it_likes_is_so_many_times_likelier_and_the_rest_keeps_its_proportions() -> None:
    plain = load_hand_agent("half-call-half-raise").policy_at(STATE)
    biased = load_hand_agent("biased:half-call-half-raise,towards=call,times=3").policy_at(STATE)
    assert biased.actions == plain.actions
    call = plain.actions.index(CALL)
    odds = plain.probabilities / plain.probabilities[call]
    bent = biased.probabilities / biased.probabilities[call]
    np.testing.assert_allclose(np.delete(bent, call, 0), np.delete(odds, call, 0) / 3, rtol=1e-12)
    np.testing.assert_allclose(biased.probabilities.sum(axis=0), 1.0)


@pytest.mark.parametrize("towards", ["fold", "call", "raise"])
def test_what_the_other_never_does_is_never_done(towards: str) -> None:
    plain = load_hand_agent("tight-aggressive").policy_at(STATE)
    biased = load_hand_agent(f"biased:tight-aggressive,towards={towards},times=1000").policy_at(STATE)
    np.testing.assert_array_equal(biased.probabilities > 0, plain.probabilities > 0)


def test_one_hand_is_answered_as_all_are() -> None:
    agent = load_hand_agent("biased:tight-aggressive,towards=fold")
    batch, row = HandBatch.of_states([STATE]), np.zeros(1, np.int64)
    codes, all_hands = ask_policies(agent, batch, row)
    for hand in (0, 500, 1325):
        held = ask_held(agent, batch, row, np.array([hand]))
        np.testing.assert_array_equal(held.codes, codes)
        np.testing.assert_allclose(held.probabilities[0, :, 0], all_hands[0, :, hand])
    assert FOLD in agent.policy_at(STATE).actions


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("biased", "biased:AGENT"),
        ("biased:nobody", "unknown agent of whole hands"),
        ("biased:random,towards=sleep", "fold, call, raise"),
        ("biased:random,times=0", "times"),
        ("tight-aggressive:value-bet=2", "value-bet"),
        ("tight-aggressive:nerve=2", "nerve"),
    ],
)
def test_wrong_settings_are_refused(name: str, problem: str) -> None:
    with pytest.raises(AgentError, match=problem):
        load_hand_agent(name)
