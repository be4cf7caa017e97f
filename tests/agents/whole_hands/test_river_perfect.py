from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.pot_odds import equities
from aleator.agents.whole_hands.river_perfect import RiverPerfectAgent, implied_range
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HULH, HUNL

BOARD = parse_cards("As Kd 7h 4c 2s")


def river() -> HandState:
    """Returns the start of a river after a raise and a call before the flop, and checks since."""
    state = HUNL.setup.start().act(raise_to(300)).act(CALL)
    for count in (3, 1, 1):
        state = state.deal(BOARD[len(state.board) : len(state.board) + count])
        if count == 3 or len(state.board) == 4:
            state = state.act(CALL).act(CALL)
    return state


def test_before_the_river_it_calls_what_the_odds_allow() -> None:
    agent, state = RiverPerfectAgent(), HUNL.setup.start().act(raise_to(20_000))
    policy = agent.policy_at(state)
    calls = policy.probabilities[1] == 1.0
    np.testing.assert_array_equal(calls, equities(()) >= 19_900 / 40_000)
    assert calls[parse_hand("AsAh")] and not calls[parse_hand("7c2d")]


def test_ranges_follow_from_the_play() -> None:
    state = river()
    caller, raiser = implied_range(state, 0), implied_range(state, 1)
    assert raiser[parse_hand("AhAd")] == pytest.approx(1.0, abs=1e-5) and raiser[parse_hand("8c3d")] < 0.3
    assert caller[parse_hand("3d2h")] < 0.01 and caller[parse_hand("AhAd")] == pytest.approx(1.0, abs=1e-5)
    assert not caller[blocked_hands(BOARD)].any()


def test_the_river_is_solved_with_the_amounts_that_were_bet() -> None:
    agent, state = RiverPerfectAgent(iterations=60), river()
    first = agent.policy_at(state)
    living = ~blocked_hands(BOARD)
    np.testing.assert_allclose(first.probabilities.sum(axis=0)[living], 1.0)
    assert {action.amount for action in first.actions} >= {0, 300, 600, 19_700}
    answer = agent.policy_at(state.act(raise_to(457)))  # on no menu
    fold, call = answer.probabilities[0], answer.probabilities[1]
    nuts, nothing = parse_hand("5h3h"), parse_hand("6d5d")  # a wheel, and six high
    assert fold[nuts] < 1e-3 and fold[nothing] > 0.9 and call[nuts] < 0.5
    again = agent.policy_at(state.act(raise_to(457)))
    np.testing.assert_array_equal(again.probabilities, answer.probabilities)


def test_it_refuses_limit() -> None:
    with pytest.raises(AgentError, match="no-limit"):
        RiverPerfectAgent().policy_at(HULH.setup.start())
