"""Hands in words agree with what they are."""

from __future__ import annotations

import pytest

from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_name import hand_name


@pytest.mark.parametrize(
    ("hand", "board", "name"),
    [
        ("AsKs", "", "ace-king suited"),
        ("7d2c", "", "seven-two offsuit"),
        ("6h6s", "", "a pair of sixes"),
        ("AsKd", "7h 4c 2d", "ace high"),
        ("AsKd", "Kh 4c 2d", "a pair of kings"),
        ("Ks7d", "Kh 7c 2d 2s", "two pair, kings and sevens"),
        ("7s7d", "Kh 7c 2d 3s", "three sevens"),
        ("As5d", "4h 3c 2d", "a straight to the five"),
        ("Ts9d", "8h 7c 6d 2s Jc", "a straight to the jack"),
        ("As2s", "9s 7s 3s Kd", "a flush, ace high"),
        ("KsKd", "Kh 7c 7d 2s 2c", "a full house, kings full of sevens"),
        ("KsKd", "Kh Kc 7d 2s", "four kings"),
        ("5h4h", "3h 2h Ah Kc", "a straight flush to the five"),
        ("AhKh", "Qh Jh Th 9h 2c", "a royal flush"),
    ],
)
def test_names(hand: str, board: str, name: str) -> None:
    assert hand_name(parse_hand(hand), parse_cards(board)) == name
