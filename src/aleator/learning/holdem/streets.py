"""The value networks of hold'em by name, in the order in which they are made.

A network of the *end* of a street prices situations before the next card: it sits at the leaves of betting rounds. A
network of the *start* of a street prices situations after the card: it teaches the network of the street before, which
is its mean over the cards. Play needs the ends only; `turn`, `flop` and `preflop` are those.
"""

from __future__ import annotations

from dataclasses import dataclass

from aleator.errors import SolveError


@dataclass(frozen=True, slots=True, kw_only=True)
class Street:
    """Where a network stands.

    Attributes:
        name: of the network, its files and its directory.
        board: cards on the table.
        starts: whether it is of the start of the street.
        teacher: the network that its examples are made with; None for the river, which is solved to the end.
        levels: how finely a network tells hands apart by the spread of their strength.
    """

    name: str
    board: int
    starts: bool
    teacher: str | None
    levels: int = 6

    def __str__(self) -> str:
        return f"{'start' if self.starts else 'end'} of the {self.name.removesuffix('-start')}"


STREETS = {
    street.name: street
    for street in (
        Street(name="river", board=5, starts=True, teacher=None, levels=1),
        Street(name="turn", board=4, starts=False, teacher="river"),
        Street(name="turn-start", board=4, starts=True, teacher="turn"),
        Street(name="flop", board=3, starts=False, teacher="turn-start"),
        Street(name="flop-start", board=3, starts=True, teacher="flop"),
        Street(name="preflop", board=0, starts=False, teacher="flop-start"),
    )
}
ENDS = {street.board: street.name for street in STREETS.values() if not street.starts}
"""The networks at the leaves of betting rounds, by cards on the board."""
STARTS = {street.board: street.name for street in STREETS.values() if street.starts}
"""The networks of rounds that begin, by cards on the board."""


def street_named(name: str) -> Street:
    """Returns a street by its name.

    Raises:
        SolveError: there is none of that name.
    """
    if name not in STREETS:
        raise SolveError(f"no networks for the street {name!r}; allowed: {', '.join(STREETS)}")
    return STREETS[name]
