from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.arena.acpc.game_file import format_game, parse_game
from aleator.arena.acpc.match_state import AcpcError, format_match_state, parse_match_state
from aleator.errors import AleatorError
from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import HULH, HUNL
from tests.games.holdem.test_hand_batch import play

THREE = HandSetup(rules=BettingRules(num_players=3, small_blind=50, big_blind=100), stacks=(20_000,) * 3)

# from the protocol's own document: two players, no limit, the second to last line of a hand, and limit
EXAMPLES = (
    (HUNL.setup, "MATCHSTATE:0:30::9s8h|"),
    (HUNL.setup, "MATCHSTATE:0:30:c:9s8h|"),
    (HUNL.setup, "MATCHSTATE:0:30:cr200:9s8h|"),
    (HUNL.setup, "MATCHSTATE:1:30:cr200c/:|JdTc/6dJc9c"),
    (HUNL.setup, "MATCHSTATE:1:30:cr200c/r400c/r20000c/:9s8h|JdTc/6dJc9c/Kh/Qc"),
    (HULH.setup, "MATCHSTATE:0:0:crc/rrc/:AsTd|/2c8c3h/9c"),
    (THREE, "MATCHSTATE:0:0:ffr300f:Kc8d||"),
)


@pytest.mark.parametrize(("setup", "line"), EXAMPLES[:-1])
def test_lines_are_read_and_written_back(setup: HandSetup, line: str) -> None:
    position, record = parse_match_state(line, setup)
    assert format_match_state(record, position) == line


def test_amounts_are_counted_over_the_whole_hand() -> None:
    _, record = parse_match_state("MATCHSTATE:1:30:cr200c/r400c/r20000c/:9s8h|JdTc/6dJc9c/Kh/Qc", HUNL.setup)
    assert [action.amount for action in record.actions] == [0, 200, 0, 200, 0, 19_600, 0]
    assert record.payoffs() == (-20_000, 20_000)


@pytest.mark.parametrize("setup", [HUNL.setup, HULH.setup, THREE], ids=["nolimit", "limit", "three players"])
def test_random_hands_survive_both_ways(setup: HandSetup) -> None:
    batch, states = play(setup, np.random.default_rng(7), 30)
    for row in range(len(states)):
        whole = batch.record(row, number=row)
        for count in range(len(whole.actions) + 1):
            so_far = _first_actions(whole, count)
            for position in range(setup.num_players):
                view = so_far.view(position)
                assert parse_match_state(format_match_state(view, position), setup) == (position, view)


def _first_actions(record: HandRecord, count: int) -> HandRecord:
    last = record
    for state in record.states():
        if len(state.actions) <= count:
            last = HandRecord(
                setup=record.setup, hands=record.hands, board=state.board, actions=state.actions, number=record.number
            )
    return last


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "is not MATCHSTATE"),
        ("MATCHSTATE:2:30::9s8h|", "position '2'"),
        ("MATCHSTATE:0:-1::9s8h|", "hand '-1'"),
        ("MATCHSTATE:0:30:x:9s8h|", "unknown action 'x'"),
        ("MATCHSTATE:0:30:r150:9s8h|", "raise to 200..20000"),
        ("MATCHSTATE:0:30:r:9s8h|", "how many chips"),
        ("MATCHSTATE:0:30:cc/:9s8h|", "due|does not fit|board"),
        ("MATCHSTATE:0:30::9s9s|", "comes twice|must differ"),
        ("MATCHSTATE:0:30:cc/:9s8h|/9s2c3c", "dealt twice"),
        ("MATCHSTATE:0:30:cc/:9s8h|/2c3c", "3 cards are dealt"),
        ("MATCHSTATE:0:30::9s8h", "need 1 bars"),
        ("MATCHSTATE:0:30:" + "c" * 5000 + ":9s8h|", "characters"),
    ],
)
def test_nonsense_is_named(line: str, message: str) -> None:
    with pytest.raises(AcpcError, match=message):
        parse_match_state(line, HUNL.setup)


@settings(max_examples=200)
@given(
    st.text(max_size=60)
    | st.from_regex(
        r"MATCHSTATE:[0-3]:\d{1,4}:[fcr0-9/]{0,20}:([2-9TJQKA][cdhs]){0,2}\|?(/([2-9A][cdhs]){3})?", fullmatch=True
    )
)
def test_any_line_is_read_or_refused(line: str) -> None:
    for setup in (HUNL.setup, HULH.setup):
        try:
            position, record = parse_match_state(line, setup)
        except AleatorError:
            continue
        assert parse_match_state(format_match_state(record, position), setup) == (position, record)


def test_game_files_are_read_and_written_back() -> None:
    for setup in (HUNL.setup, THREE):
        assert parse_game(format_game(setup)) == setup
    assert parse_game(format_game(HULH.setup)).rules == HULH.rules
    text = format_game(HUNL.setup)
    for old, new, message in (
        ("numSuits = 4", "numSuits = 2", "numsuits"),
        ("blind = 100 50", "blind = 100", "blind"),
        ("nolimit", "potlimit", "line 2"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 1 1 1 1", "firstPlayer"),
        ("END GAMEDEF", "", "ends with"),
    ):
        with pytest.raises(AcpcError, match=message):
            parse_game(text.replace(old, new))
