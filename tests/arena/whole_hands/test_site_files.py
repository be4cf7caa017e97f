"""Hand histories of a poker site: what is read, and in words why the rest is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.arena.whole_hands.files import read_hands

HAND = """PokerStars Hand #2: Hold'em No Limit ($0.50/$1.00 USD) - 2020/01/01 00:00:00 ET
Table 'x' 2-max Seat #1 is the button
Seat 1: ann ($100.00 in chips)
Seat 2: bob ($100.00 in chips)
ann: posts small blind $0.50
bob: posts big blind $1.00
*** HOLE CARDS ***
Dealt to ann [As Ah]
ann: raises $2.00 to $3.00
bob: calls $2.00
*** FLOP *** [2c 3d 4h]
bob: checks
ann: bets $2.00
bob: calls $2.00
*** TURN *** [2c 3d 4h] [9s]
bob: checks
ann: checks
*** RIVER *** [2c 3d 4h 9s] [Td]
bob: checks
ann: checks
*** SHOW DOWN ***
bob: shows [Kc Kd] (a pair of Kings)
ann: shows [As Ah] (a pair of Aces)
ann collected $10.00 from pot
*** SUMMARY ***
Total pot $10.00 | Rake $0
Board [2c 3d 4h 9s Td]

"""
TOO_MUCH = ("ann: bets $2.00", "ann: bets $200.00")  # more than she has, so pokerkit refuses the hand


def read(path: Path, text: str) -> tuple[int, list[str]]:
    """Returns how many hands of a site's text are read, and why the others are not."""
    path.write_text(text)
    records, problems = read_hands(path)
    return len(records), [problem.partition(": ")[2] for problem in problems]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([("Hold'em No Limit", "Hold'em Limit")], "Hold'em Limit is not read, only Hold'em No Limit"),
        ([("Hold'em No Limit", "Omaha Hi/Lo Pot Limit")], "Omaha Hi/Lo Pot Limit is not read, only Hold'em No Limit"),
        (
            [("Hold'em No Limit (", "Tournament #5, $1+$0.10 USD 7 Card Stud Limit - Level I (")],
            "7 Card Stud Limit is not read, only Hold'em No Limit",
        ),
        ([("[9s]", "[As]")], "dealt twice: As"),
        ([("[9s]", "[As]"), ("9s]", "As]"), TOO_MUCH], "dealt twice: As"),
        ([("Kc Kd", "Kc Ah"), TOO_MUCH], "dealt twice: Ah"),
        ([TOO_MUCH], "pokerkit cannot read it: Unable to repair the hand history"),
        ([("Seat 2: bob ($100.00 in chips)\n", "")], "pokerkit cannot read it: nothing is known of 'bob'"),
    ],
)
def test_why_a_hand_is_not_read_is_said_in_words(changes: list[tuple[str, str]], reason: str, tmp_path: Path) -> None:
    hand = HAND
    for old, new in changes:
        assert old in hand
        hand = hand.replace(old, new)
    assert read(tmp_path / "site.txt", HAND + hand) == (1, [reason])


@pytest.mark.parametrize(
    "last", ["ann: bets $2.", "ann: raises $2.00", "*** TURN *** [2c 3d 4h] [9", "Hold'em N", "bob: ch"]
)
def test_a_hand_that_breaks_off_is_listed(last: str, tmp_path: Path) -> None:
    cut = HAND[: HAND.index(last) + len(last)]
    assert read(tmp_path / "site.txt", HAND + cut) == (1, ["the hand breaks off"])


@pytest.mark.parametrize("last", ["*** SHOW DOWN", "ann collected $1", "Total pot"])
def test_a_hand_is_read_that_lacks_only_what_follows_its_end(last: str, tmp_path: Path) -> None:
    assert read(tmp_path / "site.txt", HAND + HAND[: HAND.index(last) + len(last)]) == (2, [])


def test_antes_are_in_the_pot(tmp_path: Path) -> None:
    game = "Tournament #5, $10+$1 USD Hold'em No Limit - Level IV (0.50/1.00) - 2020"
    antes = "ann: posts the ante 0.10\nbob: posts the ante 0.10\nann: posts small blind"
    text = HAND.replace("$", "").replace("Hold'em No Limit (0.50/1.00 USD) - 2020", game)
    file = tmp_path / "hands.txt"
    file.write_text(text.replace("ann: posts small blind", antes))
    (record,), problems = read_hands(file)
    assert not problems and record.setup.rules.ante == 10 and record.setup.betting().pot == 170
    assert record.payoffs() == (-510, 510)
    file.write_text(text)
    (without,), _ = read_hands(file)
    assert without.payoffs() == (-500, 500)
