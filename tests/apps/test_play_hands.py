from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleator.apps.amounts import TypedError, parse_typed
from aleator.apps.cli.play_hands import choices
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.variants import HULH, HUNL
from tests.apps.calls import call

START = HUNL.setup.start()
FLOP = START.act(raise_to(300)).act(CALL).deal(parse_cards("Ah 7c 2d"))  # a pot of 600
BET = FLOP.act(raise_to(400))


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("f", FOLD),
        ("C", CALL),
        ("call", CALL),
        ("r 1200", raise_to(1_200)),
        ("raise to 1,200", raise_to(1_200)),
        ("r1200", raise_to(1_200)),
        ("1200", raise_to(1_200)),
        ("r 2.5x", raise_to(1_000)),
        ("3x", raise_to(1_200)),
        ("pot", raise_to(400 + 1_400)),
        ("100%", raise_to(1_800)),
        ("half", raise_to(400 + 700)),
        ("1.5k", raise_to(1_500)),
        ("12bb", raise_to(1_200)),
        ("min", raise_to(800)),
        ("all-in", raise_to(19_700)),
        ("all in", raise_to(19_700)),
        ("a", raise_to(19_700)),
        ("999999", raise_to(19_700)),
        ("2p", raise_to(400 + 2_800)),
    ],
)
def test_amounts_are_typed_as_people_do(typed: str, action: object) -> None:
    assert parse_typed(typed, BET) == action


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("k", "costs 400"),
        ("r 500", "500 is too little: from 800 to 19,700"),
        ("what", "is not an action"),
        ("0", "too little"),
        ("", "not an action"),
        ("1.5", "whole"),
    ],
)
def test_what_is_no_action_is_explained(typed: str, message: str) -> None:
    with pytest.raises(TypedError, match=message):
        parse_typed(typed, BET)
    with pytest.raises(TypedError, match="nothing to fold"):
        parse_typed("f", FLOP)
    with pytest.raises(TypedError, match="no bet to multiply"):
        parse_typed("2x", FLOP)


@given(st.text(max_size=20) | st.from_regex(r"[bcfrk] ?\d{0,30}(\.\d+)?(x|%|k|bb|p)?", fullmatch=True))
def test_anything_typed_is_a_legal_action_or_explained(typed: str) -> None:
    for state in (START, FLOP, BET, START.act(raise_to(20_000))):
        try:
            action = parse_typed(typed, state)
        except TypedError:
            continue
        assert state.legal_actions().allows(action)


def test_prompts_say_what_a_bet_is() -> None:
    assert choices(START) == "fold, call 50, raise to 200..20,000"
    assert choices(START.act(CALL)) == "check, raise to 200..20,000"
    assert choices(FLOP) == choices(FLOP.act(CALL)) == "check, bet 100..19,700"
    assert choices(START.act(raise_to(20_000))) == "fold, call 19,900"
    assert choices(HULH.setup.start()) == f"fold, call {HULH.rules.small_blind}, raise to {2 * HULH.rules.big_blind}"


def test_where_there_is_one_amount_it_need_not_be_typed() -> None:
    start = HULH.setup.start()
    for typed in ("r", "raise", "b", "bet"):
        assert parse_typed(typed, start) == raise_to(2 * HULH.rules.big_blind)
    with pytest.raises(TypedError, match="how much"):
        parse_typed("r", START)


def test_hands_are_played_in_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["?", "r 50", "c", "k", "pot", "nonsense", "k", "c", "k", "k", "c", "c", "c", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(said, "q"))
    code, text, error = call(
        capsys, "play", "hunl", "--agent", "always-call", "--seat", "1", "--seed", "3", "--hands", "1"
    )
    assert code == 0, error
    assert "you are on the button and hold" in text and "flop:" in text
    won, fair, luck = (
        int(re.search(rf"{before}([+-][\d,]+) chips", text)[1].replace(",", ""))  # type: ignore[index]
        for before in ("1 hand: ", "without luck ", "; luck ")
    )
    assert won == fair + luck != fair
    assert "50 is too little: from 200 to 20,000" in text and "not an action" in text


def test_stacks_go_on_until_somebody_is_broke(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("play", "hunl:10bb", "--agent", "random", "--you", "random", "--hands", "500", "--seed", "1", "--json")
    code, text, error = call(capsys, *arguments)
    assert code == 0, error
    found = json.loads(text)
    assert abs(found["won"]) == 1_000 and 0 < found["hands"] < 500
    yours = 1_000
    for record in found["records"]:  # nobody can lose more than the shorter of both has
        assert record["setup"]["stacks"] == [min(yours, 2_000 - yours)] * 2
        yours += record["won"]
    assert yours in (0, 2_000)
    assert call(capsys, *arguments)[1] == text


def test_who_searches_plays_on_with_stacks_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="searches before the river need PyTorch")
    agent = "rebel:preflop=2,flop=1,turn=1,river=2"
    code, text, error = call(capsys, "play", "hunl", "--agent", agent, "--you", "always-fold", "--hands", "3")
    assert (code, error) == (0, "") and "3 hands" in text


def test_a_table_of_six(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["play", "6max", "--agent", "always-call", "--you", "always-call", "--hands", "3", "--seed", "4"]
    code, printed, _ = call(capsys, *arguments, "--json")
    document = json.loads(printed)
    assert code == 0 and document["hands"] == 3
    for record in document["records"]:
        assert len(record["hands"]) == 6
    seats = [record["seat"] for record in document["records"]]
    assert [(seats[0] - step) % 6 for step in range(3)] == seats  # the button moves on
    code, printed, _ = call(capsys, *arguments)
    assert code == 0 and "button (always-call)" in printed and "without luck" not in printed
    code, _, told = call(capsys, "play", "ring:3", "--seat", "3", "--you", "always-call")
    assert code == 2 and "seats 0 to 2, not 3" in told
