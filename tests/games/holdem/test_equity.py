from __future__ import annotations

import numpy as np
import pytest

from aleator.games.holdem.cards import HANDS, NUM_HANDS, blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.equity import (
    NUM_PREFLOP_RUNOUTS,
    BoardShowdowns,
    hand_strengths,
    pair_equities,
    preflop_equities,
    representatives,
    showdown_rows,
)
from aleator.games.holdem.evaluator import strengths


def compatible() -> np.ndarray:
    return ~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))


def test_preflop_equities_are_the_published_ones() -> None:
    # "Caro's"/cardplayer odds of all-in hands, two decimals: AA-KK of other suits 81.26 %, AKs-22 50.08 % to the
    # deuces...
    table = preflop_equities()
    assert round(100 * float(table[parse_hand("AsAh"), parse_hand("KdKc")]), 2) == 81.26
    assert round(100 * float(table[parse_hand("AsAh"), parse_hand("KsKh")]), 2) == 82.64
    assert round(100 * float(table[parse_hand("2c2d"), parse_hand("AsKs")]), 2) == 49.92
    both = table + table.T
    assert (both[compatible()] == 1.0).all() and (both[~compatible()] == 0.0).all()


def test_a_random_hand_before_the_flop_beats_a_random_hand_half_of_the_time() -> None:
    found = hand_strengths(np.array([], dtype=np.int64))
    assert found.mean() == pytest.approx(0.5, abs=1e-9)
    assert found[parse_hand("AsAh")] == pytest.approx(0.8520, abs=5e-5)  # the usual table of hands against a random one
    assert found[parse_hand("3c2d")] == pytest.approx(0.3230, abs=5e-4)


@pytest.mark.parametrize("text", ["Ah7c2d", "Ah7c2d9s", "Ah7c2d9sTs"])
def test_rows_are_sums_over_pairs(text: str) -> None:
    rng = np.random.default_rng(1)
    board = np.array(parse_cards(text))
    alive = ~blocked_hands(board)
    reach = np.where(alive, rng.random((2, NUM_HANDS)), 0.0)
    won, met = showdown_rows(board, reach)
    for hand in rng.choice(np.flatnonzero(alive), 4, replace=False):
        others = np.flatnonzero(alive & compatible()[hand])
        pairs = np.stack([np.full(len(others), hand), others], axis=1)
        equities = pair_equities(pairs, np.tile(board, (len(others), 1)))
        np.testing.assert_allclose(won[:, hand], reach[:, others] @ equities, rtol=1e-9)
        np.testing.assert_allclose(met[:, hand], reach[:, others].sum(axis=1), rtol=1e-9)
    assert not won[:, ~alive].any() and not met[:, ~alive].any()


@pytest.mark.parametrize("text", ["7h Td Ks", "7h Td Ks 2c"])
def test_a_matrix_of_showdowns_gives_the_same_rows(text: str) -> None:
    board = np.array(parse_cards(text), np.int8)
    reach = np.random.default_rng(0).uniform(size=(2, NUM_HANDS)) * ~blocked_hands(board)
    reach[1, :700] = 0.0
    for one, other in zip(BoardShowdowns(board).rows(reach), showdown_rows(board, reach), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_rows_before_the_flop_are_sums_over_pairs() -> None:
    reach = np.random.default_rng(2).random((3, NUM_HANDS))
    won, met = showdown_rows(np.array([], dtype=np.int64), reach)
    np.testing.assert_allclose(won, reach @ preflop_equities().T.astype(np.float64), rtol=1e-5)
    np.testing.assert_allclose(met, reach @ compatible(), rtol=1e-9)


def test_strengths_on_a_board_count_who_is_behind() -> None:
    board = np.array(parse_cards("Ah7c2d"))
    found, strong = hand_strengths(board), strengths(board)
    for hand in (parse_hand("AsAd"), parse_hand("KsQd"), parse_hand("8c3s")):
        others = np.flatnonzero((strong >= 0) & compatible()[hand])
        points = (strong[hand] > strong[others]) + 0.5 * (strong[hand] == strong[others])
        assert found[hand] == pytest.approx(points.mean(), abs=1e-12)
    assert found[parse_hand("AhKs")] == 0.0


@pytest.mark.slow
def test_the_table_is_what_counting_gives() -> None:
    from aleator.games.holdem.preflop_table import count_wins

    counts = count_wins()
    np.testing.assert_array_equal((counts + counts.T)[compatible()], 2 * NUM_PREFLOP_RUNOUTS)
    table = (counts[representatives()] / (2 * NUM_PREFLOP_RUNOUTS)).astype(np.float32)
    np.testing.assert_array_equal(table, preflop_equities()[representatives()])
