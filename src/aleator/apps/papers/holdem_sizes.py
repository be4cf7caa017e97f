"""Thesis 4.2.5 and 4.3 on rivers: menus that grew beside ten sizes, and the best single size beside twenty."""

from __future__ import annotations

from typing import NamedTuple

from aleator.abstraction.holdem_sizes import (
    CANDIDATES,
    grow_menu,
    optimise_size,
    spot_memory,
    spot_values,
    with_bets,
)
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.parallel import run_beside
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot

_NARROW = "22+,A2s+,K9s+,QTs+,JTs,T9s,98s,87s,76s,ATo+,KJo+"
_WIDE = "22+,A2s+,K2s+,Q6s+,J8s+,T8s+,97s+,86s+,75s+,65s,A2o+,K8o+,QTo+,JTo"
_POT = 1000
_SPOTS = (
    ("Qs Jh 2h 8c 3d", 3000, _NARROW, _WIDE),
    ("Ah Kd 7c 4s 2d", 2500, _WIDE, _NARROW),
    ("Ts 9s 8h 4c 4d", 4000, _NARROW, _NARROW),
    ("Jc 6c 3c Kd 2s", 1500, _WIDE, _WIDE),
    ("9h 7d 5s 2c Qh", 6000, _NARROW, _WIDE),
    ("Ad Ac 8s 6h 3d", 2000, _WIDE, _NARROW),
)
_BY_HAND = tuple(range(10, 210, 10))  # percent of the pot
_RIVER, _OUT_OF_POSITION = 3, 0
_WITHIN, _MEMORY = 1e-3, 1.0 / 3.0


class _Task(NamedTuple):
    """A river: its spot, the most sizes of a player, and how far solves go, a fraction of the pot."""

    spot: Spot
    most: int
    target: float


class _Sizes(NamedTuple):
    """Menus and sizes of a river; values in pots to the player out of position, memory in bytes."""

    ten: float
    grown: float
    sizes: tuple[tuple[str, ...], tuple[str, ...]]
    memory: float
    best: float
    best_size: str
    by_hand: float
    by_hand_size: str


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns values and memory of grown menus, and values of single sizes; full: menus of three sizes, too."""
    target = settings.choose(2e-3, 3e-4, 3e-4)
    boards = _SPOTS[:1] if settings.quick else _SPOTS
    tasks = {
        f"{board}, {most} sizes": _Task(_spot(board, stack, *ranges), most, target)
        for most in ((2, 3) if settings.full else (2,))
        for board, stack, *ranges in boards
    }
    runs = run_beside(_solve, tasks, on_progress, settings.workers)
    on_progress(1.0, "")
    small = [runs[name] for name in tasks if tasks[name].most == 2]
    off = [abs(sizes.grown - sizes.ten) for sizes in small]
    behind = [sizes.by_hand - sizes.best for sizes in small]
    return Report(
        title="Rivers: menus that grew beside ten sizes, and the best single size beside twenty (thesis 4.2.5, 4.3)",
        setting=f"{len(boards)} rivers, solved to {100 * target:g} % of the pot{settings.mode}",
        convention=(
            "Values to the player out of position, in % of the pot. Memory is the grown menu's over that of ten sizes. "
            "The single size is the first bet of the player out of position; the other's menu is half the pot."
        ),
        columns=("river", "ten sizes", "grown", "menus", "memory, %", "one size", "wins", "best of 20", "wins there"),
        rows=tuple(
            (name, 100 * sizes.ten, 100 * sizes.grown, " / ".join("+".join(menu) for menu in sizes.sizes),
             100 * sizes.memory, sizes.best_size, 100 * sizes.best, sizes.by_hand_size, 100 * sizes.by_hand)
            for name, sizes in runs.items()
        ),
        claims=(
            Claim(
                text="a menu of two sizes is within .1 % of the pot of ten",
                measured=f"{100 * max(off):.3f} % at most",
                agrees=max(off) <= _WITHIN,
            ),
            Claim(
                text="in a third of the memory",
                measured=f"{100 * max(sizes.memory for sizes in small):.0f} % at most",
                agrees=max(sizes.memory for sizes in small) <= _MEMORY,
            ),
            Claim(
                text="the optimised single size wins what the best of 10 %, 20 % … 200 % wins, up to what solves know",
                measured=f"{100 * max(behind):+.3f} % of the pot behind at most",
                agrees=max(behind) <= 2.0 * target,
            ),
        ),
        panels={
            "value of the menu, % of the pot": {
                name: [(float(place), 100 * value) for place, value in enumerate(values, 1)]
                for name, values in (
                    ("ten sizes", [sizes.ten for sizes in small]), ("grown", [sizes.grown for sizes in small])
                )
            }
        },
        x_label="river",
        y_label="",
        deviations="Ours: the thesis has no such experiment. aleator.abstraction.holdem_sizes says how menus grow.",
    )  # fmt: skip


def _spot(board: str, stack: int, first: str, second: str) -> Spot:
    sides = "".join(f'[river.{side}]\nbet = ["50%"]\nraise = ["60%", "all-in"]\n' for side in ("oop", "ip"))
    return parse_spot(f'board = "{board}"\npot = {_POT}\nstack = {stack}\noop = "{first}"\nip = "{second}"\n{sides}')


def _solve(task: _Task) -> _Sizes:
    """Returns what a river's menus and sizes are worth."""
    ten = task.spot
    for player in (0, 1):
        ten = with_bets(ten, _RIVER, player, CANDIDATES)
    grown = grow_menu(task.spot, most=task.most, target=max(task.target, 5e-4))
    best = optimise_size(task.spot, _RIVER, _OUT_OF_POSITION, target=task.target)
    single = {
        size: spot_values(with_bets(task.spot, _RIVER, _OUT_OF_POSITION, [f"{size}%"]), task.target)[0]
        for size in _BY_HAND
    }
    by_hand = max(single, key=lambda size: single[size])
    return _Sizes(
        ten=spot_values(ten, task.target)[0],
        grown=spot_values(grown.spot, task.target)[0],
        sizes=grown.sizes,
        memory=spot_memory(grown.spot) / spot_memory(ten),
        best=best.best.value,
        best_size=best.best.size,
        by_hand=single[by_hand],
        by_hand_size=f"{by_hand}%",
    )
