from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aleator.errors import AleatorError, GameError
from aleator.games.holdem.betting import CALL, FOLD, BettingError, raise_to
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, RecordError, parse_actions, setup_from_dict, setup_to_dict
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import HUNL, TURN_ENDGAME, is_hand_game, load_hand_game


def record(actions: str, board: str = "", hands: str = "AsAh KsKh") -> HandRecord:
    return HandRecord(
        setup=HUNL.setup,
        hands=tuple(parse_hand(hand) for hand in hands.split()),
        board=parse_cards(board),
        actions=parse_actions(actions),
        number=7,
    )


def test_a_hand_to_the_showdown_by_hand() -> None:
    played = record("r300 c / c r457 c / c c / c c", "2c 7d 9h Jc 4s")
    assert played.payoffs() == (757, -757)
    assert played.to_dict()["actions"] == "r300 c / c r457 c / c c / c c"
    assert [state.player for state in played.states()] == [1, 0, None, 0, 1, 0, None, 0, 1, None, 0, 1, None]


def test_an_all_in_before_the_flop_deals_the_board_street_by_street() -> None:
    played = record("r20000 c", "2c 7d 9h Jc 4s")
    assert [state.cards_due for state in played.states()] == [0, 0, 3, 1, 1, 0]
    assert played.payoffs() == (20_000, -20_000)
    with pytest.raises(RecordError, match="not over"):
        record("r20000 c", "2c 7d 9h").payoffs()


def test_a_fold_ends_it_without_a_showdown() -> None:
    assert record("f").payoffs() == (50, -50)
    public = record("r300 f").view(None)
    assert public.hands == (None, None) and public.payoffs() == (-100, 100)


def test_players_see_their_own_hand_until_the_showdown() -> None:
    folded = record("r300 f")
    assert folded.view(0).hands == (parse_hand("AsAh"), None)
    shown = record("c c / c c / c c / c c", "2c 7d 9h Jc 4s")
    assert shown.view(1).hands == shown.hands


def test_records_are_written_and_read_as_json() -> None:
    for played in (record("f"), record("r300 c / c c", "2c 7d 9h"), record("c c / c c / c c / c c", "2c 7d 9h Jc 4s")):
        assert HandRecord.from_dict(json.loads(json.dumps(played.to_dict()))) == played
        assert HandRecord.from_dict(played.to_dict(with_setup=False), HUNL.setup) == played
    assert setup_from_dict(setup_to_dict(TURN_ENDGAME.setup)) == TURN_ENDGAME.setup


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": "r300 x"}, "unknown action 'x'"),
        ({"actions": "r150"}, "raise to 200..20000"),
        ({"actions": "f c"}, "after the end"),
        ({"board": "2c 7d"}, "0, 3, 4 or 5 cards"),
        ({"board": "As 7d 9h"}, "dealt twice: As"),
        ({"board": "2c 7d 9h"}, "never due"),
        ({"hands": ["AsAh"]}, "need 2 hands"),
        ({"hands": ["AsAh", 3]}, "not a hand"),
        ({"hand": "x"}, "hand must be of type int"),
        ({"setup": {"small_blind": 1, "big_blind": 2, "stacks": [5, "x"]}}, "stacks must be whole"),
        ({"setup": {"small_blind": 1, "big_blind": 2, "stacks": [5, 5], "limit": 2}}, "unknown key 'limit'"),
    ],
)
def test_what_is_no_hand_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        HandRecord.from_dict(record("r300").to_dict() | change)


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(
    st.dictionaries(
        st.sampled_from(["hand", "setup", "hands", "board", "actions", "names"]),
        st.text() | st.integers() | st.lists(st.text(max_size=4)),
    )
)
def test_nonsense_is_an_error_of_one_line(document: dict[str, object]) -> None:
    with pytest.raises(AleatorError) as caught:
        HandRecord.from_dict(document)
    assert "\n" not in str(caught.value)


def test_games_of_whole_hands_have_names() -> None:
    assert load_hand_game("hunl").setup.stacks == (20_000, 20_000)
    assert load_hand_game("hunl:stack=10000").stack == load_hand_game("hunl:100bb").stack == 10_000
    assert load_hand_game("hulh").rules.fixed_bets == (2, 2, 4, 4)
    assert load_hand_game("flop-holdem").rules.max_raises == (3, 4)
    assert load_hand_game("ring:3").setup.stacks == (10_000,) * 3
    assert load_hand_game("ring:6,stack=500").setup.start().legal_actions().max_raise_to == 500
    assert is_hand_game("ring:6") and is_hand_game("spot:river.toml")
    assert is_hand_game("flop-holdem") and not is_hand_game("flop-holdem:4x2") and not is_hand_game("leduc")
    for name, message in (
        ("hunl:50", "stack=CHIPS or Nbb"),
        ("hunk", "did you mean 'hunl'"),
        ("hunl:stack=7", "100 to"),
    ):
        with pytest.raises(GameError, match=message):
            load_hand_game(name)


def test_setups_that_make_no_hand_are_refused() -> None:
    rules = HUNL.rules
    with pytest.raises(BettingError, match="needs a pot"):
        HandSetup(rules=rules, stacks=(9, 9), first_street=2)
    with pytest.raises(BettingError, match="later first street"):
        HandSetup(rules=rules, stacks=(9, 9), pot=3)
    with pytest.raises(BettingError, match="4 board cards"):
        HandSetup(rules=rules, stacks=(9, 9), first_street=2, pot=3, board=(1, 2, 3))
    state = HUNL.setup.start()
    assert state.act(FOLD).is_over and state.act(raise_to(300)).act(CALL).cards_due == 3


def test_a_board_is_dealt_as_far_as_cards_are_due_and_there() -> None:
    start, board = load_hand_game("hunl").setup.start(), parse_cards("Ks 7h 2d 9c 3s")
    flop = start.act(CALL).act(CALL)
    assert start.deal_from(board) is start, "nothing is due"
    assert flop.deal_from(board).board == board[:3] and flop.deal_from(board[:2]).board == ()
    all_in = start.act(raise_to(20_000)).act(CALL)
    assert all_in.deal_from(board).board == board and all_in.deal_from(board).is_over
    assert all_in.deal_from(board[:4]).board == board[:4]
