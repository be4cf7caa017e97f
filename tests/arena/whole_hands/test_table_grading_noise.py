"""How noisy grades at a table are: what the blueprint takes often is hardly ever behind by more than is forgiven."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.grading import OFTEN
from aleator.arena.whole_hands.play import play_hands
from aleator.arena.whole_hands.table_grading import LEAST_LOSS, SURE, TableGrader, table_decisions
from aleator.errors import AgentError
from aleator.games.holdem.variants import load_hand_game

HANDS = 24


@pytest.mark.slow
def test_what_the_blueprint_does_often_is_hardly_ever_called_a_mistake() -> None:
    agent, setup = StandInAgent(ring_blueprint_agent()), load_hand_game("6max").setup
    grader, seen, behind, without = TableGrader(agent), 0, 0, 0
    played = play_hands(setup, [agent] * 6, np.arange(HANDS) * 6 + np.arange(HANDS) % 6, 7).hands
    for record in (played.record(row) for row in range(HANDS)):
        for seat, hand in enumerate(record.hands):
            assert hand is not None
            for state, action in table_decisions(record, seat):
                if state.street:
                    continue
                try:
                    grade = grader.grade(state, hand, action)
                except AgentError:
                    without += 1
                    continue
                assert grade.policy is not None, "it came here"
                values, errors = grade.rollout.values, grade.rollout.errors
                forgiven = np.maximum(SURE * errors, LEAST_LOSS * setup.rules.big_blind)
                often = grade.policy >= OFTEN
                seen += int(often.sum())
                behind += int((often & (values.max() - values > forgiven)).sum())
    assert seen > 100 and without < 0.1 * seen and behind <= 0.02 * seen, f"{behind} of {seen}, {without} without"
