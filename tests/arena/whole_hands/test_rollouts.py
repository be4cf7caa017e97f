"""Hands played out: what actions are worth against known players, by exact sums where there are some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.rollouts import _reach, roll_out
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import HANDS, blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.variants import load_hand_game

SETUP = load_hand_game("ring:3").setup
BOARD = parse_cards("Ks 7h 2d 9c 3s")
CALLERS = [load_hand_agent("always-call")] * 3
DRAWS = 2000


def test_checking_down_is_worth_the_equity_and_a_bet_that_is_called_twice_as_much() -> None:
    """n = 2,000, seed 0, |z| < 4: the hand of the one who calls everything is any that shares no card."""
    actions = parse_actions("f c c / c c / c c")
    state = HandRecord(setup=SETUP, hands=(None,) * 3, board=BOARD, actions=actions).state()
    assert state.player == 0 and state.street == 3
    hand, order = parse_hand("9dTd"), strengths(BOARD).astype(int)
    apart = ~blocked_hands(BOARD) & ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
    share = np.mean((order[hand] > order[apart]) + 0.5 * (order[hand] == order[apart]))
    found = roll_out(state, hand, CALLERS, (CALL, raise_to(500)), going_on=CALLERS[:1], draws=DRAWS)
    error = np.sqrt(share * (1 - share) / DRAWS)
    assert found.values[0] == pytest.approx(200 * share, abs=4 * 200 * error)
    assert found.values[1] == pytest.approx(1200 * share - 500, abs=4 * 1200 * error)
    assert found.errors[found.values.argmax()] == 0 < found.errors.max()


def test_a_fold_is_worth_nothing_and_aces_are_worth_a_raise_before_the_flop() -> None:
    rule = [load_hand_agent("tight-aggressive")] * 3
    state, tries = SETUP.start(), (FOLD, CALL, raise_to(300))
    settings: dict[str, Any] = {"going_on": rule[:1], "draws": 300}
    found = roll_out(state, parse_hand("AsAh"), rule, tries, **settings)
    assert found.values[0] == 0 and found.values[2] > 0
    again = roll_out(state, parse_hand("AsAh"), rule, tries, **settings)
    np.testing.assert_array_equal(found.values, again.values)
    assert roll_out(state, parse_hand("7c2d"), rule, tries, **settings).values[2] < found.values[2]


def test_the_best_of_those_who_may_play_on_counts() -> None:
    """Against somebody who raises at random, a call with rags and a fold later loses no more than the call."""
    wild, caller, folder = (load_hand_agent(name) for name in ("half-call-half-raise", "always-call", "always-fold"))
    state = SETUP.start().act(raise_to(300))
    alone = [roll_out(state, parse_hand("7c2d"), [wild] * 3, (FOLD, CALL), going_on=[own], draws=300).values[1]
             for own in (caller, folder)]  # fmt: skip
    both = roll_out(state, parse_hand("7c2d"), [wild] * 3, (FOLD, CALL), going_on=[caller, folder], draws=300)
    assert both.values[1] == max(alone) >= -250 > min(alone)


def test_what_others_did_tells_their_hands() -> None:
    """A raise of the rule bot means a good hand; somebody who calls everything and folds tells nothing by it."""
    rule = load_hand_agent("tight-aggressive")
    aces, rags = parse_hand("AsAh"), parse_hand("7c2d")
    raised = SETUP.start().act(raise_to(300))
    reach = _reach(raised, [CALLERS[0], CALLERS[0], rule])
    assert reach[2, aces] > 3 * reach[2, rags] and reach[1].min() == 1
    folded = SETUP.start().act(FOLD)
    assert _reach(folded, CALLERS)[2].min() == 1
