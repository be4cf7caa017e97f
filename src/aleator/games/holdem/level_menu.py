"""Bet menus by street and by how many bets the street has seen: the sparse trees of DeepStack."""

from __future__ import annotations

from dataclasses import dataclass

from aleator.games.holdem.bet_menu import BetMenu, BetSize, BetSizeError, Situation, parse_sizes

Levels = tuple[tuple[BetSize, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMenu(BetMenu):
    """The same sizes for both players, by the number of bets and raises before; the last level goes on.

    Attributes:
        levels: per street, preflop first, the sizes of the first bet or raise, of the second, ...; at least one level
            each.
    """

    levels: tuple[Levels, Levels, Levels, Levels]

    def __post_init__(self) -> None:
        super(LevelMenu, self).__post_init__()
        if any(not levels for levels in self.levels):
            raise BetSizeError("every street of a menu by levels needs at least one level")

    @classmethod
    def parse(cls, *streets: str, max_raises: int | None = None) -> LevelMenu:
        """Returns the menu of four texts such as ``"50% 100% all-in; 100% all-in"``: levels apart by semicolons."""
        if len(streets) != 4:
            raise BetSizeError(f"a menu by levels has 4 streets, not {len(streets)}")
        first, second, third, fourth = (
            tuple(parse_sizes(level.split(), is_raise=False) for level in street.split(";")) for street in streets
        )
        return cls(levels=(first, second, third, fourth), max_raises=max_raises)

    def amounts(self, street: int, player: int, situation: Situation, *, is_donk: bool = False) -> tuple[int, ...]:
        """Returns the raise-to amounts, ascending; see `BetMenu.amounts`."""
        if self.max_raises is not None and situation.num_raises >= self.max_raises:
            return ()
        levels = self.levels[street]
        return self._amounts_of(levels[min(situation.num_raises, len(levels) - 1)], situation)
