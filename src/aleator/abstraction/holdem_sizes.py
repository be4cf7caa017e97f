"""Bet sizes of hold'em spots: the one size that is best for a player, and menus that grow while they pay.

Algorithm:
    A size is worth what its player wins at the equilibrium of the spot that has it, in pots.
    One size: the spot is solved for some sizes from small to all-in; between the neighbours of the best one the search
    goes on by golden sections, until the interval is small or values no longer tell sizes apart.
    A menu: begin with the smallest and the largest of the candidates for each player. In turn, each player tries every
    candidate that its menu lacks and takes the one that wins most, if it wins enough; a menu that is too long gives up
    the size that it misses least. It ends when no player changes anything.

Reference:
    Thesis 4.2.5 and 4.3.4: sizes are moved, and added, by what they win in the whole game.

Deviations:
    Values instead of gradients and regrets: the sizes of later streets are rounded to chips and cut off by stacks, so
    that payoffs are neither affine in a size nor on a tree of one shape, and regrets cannot be transferred. A solve of
    a river takes tenths of a second. Only the street a spot begins on is changed; later streets keep their menus.

Status:
    The size found is at least as good as the best of 20 (tests/abstraction/test_holdem_sizes.py); docs/holdem.md has
    menus beside trees with ten sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

from aleator.errors import SolveError, check_known, shown
from aleator.games.holdem.bet_menu import POSITION_NAMES, BetMenu, parse_sizes
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Spot
from aleator.solvers.holdem.problem import SpotProblem, pot_fraction
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

CANDIDATES = ("20%", "33%", "50%", "66%", "80%", "100%", "125%", "150%", "200%", "all-in")
_COARSE = (10, 20, 33, 50, 75, 100, 150, 220, 300)  # percent of the pot
_GOLDEN = (sqrt(5.0) - 1.0) / 2.0
_ITERATIONS = 1000
OnSolve = Callable[[str, float], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeValue:
    """A size and what its player wins with it, in pots, in the zero-sum form (its share less half the pot)."""

    size: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSize:
    """The best single size: the spot that has it, its value, and all that were tried, by size."""

    spot: Spot
    best: SizeValue
    tried: tuple[SizeValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownMenu:
    """A menu that has grown.

    Attributes:
        spot: with the menu.
        sizes: per player, the bets of the first street.
        value: of the spot to the player out of position, in pots.
        solves: how many spots were solved.
    """

    spot: Spot
    sizes: tuple[tuple[str, ...], tuple[str, ...]]
    value: float
    solves: int


def with_bets(spot: Spot, street: int, player: int, sizes: Sequence[str]) -> Spot:
    """Returns the spot with other first bets of a player on a street."""
    name = STREET_NAMES[street]
    sides = list(spot.menu.on_street(street))
    sides[player] = replace(sides[player], bets=parse_sizes(sizes, is_raise=False), donks=None)
    changes: dict[str, object] = {name: (sides[0], sides[1])}
    menu: BetMenu = replace(spot.menu, **changes)  # type: ignore[arg-type]
    return replace(spot, menu=menu, locks=(), added=())


def spot_values(spot: Spot, target: float, *, threads: int = 1) -> tuple[float, float]:
    """Returns what both players win in pots when the spot is solved to an exploitability, a fraction of the pot."""
    limits = Limits(iterations=_ITERATIONS, exploitability=pot_fraction(spot, target))
    first, second = solve(spot, limits=limits, threads=threads).summary.values
    return first / spot.pot, second / spot.pot


def parse_place(spot: Spot, text: str) -> tuple[int, int]:
    """Returns the street and the player of a text such as `turn.oop`.

    Raises:
        SolveError: the text has another form, or the spot begins after that street.
    """
    street, dot, position = text.partition(".")
    if not dot:
        raise SolveError(f"{shown(text)}: a size is named by street and player, as in turn.oop")
    streets = STREET_NAMES[spot.street :]
    check_known(street, streets, "street of this spot")
    check_known(position, POSITION_NAMES, "player")
    return STREET_NAMES.index(street), POSITION_NAMES.index(position)


def optimise_size(
    spot: Spot, street: int, player: int, *, target: float = 0.001, precision: float = 0.02, threads: int = 1,
    on_solve: OnSolve | None = None,
) -> BestSize:  # fmt: skip
    """Returns the one first bet of a player on a street that wins most.

    Args:
        spot: its other sizes stay.
        street, player: whose size it is.
        target: exploitability of every solve, a fraction of the pot; values are no better known than that.
        precision: of the size, in pots.
        threads: of every solve.
        on_solve: told each size and its value; a true answer ends the search.
    """
    tried: dict[int, float] = {}
    stopped = False

    def value(percent: int) -> float:
        nonlocal stopped
        if percent not in tried and not stopped:
            there = with_bets(spot, street, player, [f"{percent}%"])
            tried[percent] = spot_values(there, target, threads=threads)[player]
            stopped = bool(on_solve is not None and on_solve(f"{percent}%", tried[percent]))
        return tried.get(percent, -1e9)

    largest = max(1, -(-100 * spot.stack // spot.pot))
    grid = sorted({min(percent, largest) for percent in (*_COARSE, largest)})
    for percent in grid:
        value(percent)
    best = max(tried, key=lambda percent: tried[percent])
    at = grid.index(best)
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    while high - low > max(100 * precision, 2) and not stopped:
        span = high - low
        left, right = round(high - _GOLDEN * span), round(low + _GOLDEN * span)
        if value(left) >= value(right):
            high = right
        else:
            low = left
        if left >= right:
            break
    best = max(tried, key=lambda percent: tried[percent])
    return BestSize(
        spot=with_bets(spot, street, player, [f"{best}%"]),
        best=SizeValue(size=f"{best}%", value=tried[best]),
        tried=tuple(SizeValue(size=f"{percent}%", value=tried[percent]) for percent in sorted(tried)),
    )


_GAIN = 2e-4  # in pots: what a size must win to be added


def grow_menu(
    spot: Spot, *, candidates: Sequence[str] = CANDIDATES, most: int = 3, target: float = 0.0005,
    threads: int = 1, on_solve: OnSolve | None = None,
) -> GrownMenu:  # fmt: skip
    """Returns the spot with first bets that matter on its first street, at most `most` for each player.

    Args:
        spot: its raises and later streets stay.
        candidates: what may be added, from small to large.
        most: sizes of a player.
        target: exploitability of every solve, a fraction of the pot.
        threads: of every solve.
        on_solve: told the menus and the value of each spot that is solved; a true answer ends it.
    """
    if most < 1 or len(candidates) < 2:
        raise SolveError(f"a menu that grows needs at least 2 candidates and room for 1 size, not {most}")
    known: dict[tuple[tuple[str, ...], ...], tuple[float, float]] = {}
    menus: list[tuple[str, ...]] = [(candidates[0], candidates[-1])[:most]] * 2
    stopped = False

    def values(player: int, own: tuple[str, ...]) -> float:
        nonlocal stopped
        menu = tuple(own if side == player else menus[side] for side in (0, 1))
        if menu not in known and stopped:
            return -inf
        if menu not in known:
            there = _with_menus(spot, menu)
            known[menu] = spot_values(there, target, threads=threads)
            text = " against ".join("+".join(sizes) for sizes in menu)
            stopped |= bool(on_solve is not None and on_solve(text, known[menu][0]))
        return known[menu][player]

    values(0, menus[0])
    changed, order = True, {size: number for number, size in enumerate(candidates)}
    while changed and not stopped:
        changed = False
        for player in (0, 1):
            own = menus[player]
            longer = {
                size: tuple(sorted((*own, size), key=order.__getitem__)) for size in candidates if size not in own
            }
            if not longer:
                continue
            best = max(longer, key=lambda size: values(player, longer[size]))
            menu = longer[best]
            if values(player, menu) < values(player, own) + _GAIN or stopped:
                continue
            if len(menu) > most:
                shorter = [tuple(size for size in menu if size != dropped) for dropped in menu]
                menu = max(shorter, key=lambda sizes: values(player, sizes))
                if values(player, menu) < values(player, own) + _GAIN:
                    continue
            menus[player], changed = menu, True
    value = values(0, menus[0])
    return GrownMenu(spot=_with_menus(spot, menus), sizes=(menus[0], menus[1]), value=value, solves=len(known))


def _with_menus(spot: Spot, menus: Sequence[tuple[str, ...]]) -> Spot:
    for player in (0, 1):
        spot = with_bets(spot, spot.street, player, menus[player])
    return spot


def spot_memory(spot: Spot) -> int:
    """Returns the bytes that a solve of the spot takes."""
    return SpotProblem(HoldemGame(spot)).estimate(measure=False).memory
