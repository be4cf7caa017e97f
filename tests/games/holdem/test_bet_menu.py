from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleator.games.holdem.bet_menu import (
    IP,
    OOP,
    BetMenu,
    BetSize,
    BetSizeError,
    PlayerSizes,
    Situation,
    SizeKind,
    geometric_fraction,
    parse_size,
    parse_sizes,
    round_half_up,
)

FLOP, TURN, RIVER = 1, 2, 3
FIRST_BET = Situation(pot=100, faced=0, min_to=1, max_to=1_000, num_raises=0, streets_left=1)
FACING_50 = Situation(pot=200, faced=50, min_to=100, max_to=1_000, num_raises=1, streets_left=1)


def amounts(sizes: list[str], situation: Situation, **options: float) -> tuple[int, ...]:
    menu = BetMenu.uniform(bets=sizes if not situation.faced else [], raises=sizes if situation.faced else [])
    return replace(menu, **options).amounts(RIVER, OOP, situation)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("50%", BetSize(SizeKind.POT, Fraction(1, 2))),
        ("112.5%", BetSize(SizeKind.POT, Fraction(9, 8))),
        (".5%", BetSize(SizeKind.POT, Fraction(1, 200))),
        (" 2.5X ", BetSize(SizeKind.PREVIOUS, Fraction(5, 2))),
        ("geometric", BetSize(SizeKind.GEOMETRIC)),
        ("Geo", BetSize(SizeKind.GEOMETRIC)),
        ("e", BetSize(SizeKind.GEOMETRIC)),
        ("2e", BetSize(SizeKind.GEOMETRIC, Fraction(2))),
        ("all-in", BetSize(SizeKind.ALL_IN)),
        ("allin", BetSize(SizeKind.ALL_IN)),
        ("A", BetSize(SizeKind.ALL_IN)),
        ("120c", BetSize(SizeKind.CHIPS, Fraction(120))),
    ],
)
def test_sizes_are_read(text: str, size: BetSize) -> None:
    assert parse_size(text) == size
    assert parse_size(str(size)) == size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write"),
        ("50", 'write "50%" of the pot or "50c" for chips'),
        ("-50%", "write"),
        ("50 %", "write"),
        ("pot", "write"),
        ("0%", "positive"),
        ("0e", "positive"),
        ("1x", "above 1"),
        ("1.5e", "whole"),
        ("1.5c", "whole"),
    ],
)
def test_malformed_sizes_name_themselves(text: str, message: str) -> None:
    with pytest.raises(BetSizeError, match=message) as caught:
        parse_size(text)
    assert repr(text) in str(caught.value)


def test_multiple_of_the_bet_faced_is_only_for_raises() -> None:
    with pytest.raises(BetSizeError, match="only raises"):
        parse_size("2.5x", is_raise=False)
    with pytest.raises(BetSizeError, match="only raises"):
        PlayerSizes(donks=parse_sizes(["3x"]))


@given(st.integers(1, 10**6), st.sampled_from(["%", "x", "e", "c"]), st.integers(0, 4))
def test_sizes_are_printed_back(number: int, mark: str, digits: int) -> None:
    value = Fraction(number, 10 ** (digits if mark in "%x" else 0))
    if mark == "x" and value <= 1:
        value += 1
    size = BetSize(SizeKind(mark), value / 100 if mark == "%" else value)
    assert parse_size(str(size)) == size


def test_halves_are_rounded_up() -> None:
    assert [round_half_up(Fraction(n, 2)) for n in range(6)] == [0, 1, 1, 2, 2, 3]
    assert round_half_up(2.5) == 3
    assert amounts(["50%"], FIRST_BET._replace(pot=5)) == (3,)


def test_percentages_are_exact() -> None:
    assert 0.29 * 50 < 14.5, "a float would be rounded down"
    assert amounts(["29%"], FIRST_BET._replace(pot=50)) == (15,)


def test_raise_of_a_pot_fraction_is_on_top_of_the_bet_faced() -> None:
    assert amounts(["75%"], FACING_50) == (50 + 150,)
    assert amounts(["100%"], FACING_50._replace(pot=201)) == (50 + 201,)


def test_multiple_of_the_bet_faced() -> None:
    assert amounts(["2.5x"], FACING_50) == (125,)
    assert amounts(["2.5x"], FACING_50._replace(faced=51)) == (128,)


def test_amounts_are_clamped_to_the_minimum_and_to_all_in() -> None:
    assert amounts(["10%"], FACING_50) == (100,)
    assert amounts(["1%"], FIRST_BET._replace(min_to=20)) == (20,)
    assert amounts(["2000%"], FIRST_BET) == (1_000,)


def test_equal_amounts_merge_and_come_out_ascending() -> None:
    assert amounts(["all-in", "1000%", "50%", "50c", "100%"], FIRST_BET) == (50, 100, 1_000)


def test_exact_amounts_below_the_minimum_are_left_out() -> None:
    assert amounts(["99c", "120c", "5000c"], FACING_50) == (120, 1_000)


