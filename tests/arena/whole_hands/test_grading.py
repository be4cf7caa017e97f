"""Grades of decisions: a fold is worth nothing, a call is worth its equity, and mistakes are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="searches before the river need PyTorch")

from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.arena.whole_hands.grading import HandGrader, decisions_of
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import HANDS, parse_cards, parse_hand
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game

BOARD = parse_cards("Ks 7h 2d 9c 3s")
SETUP = load_hand_game("hunl:stack=2000").setup


@pytest.fixture(scope="module")
def grader() -> HandGrader:
    return HandGrader(SearchSettings(flop=3, turn=3, river=150))


def record(actions: str, hands: str = "KdKh 7s7c", stacks: tuple[int, int] = (2000, 2000)) -> HandRecord:
    held = tuple(parse_hand(text) for text in hands.split())
    setup = replace(SETUP, stacks=stacks)
    return HandRecord(setup=setup, hands=held, board=BOARD, actions=parse_actions(actions), names=("A", "B"))


def river_facing_all_in() -> HandState:
    """Returns the river after checks, with an all-in of player 0 to call."""
    states = list(record("c c / c c / c c / r1900 c").states())
    (state,) = [state for state in states if state.player == 1 and state.street == 3 and max(state.betting.bets)]
    return state


def test_a_call_of_all_chips_is_worth_its_equity_and_a_fold_nothing(grader: HandGrader) -> None:
    state, order = river_facing_all_in(), strengths(BOARD).astype(int)
    for text in ("KdKh", "QcJc", "9d8d"):
        hand = parse_hand(text)
        grade = grader.grade(state, hand, CALL)
        apart = ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
        weights = grade.reach[0] * apart
        share = weights @ ((order[hand] > order) + 0.5 * (order[hand] == order)) / weights.sum()
        assert grade.actions == (FOLD, CALL)
        assert grade.values == pytest.approx([0.0, share * 4000 - 1900], abs=2.0)
    assert grader.grade(state, parse_hand("KdKh"), FOLD).given_up > 1000, "folding the nuts is a mistake"
    assert grader.grade(state, parse_hand("KdKh"), CALL).given_up == 0


def test_an_action_beside_the_menu_is_graded_as_it_is(grader: HandGrader) -> None:
    (state, action), *_ = decisions_of(record("c c / c c / c c / r137 c"), 0)[2:]
    assert action == raise_to(137) and state.street == 3
    grade = grader.grade(state, parse_hand("KdKh"), action)
    assert grade.taken is not None and grade.actions[grade.taken] == action
    assert np.isfinite(grade.values).all() and grade.policy.sum() == pytest.approx(1)


def test_decisions_begin_on_the_flop_and_stacks_are_the_smaller_one() -> None:
    played = record("r300 c / r1700 c", stacks=(2000, 9000))
    decisions = decisions_of(played, 1)
    assert [state.street for state, _ in decisions] == [1] and decisions[0][1] == CALL
    assert decisions[0][0].setup.stacks == (2000, 2000)
    deeper = record("r300 c / c r8700 c", stacks=(2000, 9000))
    (_, action), *_ = decisions_of(deeper, 1)
    assert action == raise_to(1700), "no more can be lost than the smaller stack"


def test_what_cannot_be_graded_is_refused(grader: HandGrader) -> None:
    with pytest.raises(AgentError, match="before the flop"):
        grader.grade(SETUP.start(), parse_hand("AsAh"))
    hidden = HandRecord(setup=SETUP, hands=(None, parse_hand("AsAh")), actions=parse_actions("f"), names=("A", "B"))
    with pytest.raises(AgentError, match="hand of A is not known"):
        decisions_of(hidden, 0)
    setup = replace(SETUP, rules=replace(SETUP.rules, num_players=3), stacks=(2000, 2000, 2000))
    with pytest.raises(AgentError, match="3 players"):
        decisions_of(HandRecord(setup=setup, hands=(None, None, None)), 0)
