"""Cards, hands and hand classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.games.holdem.cards import (
    HAND_CLASS_NAMES,
    HAND_CLASSES,
    HAND_MASKS,
    HANDS,
    NUM_HANDS,
    RANKS,
    SUITS,
    CardError,
    blocked_hands,
    check_cards,
    columns_of,
    format_card,
    format_cards,
    format_hand,
    hand_index,
    parse_card,
    parse_cards,
    parse_hand,
)


def test_card_is_four_ranks_plus_suit() -> None:
    names = [rank + suit for rank in RANKS for suit in SUITS]
    assert [parse_card(name) for name in names] == list(range(52))
    assert [format_card(card) for card in range(52)] == names
    assert (parse_card("2c"), parse_card("Td"), parse_card("As")) == (0, 33, 51)


@pytest.mark.parametrize("text", ["As Kh 2c", "AsKh2c", "as,kh,2C", " As\tKh\n2c ", "As Kh2c"])
def test_parse_cards_accepts_the_usual_spellings(text: str) -> None:
    assert parse_cards(text) == (51, 46, 0)
    assert format_cards(parse_cards(text)) == "As Kh 2c"


def test_blank_text_is_no_cards() -> None:
    assert parse_cards(" ") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("As Kx", ["'x'", "'Kx'", "cdhs"]),
        ("As 1h", ["'1'", "'1h'", "23456789TJQKA"]),
        ("As 10h", ["'1'", "'10'"]),
        ("AsK", ["'K'", "like As"]),
        ("As Kh As", ["'As'", "twice"]),
    ],
)
def test_parse_cards_names_the_bad_token(text: str, words: list[str]) -> None:
    with pytest.raises(CardError) as error:
        parse_cards(text)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("card", [-1, 52])
def test_a_number_outside_the_deck_is_no_card(card: int) -> None:
    with pytest.raises(CardError, match=f"{card} is not a card"):
        format_card(card)
    with pytest.raises(CardError, match=f"{card} is not a card"):
        check_cards([0, card])
    with pytest.raises(CardError, match=f"{card} is not a card"):
        hand_index(np.array([3, card]), 7)


def test_hands_are_all_pairs_of_cards_in_the_documented_order() -> None:
    assert HANDS.shape == (1326, 2)
    assert HANDS.dtype == np.int8
    assert [format_hand(hand) for hand in (0, 1, 2, 3, 1325)] == ["2d2c", "2h2c", "2h2d", "2s2c", "AsAh"]
    assert {tuple(sorted(pair)) for pair in HANDS.tolist()} == set(combinations(range(52), 2))
    high, low = HANDS[:, 0].astype(int), HANDS[:, 1].astype(int)
    assert (high > low).all()
    assert (high * (high - 1) // 2 + low == np.arange(1326)).all()


def test_hand_index_inverts_the_table_in_either_order() -> None:
    assert (hand_index(HANDS[:, 0], HANDS[:, 1]) == np.arange(1326)).all()
    assert (hand_index(HANDS[:, 1], HANDS[:, 0]) == np.arange(1326)).all()
    assert hand_index(np.arange(1, 52)[:, None], np.zeros((1, 3), dtype=np.uint8)).shape == (51, 3)


def test_hand_index_rejects_a_hand_of_one_card_twice() -> None:
    with pytest.raises(CardError, match="KhKh is not a hand"):
        hand_index([1, 46], [2, 46])
    with pytest.raises(CardError, match="must be integers"):
        hand_index([1.5], [2.0])


@settings(deadline=None)
@given(st.integers(0, 1325))
def test_hand_text_round_trips(hand: int) -> None:
    text = format_hand(hand)
    assert parse_hand(text) == parse_hand(text[2:] + " " + text[:2]) == hand


def test_hand_errors() -> None:
    with pytest.raises(CardError, match="'AsKhQd' is not a hand"):
        parse_hand("AsKhQd")
    with pytest.raises(CardError, match="1326 is not a hand"):
        format_hand(1326)


def test_classes_are_the_grid_that_players_draw() -> None:
    grid = np.array(HAND_CLASS_NAMES).reshape(13, 13)
    assert grid[0, :3].tolist() == ["AA", "AKs", "AQs"]
    assert grid[:3, 0].tolist() == ["AA", "AKo", "AQo"]
    assert grid.diagonal().tolist() == [2 * rank for rank in reversed(RANKS)]
    assert grid[12, 11] == "32o"
    assert grid[11, 12] == "32s"
    assert len(set(HAND_CLASS_NAMES)) == 169


def test_class_of_each_hand() -> None:
    sizes = np.bincount(HAND_CLASSES, minlength=169)
    for name, size in zip(HAND_CLASS_NAMES, sizes, strict=True):
        assert size == {"": 6, "s": 4, "o": 12}[name[2:]]
    for text, name in [("AsKs", "AKs"), ("AsKh", "AKo"), ("KhAs", "AKo"), ("7d7c", "77"), ("2c3d", "32o")]:
        assert HAND_CLASS_NAMES[HAND_CLASSES[parse_hand(text)]] == name


@pytest.mark.parametrize(("board", "free"), [("", 1326), ("As", 1275), ("3s7hTd", 1176), ("3s7hTdKs2c", 1081)])
def test_blocked_hands_hold_a_board_card(board: str, free: int) -> None:
    cards = parse_cards(board)
    blocked = blocked_hands(cards)
    assert np.count_nonzero(~blocked) == free  # C(52 - K, 2)
    assert all(flag == bool(set(pair) & set(cards)) for flag, pair in zip(blocked, HANDS.tolist(), strict=True))


def test_blocked_hands_rejects_a_board_with_a_card_twice() -> None:
    with pytest.raises(CardError, match="As comes twice in As As"):
        blocked_hands([51, 51])


def test_masks_have_the_cards_of_hands() -> None:
    assert [int(mask) for mask in HAND_MASKS] == [1 << int(high) | 1 << int(low) for high, low in HANDS]


def test_columns_of_hands() -> None:
    columns = columns_of(np.array([[3, 7, 0], [1325, 3, 4]]))
    assert columns.shape == (2, NUM_HANDS) and (columns >= 0).sum() == 6
    assert columns[0, [3, 7, 0]].tolist() == columns[1, [1325, 3, 4]].tolist() == [0, 1, 2]


def test_tables_cannot_be_changed() -> None:
    for table in (HANDS, HAND_MASKS, HAND_CLASSES):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
