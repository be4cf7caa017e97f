"""Grades at a table of several by the blueprint: mistakes are found, what the blueprint does is none, else no grade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.grading import OFTEN
from aleator.arena.whole_hands.rollouts import Rollout
from aleator.arena.whole_hands.table_grading import LEAST_LOSS, SURE, TableGrade, TableGrader, table_decisions
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from tests.abstraction.ring.test_tables import SIX, played, table


@pytest.fixture(scope="module")
def grader() -> TableGrader:
    return TableGrader(StandInAgent(ring_blueprint_agent()), draws=3000, turns=60)


def graded(grader: TableGrader, actions: str, hand: str, action: Action) -> TableGrade:
    return grader.grade(played(SIX.setup, actions), parse_hand(hand), action)


def test_folded_aces_are_a_mistake_folded_rags_are_not_and_a_fold_is_worth_nothing(grader: TableGrader) -> None:
    aces, rags = graded(grader, "", "AsAh", FOLD), graded(grader, "", "7c2d", FOLD)
    for grade in (aces, rags):
        assert grade.rollout.actions == (FOLD, raise_to(350)) and grade.taken == 0 and grade.rollout.values[0] == 0
        assert grade.policy is not None and grade.policy.sum() == pytest.approx(1)
    assert aces.given_up == aces.behind == aces.rollout.values[1] > 300, "three big blinds"
    assert rags.given_up == rags.behind == 0
    assert graded(grader, "", "AsAh", raise_to(350)).given_up == 0


def test_a_call_of_all_chips_with_rags_is_a_mistake(grader: TableGrader) -> None:
    grade = graded(grader, "f f f r350 f r1150 r10000", "7c2d", CALL)
    assert grade.rollout.actions == (FOLD, CALL) and grade.given_up > 2000, "twenty big blinds"
    assert grade.policy is None, "who folds such a hand at once has not learned what to do with it later"
    aces = graded(grader, "f f f r350 f r1150 r10000", "AsAh", FOLD)
    assert aces.given_up > 2000


def test_a_size_of_ones_own_is_tried_in_place_of_that_of_the_blueprint(grader: TableGrader) -> None:
    grade = graded(grader, "f f", "AsAh", raise_to(240))
    assert grade.rollout.actions == (FOLD, raise_to(240)) and grade.taken == 1
    assert grade.policy is not None and grade.policy[1] > OFTEN
    assert grade.given_up == 0 and grade.rollout.values[1] > 100


def test_a_smaller_table_is_graded_in_its_own_chips(grader: TableGrader) -> None:
    state = played(table(3, stack=180, ante=0), "")
    grade = grader.grade(state, parse_hand("KsKh"), FOLD)
    assert grade.rollout.actions == (FOLD, raise_to(7)) and grade.given_up > 2 * 1.5
    assert grader.grade(state, parse_hand("7c2d"), FOLD).given_up == 0


def test_without_an_action_nothing_is_given_up(grader: TableGrader) -> None:
    grade = grader.grade(SIX.setup.start(), parse_hand("AsAh"))
    assert grade.taken is None and grade.given_up == grade.behind == 0
    again = grader.grade(SIX.setup.start(), parse_hand("AsAh"))
    np.testing.assert_array_equal(grade.rollout.values, again.rollout.values)


def test_what_the_blueprint_does_often_or_is_within_chance_is_no_mistake() -> None:
    state, least = SIX.setup.start(), 100 * LEAST_LOSS
    for behind, error, policy, is_mistake in (
        (3 * least, 1.0, OFTEN, False),
        (3 * least, 1.0, OFTEN / 2, True),
        (3 * least, 3.1 * least / SURE, 0.0, False),
        (0.9 * least, 1.0, 0.0, False),
    ):
        rollout = Rollout((FOLD, raise_to(350)), np.array([0.0, behind]), np.array([error, 0.0]))
        grade = TableGrade(
            state=state, hand=0, rollout=rollout, policy=np.array([policy, 1.0 - policy]), taken=0,
        )  # fmt: skip
        assert (grade.given_up > 0) == is_mistake
    assert grade.behind == pytest.approx(0.9 * least), "which is told, and not added up"


def test_where_the_blueprint_knows_nothing_there_is_no_grade(grader: TableGrader) -> None:
    aces = parse_hand("AsAh")
    for actions, action, message in (
        ("f", CALL, "hardly ever met what was done"),
        ("f f f", raise_to(10_000), "hardly ever met what was done"),
        ("r350", raise_to(1200), "hardly ever met what was done"),
        ("f c", raise_to(500), "limped"),
        ("r350 c c", FOLD, "limped"),
    ):
        with pytest.raises(AgentError, match=message):
            graded(grader, actions, "AsAh", action)
    flop = played(SIX.setup, "r350 f f f c c", "Ks 7h 2d")
    assert len(flop.betting.live_players) == 3
    with pytest.raises(AgentError, match="third player"):
        grader.grade(flop, aces, CALL)


def test_all_decisions_of_a_player_are_found() -> None:
    hands = (None, parse_hand("AsAh"), None, None, None, None)
    record = HandRecord(
        setup=SIX.setup, hands=hands, board=parse_cards("Ks 7h 2d"), actions=parse_actions("f f f r350 f r1200 c / c c")
    )
    found = [[(len(state.actions), action) for state, action in table_decisions(record, seat)] for seat in (1, 5)]
    assert found == [[(5, raise_to(1200)), (7, CALL)], [(3, raise_to(350)), (6, CALL), (8, CALL)]]
    assert list(table_decisions(replace(record, actions=record.actions[:3], board=()), 5)) == []