def test_geometric_bets_are_all_in_after_their_streets() -> None:
    pot, stack = 200.0, 900.0
    fraction = geometric_fraction(stack / pot, 3)
    assert fraction == pytest.approx((10 ** (1 / 3) - 1) / 2)
    for _ in range(3):
        bet = fraction * pot
        pot, stack = pot + 2 * bet, stack - bet
    assert stack == pytest.approx(0)


def test_geometric_counts_the_streets_left_or_its_own_number() -> None:
    situation = FIRST_BET._replace(pot=200, max_to=900)
    assert amounts(["geo"], situation) == (900,)
    assert amounts(["geo"], situation._replace(streets_left=2)) == (round(100 * (10**0.5 - 1)),)
    assert amounts(["2e"], situation) == amounts(["geo"], situation._replace(streets_left=2))


def test_geometric_raises_lose_a_street_for_every_raise_before() -> None:
    facing = Situation(pot=600, faced=200, min_to=400, max_to=2_600, num_raises=1, streets_left=2)
    assert amounts(["geo"], facing) == (200 + 600,), "(1 + 2r)^2 = 1 + 2 * 2400 / 600 = 9, so r = 1"
    assert amounts(["geo"], facing._replace(num_raises=2)) == (2_600,)
    assert amounts(["geo"], facing._replace(num_raises=5)) == (2_600,)


def test_all_in_threshold_adds_all_in_to_menus_that_are_not_empty() -> None:
    assert amounts(["50%"], FIRST_BET, all_in_threshold=10) == (50, 1_000)
    assert amounts(["50%"], FIRST_BET, all_in_threshold=9.99) == (50,)
    assert amounts(["50%"], FACING_50, all_in_threshold=4.75) == (150, 1_000)
    assert amounts(["50%"], FACING_50, all_in_threshold=4.74) == (150,)
    assert amounts([], FIRST_BET, all_in_threshold=10) == ()


def test_force_all_in_threshold_takes_the_little_that_would_be_left() -> None:
    # a bet of 400 makes a pot of 900 with 600 behind
    assert amounts(["400%"], FIRST_BET, force_all_in_threshold=0.66) == (400,)
    assert amounts(["400%"], FIRST_BET, force_all_in_threshold=0.67) == (1_000,)
    # a raise to 400 makes a pot of 200 + 2 * 350 with 600 behind
    assert amounts(["400c"], FACING_50, force_all_in_threshold=0.66) == (400,)
    assert amounts(["400c"], FACING_50, force_all_in_threshold=0.67) == (1_000,)


def test_merge_threshold_drops_sizes_close_to_a_larger_one() -> None:
    # (1 + 1) / (1 + 0.8) = 1.111, (1 + 1) / (1 + 0.85) = 1.081
    assert amounts(["80%", "100%"], FIRST_BET, merge_threshold=0.1) == (80, 100)
    assert amounts(["85%", "100%"], FIRST_BET, merge_threshold=0.1) == (100,)
    assert amounts(["60%", "100%"], FIRST_BET, merge_threshold=0.25) == (60, 100), "(1 + 1) / (1 + 0.6) = 1.25"
    # each is compared with the last one kept, not with its neighbour: 92 goes, 85 is kept against 100
    assert amounts(["85%", "92%", "100%"], FIRST_BET, merge_threshold=0.08) == (85, 100)


def test_cap_leaves_no_raise() -> None:
    menu = BetMenu.uniform(bets=["50%"], raises=["100%"], max_raises=2)
    assert menu.amounts(FLOP, IP, FACING_50) == (250,)
    assert menu.amounts(FLOP, IP, FACING_50._replace(num_raises=2)) == ()


def test_sizes_are_per_street_position_and_situation() -> None:
    oop = PlayerSizes(bets=parse_sizes(["10%"]), raises=parse_sizes(["100%"]), donks=parse_sizes(["20%"]))
    ip = PlayerSizes(bets=parse_sizes(["30%"]))
    menu = BetMenu(turn=(oop, ip))
    assert menu.amounts(TURN, OOP, FIRST_BET) == (10,)
    assert menu.amounts(TURN, OOP, FIRST_BET, is_donk=True) == (20,)
    assert menu.amounts(TURN, OOP, FACING_50) == (250,)
    assert menu.amounts(TURN, IP, FIRST_BET) == (30,)
    assert menu.amounts(TURN, IP, FACING_50) == ()
    assert menu.amounts(RIVER, OOP, FIRST_BET) == ()


def test_absent_donks_are_as_bets_and_empty_ones_check() -> None:
    sizes = PlayerSizes(bets=parse_sizes(["10%"]))
    for donks, expected in ((None, (10,)), ((), ())):
        menu = BetMenu(river=(replace(sizes, donks=donks), sizes))
        assert menu.amounts(RIVER, OOP, FIRST_BET, is_donk=True) == expected


@pytest.mark.parametrize("options", [{"max_raises": 0}, {"all_in_threshold": -1.0}, {"merge_threshold": float("nan")}])
def test_impossible_menus_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(BetSizeError, match=next(iter(options))):
        BetMenu(**options)  # type: ignore[arg-type]
