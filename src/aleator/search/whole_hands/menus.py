"""The bets that searches of whole hands consider."""

from __future__ import annotations

from typing import Final

from aleator.games.holdem.level_menu import LevelMenu

MENU: Final = LevelMenu.parse(
    "50% 100% all-in; 50% 100% 200% all-in; 100% all-in",
    "50% 100% all-in; 100% all-in",
    "50% 100% all-in; 100% all-in",
    "50% 100% 200% all-in; 50% 100% 200% all-in; 100% all-in",
)
"""DeepStack's sparse trees: sizes of the first bet or raise of a street, of the second, and of those that follow."""

TO_THE_END: Final = LevelMenu.parse(
    "100% all-in", "100% all-in", "50% 100% all-in; 100% all-in", "100% all-in", max_raises=3
)
"""The same for turns that are solved to the end of the hand, with fewer bets on the river."""

NESTED: Final = LevelMenu.parse(
    "100% all-in", "50% 100% all-in; 100% all-in; all-in", "50% 100% all-in; 100% all-in; all-in", "100% all-in; all-in"
)
"""Of searches from a blueprint: flops to the end of the street, turns to the end of the hand."""
