"""Names of hands on a board, as players use them."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games.holdem.cards import blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.hand_types import DRAWS, MADE, NO_TYPE, hand_types


@pytest.mark.parametrize(
    ("board", "hand", "made"),
    [
        ("Ks 7h 2d", "KhQd", "top pair"), ("Ks 7h 2d", "7s6s", "second pair"), ("Ks 7h 2d", "Ah2s", "lower pair"),
        ("Ks 7h 2d", "AsAd", "overpair"),
        ("Ks 7h 2d", "QsQd", "underpair"), ("Ks 7h 2d", "3s3d", "underpair"), ("Ks 7h 2d", "AsQd", "ace high"),
        ("Ks 7h 2d", "QsJd", "nothing"),
        ("Ks 7h 2d", "KdKh", "three of a kind"), ("Ks 7h 2d", "Kd7d", "two pair"), ("Ks Kh 7d", "AsQd", "ace high"),
        ("Ks Kh 7d", "9s9d", "underpair"), ("Ks Kh 7d", "7s6s", "second pair"), ("Ks Kh 7d", "AsAd", "overpair"),
        ("Ks Kh 7d", "Kd2s", "three of a kind"), ("Ks Kh 7d", "7s7c", "full house"), ("Ks 7s 2s", "AsQs", "flush"),
        ("Ks Qh Jd", "AsTd", "straight"), ("As Kd Qh Jc Ts", "2c2d", "straight"),
        ("8s 8h 8d 8c", "2c2d", "four of a kind"), ("Ks Kh 7d 7c", "AsQd", "ace high"),
        ("Ks Kh 7d 7c", "QsQd", "underpair"), ("Ks 9h 7d 4c", "7h2d", "lower pair"),
        ("9s Ts Js", "QsKs", "straight flush"),
        ("Ks 9h 7d 7c", "Kd9d", "two pair"), ("Ks 9h 7d 7c", "Kd3d", "top pair"),
    ],
)  # fmt: skip
def test_made_hands(board: str, hand: str, made: str) -> None:
    assert MADE[hand_types(parse_cards(board))[0][parse_hand(hand)]] == made


@pytest.mark.parametrize(
    ("board", "hand", "draw"),
    [
        ("Ks 7s 2d", "AsQs", "flush draw"), ("Ks 7s 2s", "AsQd", "flush draw"), ("Ks 7s 2s 3s", "AdQd", "no draw"),
        ("9s 8h 2d", "JdTc", "open-ended draw"), ("9s 8h 2d", "QdJc", "gutshot"), ("9s 8h 2d", "QdTc", "gutshot"),
        ("9s 8s 2d", "JsTs", "combo draw"), ("2s 3h 4d", "AdKc", "gutshot"), ("9s 8h 7d", "JdTc", "no draw"),
        ("Qs Jh Td 9c", "2d2c", "no draw"), ("Qs Td 9c", "8d6c", "open-ended draw"),
        ("Ks 7h 2d", "QsJs", "backdoor flush draw"), ("Ks 7s 2d", "As3c", "backdoor flush draw"),
        ("Ks 7h 2d", "9c8c", "backdoor straight draw"), ("Ks 7h 2d", "Ac4c", "backdoor straight draw"),
        ("Ks 7h 2d", "Qc8c", "no draw"), ("Ks 7h 2d", "8c8d", "no draw"), ("Ks 7h 2d 2c", "QsJs", "no draw"),
        ("Ks 7s 2s", "QsJs", "no draw"),
    ],
)  # fmt: skip
def test_draws(board: str, hand: str, draw: str) -> None:
    assert DRAWS[hand_types(parse_cards(board))[1][parse_hand(hand)]] == draw


@pytest.mark.parametrize("board", ["Ks 7s 2d", "Ks 7s 2d 2c", "Ks 7s 2d 2c Kd"])
def test_every_hand_has_a_type_unless_it_is_blocked(board: str) -> None:
    cards = parse_cards(board)
    made, draws = hand_types(cards)
    assert np.array_equal(made == NO_TYPE, blocked_hands(cards))
    assert np.array_equal(draws == NO_TYPE, blocked_hands(cards) | (len(cards) == 5))
