"""DeepStack's Table 5: what its rows are made of."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.apps.papers.deepstack_sparse_trees import MENUS, norms, random_rivers, solved
from aleator.games.holdem.cards import HANDS


def test_situations_are_rivers_with_two_beliefs_and_equal_stacks() -> None:
    rivers = random_rivers(6, seed=1)
    for river in rivers:
        assert len(set(river.board)) == 5 and river.pot % 2 == 0
        assert river.pot // 2 + river.stack == 20_000 and river.pot >= 200
        np.testing.assert_allclose(river.reach.sum(1), 1.0, rtol=1e-5)
        blocked = np.isin(HANDS, river.board).any(1)
        assert not river.reach[:, blocked].any()
    assert len({river.board for river in rivers}) == 6


def test_norms_are_of_values_weighed_by_the_deal() -> None:
    error = np.zeros((2, 1326))
    error[:, 0], error[:, 1] = 300.0, -400.0  # chips: 3,000 and 4,000 thousandths of a big blind
    assert norms(error) == pytest.approx(np.array([7_000.0, 5_000.0, 4_000.0]) / 1326)


def test_a_menu_has_the_size_and_the_values_of_its_tree() -> None:
    river = random_rivers(1, seed=3)[0]
    few, more = (solved(river, menu, 300) for menu in (("100%", "all-in"), ("50%", "100%", "all-in")))
    assert few.actions < more.actions and few.actions % 1081 == 0
    won = (river.reach * few.cfvs).sum(1)
    assert won.sum() == pytest.approx(0.0, abs=0.02 * river.pot), "what one wins the other loses"
    assert MENUS[0][0][-1] == "all-in" and len(MENUS) == 7
