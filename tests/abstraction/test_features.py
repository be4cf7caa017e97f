from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from aleator.abstraction.boards import all_boards, hand_map
from aleator.abstraction.features import BINS, GROUPS, STEPS, count_runouts, opponent_groups
from aleator.games.holdem.cards import HANDS, NUM_HANDS, blocked_hands, parse_cards
from aleator.games.holdem.equity import pair_equities, showdown_rows
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.suits import CARD_MAPS, HAND_MAPS
from tests.abstraction.plain_features import cumulated, equities, ochs


def cards(text: str) -> np.ndarray:
    return np.array(parse_cards(text), np.int8)


@pytest.mark.parametrize("text", ["Ah7c2d9s", "Ah7c2d9sTs"])
def test_equities_and_ochs_are_those_pair_by_pair(text: str) -> None:
    board = cards(text)
    alive, groups = ~blocked_hands(board), opponent_groups()
    won, met, bins = count_runouts(board, 5)
    every, faced = showdown_rows(board, alive[None].astype(np.float64))
    np.testing.assert_allclose(equities(won, met)[alive], (every / np.maximum(faced, 1))[0, alive], rtol=1e-12)
    assert (bins.sum(axis=1)[alive] == (46 if len(board) == 4 else 1)).all() and not bins[~alive].any()
    hand = int(np.flatnonzero(alive)[600])
    for group in range(GROUPS):
        others = np.flatnonzero(alive & (groups == group) & ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2)))
        pairs = np.stack([np.full(len(others), hand), others], axis=1)
        mean = pair_equities(pairs, np.tile(board, (len(others), 1))).mean()
        assert ochs(won, met)[hand, group] == np.floor(STEPS["ochs"] * mean + 0.5)


def test_histograms_have_the_equity_of_each_runout() -> None:
    board = cards("Ah7c2d9s")
    _, _, bins = count_runouts(board, 5)
    hand = int(np.flatnonzero(~blocked_hands(board))[321])
    expected = np.zeros(BINS, int)
    for river in range(52):
        longer = np.append(board, np.int8(river))
        if river in board or river in HANDS[hand]:
            continue
        strength = strengths(longer)
        met = (strength >= 0) & ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
        points = 2 * (strength[met] < strength[hand]).sum() + (strength[met] == strength[hand]).sum()
        expected[min(points * BINS // (2 * met.sum()), BINS - 1)] += 1
    np.testing.assert_array_equal(bins[hand], expected)


def test_games_that_end_on_the_flop_compare_five_cards() -> None:
    board = cards("Ah7c2d")
    won, met, _ = count_runouts(board, 3)
    aces = int(np.flatnonzero((HANDS == [51, 49]).all(axis=1))[0])  # As Ad, with the ace on board a set: the nuts
    assert equities(won, met)[aces] == 1.0


def test_groups_are_eighths_of_all_hands_by_equity() -> None:
    groups = opponent_groups()
    counts = np.bincount(groups)
    assert len(counts) == GROUPS and counts.max() - counts.min() < 40
    assert groups[NUM_HANDS - 1] == 7  # AsAh


def test_sums_of_differences_are_earth_mover_s_distances() -> None:
    rng = np.random.default_rng(0)
    points = np.sort(rng.random(30))
    counts = rng.integers(0, 5, (20, 30))
    rows = cumulated(counts, points)
    for one, other in rng.integers(0, 20, (30, 2)):
        expected = wasserstein_distance(points, points, counts[one], counts[other])
        assert np.abs(rows[one] - rows[other]).sum() / STEPS["potential"] == pytest.approx(expected, abs=1e-5)


def test_no_distance_between_whole_numbers_is_rounded() -> None:
    """Sums of float32 are exact up to 2^24, in any order: the largest distance that two hands can have stays below."""
    assert STEPS["equity"] ** 2 <= 2**24 and GROUPS * STEPS["ochs"] ** 2 <= 2**24
    rng = np.random.default_rng(7)
    for feature, points in (("histogram", (np.arange(BINS) + 0.5) / BINS), ("potential", np.sort(rng.random(200)))):
        worst, best = np.zeros((2, len(points)), int)
        worst[0] = best[-1] = 47
        rows = cumulated(np.stack((worst, best)), points, feature)
        assert (rows == np.floor(rows)).all()
        assert rows.astype(np.float64).sum(axis=1).max() <= 2**23


def test_hands_that_are_the_same_up_to_suits_have_the_same_features() -> None:
    board = cards("Ah7c2hJc")
    won, met, bins = count_runouts(board, 5)
    for renaming in (3, 11, 22):
        others = count_runouts(CARD_MAPS[renaming][board], 5)
        for one, other in zip((won, met, bins), others, strict=True):
            rows = other[HAND_MAPS[renaming]]
            if one is bins:
                np.testing.assert_array_equal(one, rows)
            np.testing.assert_array_equal(one.sum(axis=1), rows.sum(axis=1))


@pytest.mark.parametrize("street", [1, 2])
def test_a_board_s_row_is_that_of_its_class(street: int) -> None:
    boards = all_boards(street)
    for row in range(0, len(boards), len(boards) // 20):
        found, numbers = hand_map(boards[row])
        assert found == row
        blocked = blocked_hands(boards[row])
        np.testing.assert_array_equal(blocked[numbers], blocked)
        renamed = CARD_MAPS[17][boards[row]]
        found, numbers = hand_map(renamed)
        assert found == row
        np.testing.assert_array_equal(blocked[numbers], blocked_hands(renamed))
