"""How noisy the coach's values are: what its search takes often is hardly ever worth less than the coach forgives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="searches need PyTorch")

from aleator.apps.web.worker import coach
from aleator.arena.whole_hands.decisions import decisions_of
from aleator.arena.whole_hands.grading import OFTEN
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.variants import load_hand_game

SETUP = load_hand_game("hunl:100bb").setup
HANDS = tuple(map(parse_hand, ("6s6d", "6h6c")))
LIMPED, RAISED, RERAISED = (
    "c c / c c / c c / c c",
    "r300 c / c r500 c / c r1500 c / c c",
    "r250 r900 c / r900 c / c c / c c",
)
PLAYED = [(LIMPED, "Jh 8h 5c Th 3d"), (RAISED, "5h Tc Js 2c Kd"), (RERAISED, "Kc 7d 2s 9c 3h")]


@pytest.mark.slow
def test_the_search_hardly_takes_what_it_calls_a_mistake() -> None:
    rng, seen, behind = np.random.default_rng(0), 0, 0
    for actions, board in PLAYED:
        record = HandRecord(
            setup=SETUP, hands=HANDS, board=parse_cards(board), actions=parse_actions(actions), names=("A", "B")
        )
        for decision in (one for player in (0, 1) for one in decisions_of(record, player) if one.state.board):
            at, pot = replace(decision, action=None), decision.state.betting.pot
            slack = coach.SLACK[STREET_NAMES[decision.state.street]] * pot
            player = decision.state.player
            reach = coach._grader().grade(at, HANDS[0]).reach[player]
            for hand in rng.choice(np.flatnonzero(reach > 0.05), 40):
                grade = coach._grader().grade(at, int(hand))
                often = grade.policy >= OFTEN
                seen += int(often.sum())
                behind += int((grade.values.max() - grade.values[often] > slack).sum())
    assert seen > 500 and behind <= 0.004 * seen, f"{behind} of {seen}"
