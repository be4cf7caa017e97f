"""The coach: hints in a session, reviews of hands, spots of decisions, files graded to the end or stopped."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="searches need PyTorch")

from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.apps.web.worker import coach
from aleator.apps.web.worker.hand_files import read
from aleator.apps.web.worker.whole_hands import HandError
from aleator.arena.whole_hands.grading import HandGrader
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.spot_file import spot_from_table
from aleator.games.holdem.variants import load_hand_game
from tests.apps.web.running import Silent
from tests.apps.web.test_hands_api import hand_file, move, new_state


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    grader = HandGrader(SearchSettings(flop=2, turn=2, river=20))
    monkeypatch.setattr(coach, "_grader", lambda: grader)


def hint(state: dict[str, Any]) -> dict[str, Any]:
    return coach.hint({"state": state, "blueprints": []}, Silent())


def test_a_hint_grades_the_actions_from_the_flop_on() -> None:
    with pytest.raises(HandError, match="deal first"):
        hint(new_state("always-call"))
    answer = move(new_state("always-call"), "deal")
    told = hint(answer["state"])
    assert told["grade"] is None and "Before the flop" in told["note"]
    while not answer["view"]["hand"]["steps"][-1]["board"]:
        answer = move(answer["state"], "c")
    grade = hint(answer["state"])["grade"]
    assert grade["street"] == "flop" and grade["taken"] is None and grade["given_up"] == 0
    assert sum(action["policy"] for action in grade["actions"]) == pytest.approx(1)
    assert sum(action["best"] for action in grade["actions"]) >= 1


def test_at_a_table_of_six_decisions_between_two_are_graded() -> None:
    state = move(new_state("6max"), "deal")["state"]
    assert "two players left" in hint(state)["note"]
    setup, board = load_hand_game("6max").setup, parse_cards("9h 8d 6s Kc")
    hands = (parse_hand("AsAh"), parse_hand("TcTd"), None, None, None, None)
    actions = parse_actions("f f f f r300 c / c c / r300 c")
    played = HandRecord(setup=setup, hands=hands, board=board, actions=actions)
    channel = Silent()
    found = coach.review({"record": played.to_dict(), "seat": 0}, channel)
    assert [event["done"] for event in channel.events] == [0, 0.5], "a bar shows how far it is"
    assert [decision["street"] for decision in found["decisions"]] == ["flop", "turn"]
    assert [decision["step"] for decision in found["decisions"]] == [6, 8] and "two players left" in found["note"]
    spot = coach.spot_of_decision({"record": played.to_dict(), "seat": 0, "step": 8}, Silent())
    assert (spot["pot"], spot["stack"]) == (600, 9_700)


def test_a_file_is_graded_costliest_first_and_each_decision_is_a_spot() -> None:
    found = read({"name": "mine.phhs", "text": hand_file(2), "game": "hunl"}, Silent())
    params = {"player": "Olive", "records": found["records"], "problems": ["hand 9: no"]}
    channel = Silent()
    graded = coach.grade(params, channel)
    losses = [decision["given_up"] for decision in graded["decisions"]]
    assert losses == sorted(losses, reverse=True) and graded["hands"] == 2 and graded["problems"] == ["hand 9: no"]
    assert graded["given_up"] == pytest.approx(sum(losses))
    assert [event["hand"] for event in channel.events] == [0, 1]
    decision = graded["decisions"][0]
    record = found["records"][decision["record"]]
    asked = {"record": record, "seat": record["names"].index("Olive"), "step": decision["step"]}
    spot = spot_from_table(coach.spot_of_decision(asked, Silent()))
    assert len(spot.board) == decision["board"].count(" ") + 1
    with pytest.raises(HandError, match="no decision after 99"):
        coach.spot_of_decision(asked | {"step": 99}, Silent())
    channel.stopped = True
    assert "stopped after 0 of 2 hands" in coach.grade(params, channel)["problems"]
