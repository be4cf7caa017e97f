"""Flops that stand for all: those of the file, and how they are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.flop_subsets import SUBSETS, choose, equity_features, load_subset, texture_features
from aleator.errors import SolveError
from aleator.games.holdem.cards import HAND_CLASS_NAMES
from aleator.games.holdem.flops import all_flops, canonical_flop, flop_numbers

_SHARE = np.array([flop.times for flop in all_flops()]) / 22_100


@pytest.mark.parametrize("count", SUBSETS)
def test_subsets_have_the_textures_of_all_flops(count: int) -> None:
    """Shares of suits, pairing, connection and high cards to 1 in 100; drawing flops at random misses by 10 in 100."""
    subset = load_subset(count)
    weights = np.array([flop.weight for flop in subset])
    assert len({flop.cards for flop in subset}) == count and (weights > 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-4)
    assert all(canonical_flop(flop.cards).cards == flop.cards for flop in subset)
    features = texture_features(all_flops())
    rows = features[[flop_numbers()[flop.cards] for flop in subset]]
    np.testing.assert_allclose(weights @ rows, _SHARE @ features, atol=0.01)


def test_what_is_chosen_keeps_means_better_than_chance_does() -> None:
    rng = np.random.default_rng(0)
    features, counts = rng.normal(size=(300, 6)), rng.integers(1, 5, 300).astype(float)
    subset = choose(features, counts, 20, np.random.default_rng(1))
    assert len(subset.numbers) == 20 and subset.weights.sum() == pytest.approx(1)
    mean = counts @ features / counts.sum()
    own = np.abs(subset.weights @ features[subset.numbers] - mean).max()
    drawn = [np.abs(features[rng.choice(300, 20, False)].mean(axis=0) - mean).max() for _ in range(50)]
    assert own < 0.1 * np.mean(drawn)
    again = choose(features, counts, 20, np.random.default_rng(1))
    assert (again.numbers == subset.numbers).all()


def test_equities_on_a_flop_are_those_of_its_hands() -> None:
    rows = equity_features(canonical_flop((48, 44, 45))).reshape(169, 8)  # A K K
    kings, sevens = HAND_CLASS_NAMES.index("KK"), HAND_CLASS_NAMES.index("72o")
    assert (rows[kings] > 0.99).all()  # four of a kind
    assert rows[sevens, 7] < rows[sevens, 0]  # against the worst and the best hands


def test_there_is_no_subset_of_another_size() -> None:
    with pytest.raises(SolveError, match="not 26"):
        load_subset(26)
