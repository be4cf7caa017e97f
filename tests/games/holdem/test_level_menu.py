from __future__ import annotations

import pytest

from aleator.games.holdem.bet_menu import BetSizeError, Situation
from aleator.games.holdem.level_menu import LevelMenu

MENU = LevelMenu.parse("100%", "50% 100% all-in; 100%; all-in", "100%", "100%", max_raises=4)


def amounts(num_raises: int, faced: int = 0) -> tuple[int, ...]:
    situation = Situation(
        pot=400, faced=faced, min_to=faced + 100, max_to=10_000, num_raises=num_raises, streets_left=3
    )
    return MENU.amounts(1, 0, situation)


def test_sizes_go_by_the_bets_before() -> None:
    assert amounts(0) == (200, 400, 10_000)
    assert amounts(1, faced=300) == (700,)
    assert amounts(2, faced=300) == amounts(3, faced=300) == (10_000,)
    assert amounts(4, faced=300) == ()


def test_texts_that_make_no_menu_are_refused() -> None:
    with pytest.raises(BetSizeError, match="4 streets, not 1"):
        LevelMenu.parse("100%")
    with pytest.raises(BetSizeError, match='"50%" of the pot'):
        LevelMenu.parse("50", "", "", "")
