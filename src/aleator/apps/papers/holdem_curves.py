"""Exploitability of hold'em spots over iterations, for several rules: the work of the experiments on hold'em."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import NamedTuple

from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import RegretRule

Ranges = tuple[str, str]
_TYPICAL_OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
_TYPICAL_IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
TYPICAL: Ranges = (_TYPICAL_OOP, _TYPICAL_IP)
ALL_HANDS: Ranges = ("random", "random")


class HoldemCurve(NamedTuple):
    """What a run shows.

    Attributes:
        points: (iteration, exploitability in % of the pot).
        seconds_per_iteration: at its fastest, checks of the exploitability left out.
    """

    points: list[tuple[float, float]]
    seconds_per_iteration: float

    def iterations_to(self, percent: float) -> float | None:
        """Returns the first iteration that was looked at with at most so much exploitability, if there is one."""
        return next((iteration for iteration, quality in self.points if quality <= percent), None)


def make_spot(board: str, pot: int, stack: int, ranges: Ranges, *, bets: str, raises: str, rest: str = "") -> Spot:
    """Returns a spot in which both players have the same sizes on all streets; `rest` is put before the sizes."""
    sizes = f"bet = [{bets}]\nraise = [{raises}]\n"
    tables = "".join(
        f"[{street}.{player}]\n{sizes}" for street in ("flop", "turn", "river") for player in ("oop", "ip")
    )
    oop, ip = ranges
    return parse_spot(f'board = "{board}"\npot = {pot}\nstack = {stack}\noop = "{oop}"\nip = "{ip}"\n{rest}{tables}')


def holdem_curve(spot: Spot, rule: RegretRule, points: tuple[int, ...], *, until: float = 0.0) -> HoldemCurve:
    """Returns the exploitability of the average policy at some iterations, until it is `until` % of the pot."""
    solver, curve, seconds = HoldemSolver(spot, rule), list[tuple[float, float]](), inf
    for point in points:
        started, more = perf_counter(), point - solver.iteration
        solver.run(more)
        seconds = min(seconds, (perf_counter() - started) / more)
        curve.append((float(point), 100 * solver.exploitability() / spot.pot))
        if curve[-1][1] <= until:
            break
    return HoldemCurve(curve, seconds)
