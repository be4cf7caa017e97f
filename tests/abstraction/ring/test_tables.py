"""Hands of other tables as hands of a blueprint's game: amounts, seats, antes, stacks, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aleator.abstraction.ring.tables import check_stacks, moved, translated
from aleator.errors import AgentError
from aleator.games.holdem.betting import FOLD, BettingRules, raise_to
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.hand_record import HandRecord, format_actions, parse_actions
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import load_hand_game

SIX = load_hand_game("6max")


def table(players: int, stack: int = 200, small: int = 1, big: int = 2, **rules: int | tuple[int, ...]) -> HandSetup:
    """Returns a table with blinds of 1 and 2."""
    game = BettingRules(num_players=players, small_blind=small, big_blind=big, **rules)  # type: ignore[arg-type]
    return HandSetup(rules=game, stacks=(stack,) * players)


def played(setup: HandSetup, actions: str, board: str = "") -> HandState:
    record = HandRecord(
        setup=setup, hands=(None,) * setup.num_players, board=parse_cards(board), actions=parse_actions(actions)
    )
    return record.state()


def told(state: HandState) -> str:
    """Returns the actions of a hand as text."""
    hands = (None,) * state.setup.num_players
    return format_actions(HandRecord(setup=state.setup, hands=hands, board=state.board, actions=state.actions))


def test_a_hand_of_the_game_is_itself() -> None:
    state = played(SIX.setup, "f f f r350 f c / c r375 c / c c / r1000 r3000 f", "Ks 7h 2d 9c 3s")
    assert translated(state, SIX) == state


def test_amounts_are_in_big_blinds_and_later_a_share_of_the_pot() -> None:
    six = table(6)
    there = translated(played(six, "f f r5 f f c / c r6", "Ks 7h 2d"), SIX)
    assert told(there) == "f f r250 f f c / c r300" and there.player == 1
    assert there.betting.pot == 50 * played(six, "f f r5 f f c / c r6", "Ks 7h 2d").betting.pot
    small = translated(played(six, "f f f r4 f r14"), SIX)
    assert told(small) == "f f f r200 f r700", "a raise of as much of the pot"


def test_seats_that_are_missing_fold_first() -> None:
    three = translated(played(table(3), "r6 f c / c r7", "Ks 7h 2d"), SIX)
    assert told(three) == "f f f r300 f c / c r350" and three.player == 1, "the button, and both blinds"
    assert translated(table(3).start(), SIX).player == 5
    four = translated(played(table(4), "f r6"), SIX)
    assert told(four) == "f f f r300" and four.player == 0
    assert translated(table(5).start(), SIX).player == 3


def test_antes_and_other_small_blinds_do_little_to_the_sizes() -> None:
    antes = table(6, stack=4000, small=20, big=40, ante=3)
    state = played(antes, "f f f r100 f r375")
    there = translated(state, SIX)
    share = (375 - 100) / (state.betting.pot - 375 + 40 + 60)  # of the pot after a call
    assert told(there).startswith("f f f r2") and there.player == 5
    opened, raised = there.actions[3].amount, there.actions[5].amount
    assert opened == round(100 + 60 / (60 + 18 + 40) * 250)
    assert raised == round(opened + share * (150 + 2 * opened - 100))
    assert translated(table(6, small=0).start(), SIX).player == 2 == translated(table(6, small=2).start(), SIX).player
    paid = translated(table(6, stack=10_000, small=50, big=100, big_blind_ante=50).start(), SIX)
    assert paid.betting.pot == 150, "an ante is not there in the game"


def test_who_is_all_in_is_all_in_whatever_the_stack() -> None:
    short, deep = table(6, stack=120), table(6, stack=400)
    for setup, all_in in ((short, "r120"), (deep, "r400")):
        there = translated(played(setup, f"f f f r6 {all_in} f"), SIX)
        assert told(there) == "f f f r300 r10000 f" and there.player == 5
    over = translated(played(short, "f f f r120 f c"), SIX)
    assert over.is_over is False and over.betting.is_over, "only cards are to come"
    back = moved(raise_to(10_000), SIX.start(), short.betting())
    assert back == raise_to(120) and moved(raise_to(350), SIX.start(), short.betting()) == raise_to(7)
    assert moved(FOLD, SIX.start(), short.betting()) == FOLD


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        (table(7), "7 players are not the 3 to 6"),
        (table(2), "2 players are not the 3 to 6"),
        (table(6, straddles=(4,)), "straddle"),
        (table(6, ante=1), "blinds and antes are 4.5 big blinds together"),
        (table(6, big_blind_ante=2), "blinds and antes are 2.5 big blinds"),
        (table(6, fixed_bets=(2, 2, 4, 4)), "rules are not those"),
        (HandSetup(rules=table(6).rules, stacks=(200,) * 6, first_street=1, pot=10), "does not begin with the blinds"),
    ],
)
def test_tables_that_differ_too_much_are_refused(setup: HandSetup, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        translated(setup.start(), SIX)


def test_stacks_of_those_who_are_in_are_limited() -> None:
    def checked(stacks: tuple[int, ...], actions: str = "") -> None:
        check_stacks(played(replace(table(6), stacks=stacks), actions), SIX)

    checked((100, 400, 400, 5000, 200, 200))  # nobody can win more of the deepest than the second has
    checked((200, 200, 20, 200, 200, 200), "f")  # the short one has folded
    with pytest.raises(AgentError, match="less than 50 big blinds"):
        checked((200, 200, 20, 200, 200, 200))
    with pytest.raises(AgentError, match="two of those who are in have more than 200"):
        checked((200, 200, 600, 5000, 200, 200))
