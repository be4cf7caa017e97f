"""Files of hands are graded by several processes, and the grades are those of one."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from aleator.apps.web.worker import hand_grades
from aleator.games.holdem.cards import parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.variants import load_hand_game
from tests.apps.web.running import Silent

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="searches need PyTorch")


def records() -> list[dict[str, Any]]:
    """Returns hands that end before the flop, which takes one search; one cannot be graded."""
    setup, held = load_hand_game("hunl:100bb").setup, {"f": "AsAh", "r300 f": "7c2d", "r600 f": "KdKc"}
    made = [
        HandRecord(
            setup=setup, hands=(None, parse_hand(hand)), board=(), actions=parse_actions(actions), number=number,
            names=("Olive", "Tara"),
        )
        for number, (actions, hand) in enumerate(held.items(), start=1)
    ]  # fmt: skip
    unknown = HandRecord(setup=setup, hands=(None, None), board=(), actions=parse_actions("f"), names=("Olive", "Tara"))
    return [record.to_dict() for record in (unknown, *made)]


@pytest.mark.slow
def test_several_processes_grade_as_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_grades, "_HANDS_EACH", 2)
    params, channels = {"player": "Tara", "records": records(), "problems": []}, (Silent(), Silent())
    assert hand_grades._at_once(2, 4) == 2 and hand_grades._at_once(9, 3) == hand_grades._at_once(1, 9) == 1
    alone = hand_grades.grade(params, channels[0])
    both = hand_grades.grade(params | {"processes": 2}, channels[1])
    assert both == alone and both["decisions"][0]["record"] == 1, "aces were folded"
    assert both["hands"] == 3 and len(both["problems"]) == 1 and "is not known" in both["problems"][0]
    for channel in channels:
        done = [event["hand"] for event in channel.events]
        assert done[0] == 0 and done == sorted(set(done)) and done[-1] < 4
    stopped = Silent()
    stopped.stopped = True
    assert "stopped after 0 of 4 hands" in hand_grades.grade(params | {"processes": 2}, stopped)["note"]
