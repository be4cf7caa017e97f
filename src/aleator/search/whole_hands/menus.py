"""The bets that searches of whole hands consider."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aleator.errors import SolveError, shown
from aleator.games.holdem.bet_menu import BetSizeError
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.level_menu import LevelMenu
from aleator.parsing import parse_toml

_MAX_BYTES: Final = 10_000
_MAX_SIZES: Final = 12  # of one level

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


def read_menu(path: Path, usual: LevelMenu = MENU) -> LevelMenu:
    """Returns the menu of a TOML file with a line for each street; streets that are left out are as usual.

    A line has the sizes of the first bet or raise, of the second, and so on: ``flop = "50% 100% all-in; 100% all-in"``.

    Raises:
        SolveError: the file cannot be read, or is not such a menu.
    """
    try:
        text = path.read_bytes()[: _MAX_BYTES + 1].decode()
    except OSError as error:
        raise SolveError(f"cannot read the bet sizes in {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SolveError(f"cannot read the bet sizes in {path}: it is not text in UTF-8") from None
    if len(text) > _MAX_BYTES:
        raise SolveError(f"{path} is too long for a file of bet sizes: at most {_MAX_BYTES:,} bytes")
    try:
        table = parse_toml(text, "a menu", SolveError)
    except SolveError as error:
        raise SolveError(f"{path}: {error}") from None
    if unknown := [name for name in table if name not in STREET_NAMES]:
        raise SolveError(f"{path}: unknown street {shown(unknown[0])}; allowed: {', '.join(STREET_NAMES)}")
    levels = list(usual.levels)
    for name, sizes in table.items():
        if not isinstance(sizes, str) or any(len(level.split()) > _MAX_SIZES for level in sizes.split(";")):
            raise SolveError(
                f"{path}: {name} must be a text of at most {_MAX_SIZES} sizes a level, such as "
                f'"50% 100% all-in; 100% all-in", not {shown(str(sizes))}'
            )
        street = STREET_NAMES.index(name)
        try:
            levels[street] = LevelMenu.parse(*[sizes] * len(STREET_NAMES)).levels[street]
        except BetSizeError as error:
            raise SolveError(f"{path}: {name}: {error}") from None
    return LevelMenu(levels=(levels[0], levels[1], levels[2], levels[3]))
