"""Bets that a tree lacks: the axioms of Ganzfried and Sandholm (2013), their example, and the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleator.abstraction.translation import (
    TRANSLATIONS,
    Translation,
    linear,
    nearest,
    parse_translation,
    pseudo_harmonic,
    rounded_pseudo_harmonic,
    translate,
)
from aleator.errors import AgentError

SIZES = st.tuples(st.floats(0.0, 5.0), st.floats(0.01, 20.0)).map(lambda pair: (pair[0], pair[0] + pair[1]))
RANDOMISED = (pseudo_harmonic, linear)


@given(sizes=SIZES)
@pytest.mark.parametrize("translation", TRANSLATIONS.values())
def test_a_size_of_the_tree_is_taken_for_itself(translation: Translation, sizes: tuple[float, float]) -> None:
    small, large = sizes
    assert translation(small, large, small) == pytest.approx(1.0)
    assert translation(small, large, large) == pytest.approx(0.0)


@given(sizes=SIZES, first=st.floats(0.0, 1.0), second=st.floats(0.0, 1.0))
@pytest.mark.parametrize("translation", TRANSLATIONS.values())
def test_larger_bets_are_taken_for_the_smaller_size_less_often(
    translation: Translation, sizes: tuple[float, float], first: float, second: float
) -> None:
    small, large = sizes
    less, more = (small + share * (large - small) for share in sorted((first, second)))
    assert 1.0 + 1e-9 >= translation(small, large, less) >= translation(small, large, more) >= -1e-9


@given(sizes=SIZES, share=st.floats(0.0, 1.0), pot=st.integers(1, 10**6), scale=st.integers(1, 1000))
def test_only_shares_of_the_pot_matter(sizes: tuple[float, float], share: float, pot: int, scale: int) -> None:
    small, large = sizes
    bet = small + share * (large - small)
    chips = [size * pot for size in (small, large, bet)]
    scaled = [amount * scale / (pot * scale) for amount in chips]
    assert pseudo_harmonic(*scaled) == pytest.approx(pseudo_harmonic(small, large, bet), abs=1e-9)


@given(sizes=SIZES, share=st.floats(0.0, 1.0))
@pytest.mark.parametrize("translation", RANDOMISED)
def test_small_changes_change_little(translation: Translation, sizes: tuple[float, float], share: float) -> None:
    small, large = sizes
    bet, step = small + share * (large - small), 1e-7
    here = translation(small, large, bet)
    for near in (
        translation(small, large, min(bet + step, large)),
        translation(max(small - step, 0.0), large, bet),
        translation(small, large + step, bet),
    ):
        assert near == pytest.approx(here, abs=step * (4.0 + 4.0 * large) / (large - small))


def test_pseudo_harmonic_at_known_points() -> None:
    assert pseudo_harmonic(0.0, 1.0, 0.5) == pytest.approx(1 / 3)  # (1 - x) / (1 + x): how often a bet of x is called
    assert pseudo_harmonic(0.5, 1.0, 0.75) == pytest.approx(3 / 7)
    assert pseudo_harmonic(1.0, 3.0, 2.0) == pytest.approx(1 / 3)
    for small, large in ((0.01, 1.0), (0.25, 1.0), (0.5, 1.0), (1.0, 4.0)):
        middle = (small + large + 2 * small * large) / (small + large + 2)  # the paper's median
        assert pseudo_harmonic(small, large, middle) == pytest.approx(0.5)
        assert rounded_pseudo_harmonic(small, large, middle - 1e-6) == 1.0
        assert rounded_pseudo_harmonic(small, large, middle + 1e-6) == 0.0
    assert linear(0.0, 1.0, 0.25) == 0.75 and nearest(0.5, 1.0, 0.75) == 1.0 and nearest(0.5, 1.0, 0.76) == 0.0


def test_it_makes_the_bettor_indifferent_in_the_clairvoyance_game() -> None:
    # A bettor with the nuts or nothing, half each; somebody who knows the sizes A and B answers them by the
    # equilibrium, which calls a bet of s with chance 1 / (1 + s). Translated, bluffs of any x gain nothing.
    small, large = 0.5, 2.0
    for bet in np.linspace(small, large, 7):
        chance = pseudo_harmonic(small, large, float(bet))
        called = chance / (1 + small) + (1 - chance) / (1 + large)
        assert called == pytest.approx(1 / (1 + bet))
        assert (1 - called) * 1.0 - called * bet == pytest.approx(0.0, abs=1e-12)


def test_bets_beyond_the_tree_are_taken_for_its_ends() -> None:
    assert translate(3.0, [0.0, 0.5, 1.0]) == {2: 1.0}
    assert translate(1.0, [0.0, 0.5, 1.0]) == {2: 1.0} and translate(0.5, [0.0, 0.5, 1.0]) == {1: 1.0}
    assert translate(0.25, [0.0, 0.5, 1.0]) == pytest.approx({0: 0.4, 1: 0.6})
    assert translate(0.1, [0.5, 1.0]) == {0: 1.0} and translate(0.1, [0.5]) == {0: 1.0}
    assert translate(0.8, [0.5, 1.0], nearest) == {1: 1.0}


def test_names() -> None:
    assert parse_translation("nearest") is nearest
    with pytest.raises(AgentError, match="did you mean 'pseudo-harmonic'"):
        parse_translation("pseudo-harmonc")
