"""The evaluator against phevaluator, pokerkit and the known frequencies of poker hands."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phevaluator import evaluate_cards  # type: ignore[import-untyped]
from pokerkit import StandardHighHand

from aleator.games.holdem.cards import HANDS, CardError, blocked_hands, format_cards, parse_cards
from aleator.games.holdem.evaluator import (
    NUM_STRENGTHS,
    Category,
    EvaluatorTables,
    categories,
    category,
    evaluate,
    evaluator_tables,
    strength_of,
    strengths,
)
from aleator.jit import njit

Hands = npt.NDArray[np.int8]

# https://en.wikipedia.org/wiki/Poker_probability: five-card hands by category, weakest first.
FIVE_CARD_HANDS = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]


@pytest.fixture(scope="module")
def five_card_hands() -> Hands:
    """All hands of five cards, int8 [2598960, 5]."""
    flat = np.fromiter((card for hand in combinations(range(52), 5) for card in hand), dtype=np.int8)
    return flat.reshape(-1, 5)


def random_hands(number: int, size: int, seed: int) -> Hands:
    """Random hands of distinct cards, int8 [number, size]."""
    keys = np.random.default_rng(seed).random((number, 52), dtype=np.float32)
    return np.argpartition(keys, size, axis=1)[:, :size].astype(np.int8)


def phevaluator_strengths(hands: Hands) -> npt.NDArray[np.int64]:
    """Strengths by phevaluator, whose ranks run from 1 (royal flush) to 7462 and whose cards are numbered like ours."""
    return NUM_STRENGTHS - np.fromiter((evaluate_cards(*hand) for hand in hands.tolist()), dtype=np.int64)


def strength(text: str) -> int:
    return int(evaluate(np.array([parse_cards(text)]))[0])


def test_frequencies_of_five_card_hands(five_card_hands: Hands) -> None:
    result = evaluate(five_card_hands)
    assert result.dtype == np.int32
    assert np.bincount(categories(result)).tolist() == FIVE_CARD_HANDS
    assert (np.bincount(result, minlength=NUM_STRENGTHS) > 0).all()
    assert result.max() == NUM_STRENGTHS - 1


def test_five_cards_agree_with_phevaluator_on_a_sample(five_card_hands: Hands) -> None:
    sample = five_card_hands[np.random.default_rng(1).choice(len(five_card_hands), 100_000, replace=False)]
    assert (evaluate(sample) == phevaluator_strengths(sample)).all()


@pytest.mark.slow
def test_five_cards_agree_with_phevaluator_on_all_hands(five_card_hands: Hands) -> None:
    assert (evaluate(five_card_hands) == phevaluator_strengths(five_card_hands)).all()


@pytest.mark.parametrize("size", [6, 7])
def test_six_and_seven_cards_agree_with_phevaluator_on_a_sample(size: int) -> None:
    sample = random_hands(50_000, size, seed=size)
    assert (evaluate(sample) == phevaluator_strengths(sample)).all()


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
def test_six_and_seven_cards_agree_with_phevaluator_on_a_million_hands(size: int) -> None:
    sample = random_hands(1_000_000, size, seed=10 + size)
    assert (evaluate(sample) == phevaluator_strengths(sample)).all()


@pytest.mark.parametrize("size", [5, 7])
def test_pokerkit_ranks_hands_in_the_same_order(size: int) -> None:
    sample = random_hands(2_000, size, seed=20 + size)
    ours = evaluate(sample)
    theirs = [StandardHighHand.from_game(format_cards(hand, separator="")) for hand in sample]
    order = np.argsort(ours, kind="stable")
    for first, second in pairwise(order):
        assert (theirs[first] == theirs[second]) == (ours[first] == ours[second])
        assert (theirs[first] < theirs[second]) == (ours[first] < ours[second])
    labels = [theirs[i].entry.label.value.lower() for i in range(len(sample))]
    names = {"one pair": "pair"}
    assert [category(int(value)).label for value in ours] == [names.get(label, label) for label in labels]


def test_six_and_seven_cards_are_as_strong_as_their_best_five() -> None:
    for size in (6, 7):
        hands = random_hands(20_000, size, seed=30 + size)
        best = np.max([evaluate(hands[:, list(five)]) for five in combinations(range(size), 5)], axis=0)
        assert (evaluate(hands) == best).all()


@pytest.mark.parametrize(
    ("text", "expected", "label"),
    [
        ("As Ks Qs Js Ts", 7461, "straight flush"),
        ("5s 4s 3s 2s As", 7452, "straight flush"),
        ("As Ah Ad Ac Ks", 7451, "four of a kind"),
        ("2s 2h 2d 3c 3s", 7140, "full house"),
        ("As Ks Qs Js 9s", 7139, "flush"),
        ("7s 5s 4s 3s 2s", 5863, "flush"),
        ("As Ks Qs Js Th", 5862, "straight"),
        ("5s 4s 3s 2s Ah", 5853, "straight"),
        ("As Ah Ad Kc Qs", 5852, "three of a kind"),
        ("2s 2h 3d 3c 4s", 4137, "two pair"),
        ("2s 2h 3d 4c 5s", 1277, "pair"),
        ("As Ks Qs Js 9h", 1276, "high card"),
        ("7s 5s 4s 3s 2h", 0, "high card"),
        ("As Ks Qs Js Ts 9s 8s", 7461, "straight flush"),
        ("Ah Ad Ac Ks Kd Kc 2s", "Ah Ad Ac Ks Kd", "full house"),
        ("2c 2d 3c 3d 4c 4d 5s", "3c 3d 4c 4d 5s", "two pair"),
        ("Ac 2d 3h 4s 5c 6d 9h", "2d 3h 4s 5c 6d", "straight"),
    ],
)
def test_known_hands(text: str, expected: int | str, label: str) -> None:
    assert strength(text) == (strength(expected) if isinstance(expected, str) else expected)
    assert category(strength(text)).label == label


@settings(deadline=None)
@given(st.permutations(range(52)), st.sampled_from([5, 6, 7]), st.permutations(range(4)), st.randoms())
def test_order_of_cards_and_names_of_suits_do_not_matter(deck: list[int], size: int, suits: list[int], rng) -> None:  # type: ignore[no-untyped-def]
    hand = deck[:size]
    renamed = [card - card % 4 + suits[card % 4] for card in hand]
    rng.shuffle(renamed)
    first, second = evaluate(np.array([hand, renamed], dtype=np.int8))
    assert first == second


def test_integer_types_and_layouts_give_the_same() -> None:
    hands = random_hands(1000, 7, seed=40)
    expected = evaluate(hands)
    for dtype in (np.uint8, np.int16, np.int64):
        assert (evaluate(hands.astype(dtype)) == expected).all()
    assert (evaluate(np.asfortranarray(hands)) == expected).all()
    assert evaluate(hands[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("row", "dtype"),
    [
        ([0, 1, 2, 3, 52], np.int8),
        ([0, 1, 2, 3, -1], np.int8),
        ([0, 1, 2, 3, 64], np.int8),
        ([0, 1, 2, 3, 200], np.uint8),
        ([0, 1, 2, 3, 256], np.int64),
        ([0, 1, 2, 3, 3], np.int8),
        ([51, 51, 51, 51, 51], np.int16),
    ],
)
def test_evaluate_names_the_row_that_is_not_a_hand(row: list[int], dtype: type) -> None:
    with pytest.raises(CardError) as error:
        evaluate(np.array([[0, 1, 2, 3, 4], row, row], dtype=dtype))
    assert f"row 1, {row}, is not a hand" in str(error.value)


@pytest.mark.parametrize("cards", [np.zeros((2, 4), int), np.zeros((2, 8), int), np.zeros(5, int), np.zeros((1, 5))])
def test_evaluate_names_a_wrong_shape_or_type(cards: npt.NDArray[np.int64]) -> None:
    with pytest.raises(CardError, match=r"integers \[N, 5..7\]"):
        evaluate(cards)


@pytest.mark.parametrize("board", ["3s 7h Td", "3s 7s Ts Ks", "3s 7h Td Ks 2c", "Ts Js Qs Ks As", "2s 2h 2d 2c 9s"])
def test_strengths_on_a_board(board: str) -> None:
    cards = parse_cards(board)
    result = strengths(cards)
    free = ~blocked_hands(cards)
    together = np.concatenate([np.tile(np.array(cards), (int(free.sum()), 1)), HANDS[free]], axis=1)
    assert result.shape == (1326,)
    assert result.dtype == np.int16
    assert (result[free] == evaluate(together)).all()
    assert (result[~free] == -1).all()
    assert (strengths(cards, HANDS[::-1]) == result[::-1]).all()


def test_strengths_errors() -> None:
    with pytest.raises(CardError, match="has 2 cards; 3 to 5"):
        strengths([0, 1])
    with pytest.raises(CardError, match="twice"):
        strengths([0, 1, 1])
    with pytest.raises(CardError, match=r"row 1, \[7, 7\], is not a hand"):
        strengths([0, 1, 2], np.array([[5, 6], [7, 7]]))
    with pytest.raises(CardError, match=r"integers \[H, 2\]"):
        strengths([0, 1, 2], np.array([5, 6]))


def test_strength_of_serves_other_kernels() -> None:
    hands = random_hands(2000, 7, seed=50)
    result = np.zeros(len(hands), dtype=np.int16)
    _fill_strengths(hands, evaluator_tables(), result)
    assert (result == evaluate(hands)).all()


@njit(cache=False)
def _fill_strengths(hands: Hands, tables: EvaluatorTables, result: npt.NDArray[np.int16]) -> None:
    for i in range(len(hands)):
        result[i] = strength_of(hands[i], tables)


def test_tables_are_small_and_have_one_cell_per_multiset_of_ranks() -> None:
    tables = evaluator_tables()
    assert sum(table.nbytes for table in tables) < 400_000
    cells = tables.strength[: len(tables.strength) - 8192]
    assert len(cells) == 6_175 + 18_395 + 49_205  # multisets of 5, 6 and 7 ranks, none more than four times
    assert cells.min() == 0
    assert evaluator_tables() is tables


def test_categories() -> None:
    values = np.arange(NUM_STRENGTHS)
    assert [category(int(value)) for value in values] == categories(values).tolist()
    assert np.bincount(categories(values)).tolist() == [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]
    assert categories(np.array([-1, 0])).tolist() == [-1, 0]
    assert Category.THREE_OF_A_KIND.label == "three of a kind"
    for value in (-1, NUM_STRENGTHS):
        with pytest.raises(ValueError, match=f"{value} is not a strength"):
            category(value)
