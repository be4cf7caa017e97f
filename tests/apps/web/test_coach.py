"""The coach: hints in a session, reviews of hands, spots of decisions, files graded to the end or stopped."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="searches need PyTorch")

from aleator.abstraction.packed.shipped import shipped_blueprint
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.apps.web.models_reports import Stacks
from aleator.apps.web.worker import coach, hand_grades
from aleator.apps.web.worker.hand_files import read
from aleator.apps.web.worker.table_coach import blueprint_report, rollout_report
from aleator.apps.web.worker.whole_hands import HandError, play
from aleator.arena.whole_hands.decisions import decisions_of
from aleator.arena.whole_hands.grading import OFTEN, HandGrader
from aleator.games.holdem.betting import raise_to
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.spot_file import spot_from_table
from aleator.games.holdem.variants import load_hand_game
from tests.apps.web.running import Silent
from tests.apps.web.test_hands_api import hand_file, move, new_state


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    grader = HandGrader(SearchSettings(preflop=5, flop=2, turn=2, river=20))
    monkeypatch.setattr(coach, "_grader", lambda: grader)
    monkeypatch.setattr(coach, "rollout_report", partial(rollout_report, draws=300))
    monkeypatch.setattr(coach, "blueprint_report", partial(blueprint_report, draws=1500, turns=20))
    monkeypatch.setattr(coach, "_HINT_DRAWS", 1500)
    monkeypatch.setattr(coach, "_HINT_TURNS", 20)


def hint(state: dict[str, Any]) -> dict[str, Any]:
    return coach.hint({"state": state, "blueprints": []}, Silent())


def test_a_hint_grades_the_actions_on_the_flop() -> None:
    with pytest.raises(HandError, match="deal first"):
        hint(new_state("always-call"))
    answer = move(new_state("always-call"), "deal")
    while not answer["view"]["hand"]["steps"][-1]["board"]:
        answer = move(answer["state"], "c")
    grade = hint(answer["state"])["grade"]
    assert grade["street"] == "flop" and grade["taken"] is None and grade["given_up"] == 0
    assert sum(action["policy"] for action in grade["actions"]) == pytest.approx(1)
    assert sum(action["best"] for action in grade["actions"]) >= 1


def test_what_a_search_cannot_tell_is_no_mistake() -> None:
    setup = load_hand_game("hunl:100bb").setup
    hands = (parse_hand("AsAh"), parse_hand("TcTd"))
    board = parse_cards("9h 8d 6s Kc 2d")
    record = HandRecord(setup=setup, hands=hands, board=board, actions=parse_actions("c c / c c / c c / c c"))
    for decision in decisions_of(record, 0):
        grade = coach._grader().grade(decision, hands[0])
        for lost, is_mistake in ((0.03, decision.state.street == 3), (0.06, True), (0.01, False)):
            values = np.array([1.0, *[0.0] * (len(grade.actions) - 1)]) * lost * decision.state.betting.pot
            policy = np.array([0.95, *[0.05 / (len(grade.actions) - 1)] * (len(grade.actions) - 1)])
            told = coach.grade_report(replace(grade, values=values, policy=policy, taken=1))
            assert told["mistake"] == is_mistake, (told["street"], lost)


def test_before_the_flop_a_hint_has_values_and_its_place_in_the_charts() -> None:
    told = hint(move(new_state("always-call"), "deal")["state"])
    grade = told["grade"]
    assert told["note"] == "" and grade["street"] == "preflop" and grade["board"] == ""
    assert sum(action["policy"] for action in grade["actions"]) == pytest.approx(1)
    assert all(np.isfinite(action["value"]) for action in grade["actions"])
    assert grade["chart"]["stack"] == 100 and grade["chart"]["path"].startswith("r:0") and grade["chart"]["exact"]


def test_a_review_begins_before_the_flop_and_reads_other_raises_as_the_nearest() -> None:
    setup = load_hand_game("hunl:100bb").setup
    hands = (parse_hand("AsAh"), parse_hand("TcTd"))
    record = HandRecord(setup=setup, hands=hands, board=(), actions=parse_actions("r260 r790 f"))
    opened, folded = coach.review({"record": record.to_dict(), "seat": 1}, Silent())["decisions"]
    assert [decision["actions"][decision["taken"]]["kind"] for decision in (opened, folded)] == ["raise", "fold"]
    assert [decision["chart"]["exact"] for decision in (opened, folded)] == [True, False]
    assert folded["chart"]["path"].count(":b") == 2
    (reraised,) = coach.review({"record": record.to_dict(), "seat": 0}, Silent())["decisions"]
    assert reraised["actions"][reraised["taken"]]["name"] == "raise to 790" and not reraised["chart"]["exact"]
    with pytest.raises(HandError, match="no decision on a board"):
        coach.spot_of_decision({"record": record.to_dict(), "seat": 0, "step": 1}, Silent())


def test_charts_of_other_chips_and_stacks_are_the_nearest() -> None:
    assert list(coach.CHART_STACKS) == [stack.value for stack in Stacks], "the page has these"
    start = load_hand_game("hunl:100bb").setup
    cents = replace(start, rules=replace(start.rules, small_blind=1, big_blind=2), stacks=(190, 190))
    state = cents.start().act(raise_to(6))
    told = coach._chart_of(state)
    assert told == {"stack": 100, "path": "r:0:b300", "exact": False}, "95 big blinds, raised to three"
    even = replace(cents, stacks=(200, 200)).start().act(raise_to(6))
    assert coach._chart_of(even) == told | {"exact": True}


def test_what_the_search_takes_often_is_no_mistake() -> None:
    found = read({"name": "mine.phhs", "text": hand_file(3), "game": "hunl"}, Silent())
    graded = hand_grades.grade({"player": "Tara", "records": found["records"], "problems": []}, Silent())
    often = [one for one in graded["decisions"] if one["actions"][one["taken"]]["policy"] >= OFTEN]
    assert often and all(one["given_up"] == 0 and not one["mistake"] for one in often)
    assert {"preflop"} < {one["street"] for one in graded["decisions"]}
    for one in graded["decisions"]:
        values = [action["value"] for action in one["actions"]]
        if one not in often:
            assert one["behind"] == pytest.approx(max(values) - values[one["taken"]])
            assert one["given_up"] == (one["behind"] if one["mistake"] else 0), "what a search cannot tell adds up to 0"


def test_more_raises_than_the_charts_have_are_graded_too() -> None:
    setup = load_hand_game("hunl:200bb").setup
    raises = "r200 r400 r600 r800 r1000 r1200 r1400 r1600 r1800 r2000"
    record = HandRecord(setup=setup, hands=(None, parse_hand("AsAh")), board=(), actions=parse_actions(f"{raises} f"))
    *_, last = coach.review({"record": record.to_dict(), "seat": 1}, Silent())["decisions"]
    assert last["actions"][last["taken"]]["kind"] == "fold" and last["mistake"] and not last["chart"]["exact"]


def test_at_a_table_of_six_hands_are_played_out_until_two_are_left() -> None:
    told = hint(move(new_state("6max"), "deal")["state"])
    assert "played out" in told["note"] and told["grade"]["street"] == "preflop" and told["grade"]["taken"] is None
    assert all({"value", "error"} <= action.keys() and "policy" not in action for action in told["grade"]["actions"])
    setup, board = load_hand_game("6max").setup, parse_cards("9h 8d 6s Kc")
    hands = (parse_hand("AsAh"), parse_hand("TcTd"), None, None, None, None)
    actions = parse_actions("f f f f r300 c / c c / r300 c")
    played = HandRecord(setup=setup, hands=hands, board=board, actions=actions, number=6)
    channel, asked = Silent(), {"record": played.to_dict(), "seat": 0, "opponent": "6max", "blueprints": []}
    found = coach.review(asked, channel)
    assert [event["done"] for event in channel.events] == [0, 0.5], "a bar shows how far it is"
    assert [decision["street"] for decision in found["decisions"]] == ["preflop", "flop", "turn"]
    assert [decision["step"] for decision in found["decisions"]] == [4, 6, 8] and "played out" in found["note"]
    opened = found["decisions"][0]
    assert opened["actions"][opened["taken"]]["name"] == "raise to 300"
    spot = coach.spot_of_decision({"record": played.to_dict(), "seat": 0, "step": 8}, Silent())
    assert (spot["pot"], spot["stack"]) == (600, 9_700)


def test_at_a_table_folded_aces_are_a_mistake_and_folded_rags_are_not() -> None:
    setup = load_hand_game("6max").setup
    for cards, is_mistake in (("AsAh", True), ("7c2d", False)):
        hands = (None, None, parse_hand(cards), None, None, None)
        played = HandRecord(setup=setup, hands=hands, board=(), actions=parse_actions("f f f f f"), number=2)
        asked = {"record": played.to_dict(), "seat": 2, "opponent": "6max", "blueprints": []}
        (decision,) = coach.review(asked, Silent())["decisions"]
        assert decision["mistake"] == is_mistake and (decision["given_up"] > 0) == is_mistake
        assert decision["actions"][decision["taken"]]["value"] == 0, "a fold"


def table_hand(actions: str, cards: str = "", board: str = "", **setup: Any) -> HandRecord:
    """Returns a hand of six named A, from the small blind, to F, the button, who holds what is given, else rags."""
    held = (
        parse_hand("2s2d"),
        parse_hand("QsQc"),
        *map(parse_hand, ("4h4c", "5h5c", "6h6c")),
        parse_hand(cards or "7c3d"),
    )
    start = replace(load_hand_game("6max").setup, **setup)
    return HandRecord(
        setup=start, hands=held, board=parse_cards(board), actions=parse_actions(actions), names=tuple("ABCDEF"),
    )  # fmt: skip


def test_hands_of_six_from_a_file_are_graded_by_the_blueprint_until_two_are_left() -> None:
    records = [
        table_hand("f f f f f", "AsAh"),
        table_hand("f f f r350 f c / r300 c", "7c3d", "9h 8d 6s"),
        table_hand("f c f f f c", "AsAh"),
        table_hand("f f f r350 f f", "AsAh", stacks=(3_000,) * 6),
    ]
    params = {"player": "F", "records": [record.to_dict() for record in records], "problems": []}
    graded = hand_grades.grade(params, Silent())
    found = {(one["record"], one["step"]): one for one in graded["decisions"]}
    assert set(found) == {(0, 3), (1, 3), (1, 7)} and graded["problems"] == [] and graded["hands"] == 4
    folded, opened, called = found[0, 3], found[1, 3], found[1, 7]
    assert folded["mistake"] and folded["given_up"] > 3 and folded["actions"][folded["taken"]]["kind"] == "fold"
    assert folded["actions"][0]["value"] == 0 and folded["position"] == "button"
    assert {"policy", "value", "error"} < folded["actions"][0].keys()
    assert not opened["actions"][opened["taken"]]["policy"] >= OFTEN and opened["street"] == "preflop"
    assert called["street"] == "flop" and "error" not in called["actions"][0], "two are left: it is searched"
    assert graded["without"].startswith("2 decisions have no grade: ")
    assert "limped" in graded["without"] and "less than 50 big blinds (1)" in graded["without"]
    told = [(one["record"], one["step"], one["street"], one["name"]) for one in graded["ungraded"]]
    assert told == [(2, 3, "preflop", "fold"), (3, 3, "preflop", "raise to 350")]
    assert "limped" in graded["ungraded"][0]["reason"]
    assert opened["chart"] == {"stack": "6max", "path": "r:0:f:f:f", "exact": True} and called["chart"] is None
    for one in (folded, opened):
        assert sum(action["policy"] for action in [*one["actions"], *one["untried"]]) == pytest.approx(1.0, abs=0.01)
    one = hand_grades.grade(params | {"records": params["records"][2:3]}, Silent())
    assert one["without"].startswith("1 decision has no grade") and one["decisions"] == []


def test_where_a_blueprint_sits_it_grades_what_it_knows_and_tells_what_it_does_elsewhere() -> None:
    file = str(shipped_blueprint(6))
    asked = {"seat": 5, "opponent": "blueprint-6max", "blueprints": [file]}
    played = coach.review(
        asked | {"record": table_hand("f f f r350 f c / c c", "AsAh", "9h 8d 6s").to_dict()}, Silent()
    )
    assert [one["step"] for one in played["decisions"]] == [3, 7] and played["preflop"] == []
    assert "whoever sits there" in played["note"] and not played["decisions"][0]["mistake"]
    limped = coach.review(asked | {"record": table_hand("f c f r500 f f f", "AsAh").to_dict()}, Silent())
    assert limped["decisions"] == [] and limped["note"] == ""
    assert [(one["name"], "limped" in one["reason"]) for one in limped["ungraded"]] == [("raise to 500", True)]
    assert [advice["actions"][advice["taken"]]["kind"] for advice in limped["preflop"]] == ["raise"]
    dealt = play({"state": new_state("blueprint-6max"), "move": "deal", "seen": None, "blueprints": [file]}, Silent())
    told = coach.hint({"state": dealt["state"], "blueprints": [file]}, Silent())
    assert {"policy", "value", "error"} < told["grade"]["actions"][0].keys() and told["chart"] is None


def test_a_file_is_graded_costliest_first_and_each_decision_is_a_spot() -> None:
    found = read({"name": "mine.phhs", "text": hand_file(2), "game": "hunl"}, Silent())
    params = {"player": "Olive", "records": found["records"], "problems": ["hand 9: no"]}
    channel = Silent()
    graded = hand_grades.grade(params, channel)
    losses = [(decision["given_up"], decision["behind"]) for decision in graded["decisions"]]
    assert losses == sorted(losses, reverse=True) and graded["hands"] == 2 and graded["problems"] == ["hand 9: no"]
    mistakes = [decision for decision in graded["decisions"] if decision["mistake"]]
    assert graded["given_up"] == pytest.approx(sum(decision["behind"] for decision in mistakes))
    assert graded["decisions"][: len(mistakes)] == mistakes, "mistakes come first, however small"
    assert [event["hand"] for event in channel.events] == [0, 1]
    assert channel.events[0]["worst"] == [] and all(one["mistake"] for one in channel.events[1]["worst"])
    assert {(one["number"], one["position"]) for one in graded["decisions"]} == {(1, "button"), (2, "big blind")}
    decision = next(decision for decision in graded["decisions"] if decision["board"])
    record = found["records"][decision["record"]]
    asked = {"record": record, "seat": record["names"].index("Olive"), "step": decision["step"]}
    spot = spot_from_table(coach.spot_of_decision(asked, Silent()))
    assert len(spot.board) == decision["board"].count(" ") + 1
    with pytest.raises(HandError, match="no decision on a board after 99"):
        coach.spot_of_decision(asked | {"step": 99}, Silent())
    channel.stopped = True
    assert "stopped after 0 of 2 hands" in hand_grades.grade(params, channel)["note"]
