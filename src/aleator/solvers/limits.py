"""When a solve ends and what it says on the way, the same for every solver.

Exploitability is NashConv over the number of players, NashConv / 2 for two, in the units of the game's payoffs, which
are chips in hold'em.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from time import perf_counter
from typing import NamedTuple

from aleator.errors import SolveError, shown
from aleator.parsing import MAX_ITERATIONS
from aleator.solvers.state import Solver

DEFAULT_ITERATIONS = 1000
GROWTH = 1.3  # iterations from one check of the exploitability to the next, where no forecast says more
SECONDS_OF_SILENCE = 0.25
SECONDS_BETWEEN_CHECKPOINTS = 300.0
CHECKPOINTS_SHARE = 0.05  # of the time of a solve, at most


class CurvePoint(NamedTuple):
    """The quality of the average policy at one moment of a solve.

    Attributes:
        iteration, seconds: when.
        exploitability: NashConv over the number of players.
        nodes_touched: if the solver counts them.
    """

    iteration: int
    seconds: float
    exploitability: float
    nodes_touched: int | None = None


class Progress(NamedTuple):
    """Where a solve is.

    Attributes:
        iteration, seconds: how far.
        exploitability: of the last check; NaN before the first.
        seconds_left: a forecast; NaN while it is unknown.
    """

    iteration: int
    seconds: float
    exploitability: float
    seconds_left: float = math.nan

    @property
    def share_done(self) -> float:
        """How much of the time is over, from 0 to 1; NaN while it is unknown."""
        return self.seconds / max(self.seconds + self.seconds_left, 1e-9)


OnProgress = Callable[[Progress], bool | None]
OnPause = Callable[[Sequence[CurvePoint]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a solve ends: at whichever comes first; after 1,000 iterations if nothing is given.

    Attributes:
        iterations: each updates both players.
        exploitability: NashConv / 2, in the units of the game's payoffs.
        seconds: of solving, without compiling and building the tree.
    """

    iterations: int | None = None
    exploitability: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None and not (
            _is_number(self.iterations, Integral) and 1 <= self.iterations <= MAX_ITERATIONS
        ):
            raise SolveError(
                f"iterations must be at least 1 and at most {MAX_ITERATIONS:,}, not {shown(self.iterations)}"
            )
        if self.exploitability is not None and not (
            _is_number(self.exploitability, Real) and 0 < self.exploitability < math.inf
        ):
            text = shown(self.exploitability)
            raise SolveError(f"the exploitability to stop at must be positive and finite, not {text}")
        if self.seconds is not None and not (_is_number(self.seconds, Real) and self.seconds > 0):
            raise SolveError(f"seconds must be positive, not {shown(self.seconds)}")
        if self.iterations is None and self.exploitability is None and self.seconds is None:
            object.__setattr__(self, "iterations", DEFAULT_ITERATIONS)


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def run_until(
    solver: Solver,
    limits: Limits,
    *,
    on_progress: OnProgress | None = None,
    earlier: Sequence[CurvePoint] = (),
    on_pause: OnPause | None = None,
    pause_seconds: float = SECONDS_BETWEEN_CHECKPOINTS,
) -> list[CurvePoint]:
    """Iterates until a limit is reached or `on_progress` gives a true answer.

    Control returns every quarter of a second; the exploitability is looked at where `next_check` says, and at the end.

    Args:
        solver: at its beginning, or where the `earlier` solve has left it.
        limits: when to stop.
        on_progress: called a few times a second.
        earlier: the curve of the solve that is continued; seconds go on from there.
        on_pause: given the curve up to now from time to time, so that what has been found can be saved.
        pause_seconds: between two of these; more if they take long, so that they are at most 5 % of the time.

    Returns:
        The curve, which goes on from the earlier one and ends with the solver as it is now.
    """
    curve = list(earlier)
    started = perf_counter() - (curve[-1].seconds if curve else 0.0)
    most = math.inf if limits.iterations is None else limits.iterations
    rate = solver.iteration / curve[-1].seconds if curve and curve[-1].seconds > 0 else 0.0

    def stopped_now() -> bool:
        seconds = perf_counter() - started
        late = limits.seconds is not None and seconds >= limits.seconds
        if on_progress is None:
            return late
        quality = curve[-1].exploitability if curve else math.nan
        left = _seconds_left(curve, limits, solver.iteration, seconds, rate)
        return bool(on_progress(Progress(solver.iteration, seconds, quality, left))) or late

    def now() -> CurvePoint:
        exploitability = solver.nash_conv() / solver.num_players
        if not math.isfinite(exploitability):
            raise SolveError(
                f"after {solver.iteration:,} iterations the exploitability is {exploitability}: payoffs or settings "
                "are too large for the precision"
            )
        return CurvePoint(solver.iteration, perf_counter() - started, exploitability, solver.nodes_touched)

    next_pause = perf_counter() + pause_seconds

    def pause_if_due() -> None:
        nonlocal next_pause
        before = perf_counter()
        if on_pause is not None and before >= next_pause:
            known = bool(curve) and curve[-1].iteration == solver.iteration
            on_pause(list(curve) if known else [*curve, now()])
            after = perf_counter()
            next_pause = after + max(pause_seconds, (after - before) / CHECKPOINTS_SHARE)

    stop = False
    while True:
        check = min(next_check(curve, limits.exploitability, solver.first_check), most)
        while solver.iteration < check and not stop:
            before, chunk = perf_counter(), max(1, min(int(check) - solver.iteration, int(rate * SECONDS_OF_SILENCE)))
            solver.run(chunk)
            rate = chunk / max(perf_counter() - before, 1e-9)
            stop = stopped_now()
            if solver.iteration < check and not stop:
                pause_if_due()
        if curve and curve[-1].iteration == solver.iteration:
            curve.pop()
        curve.append(now())
        stop |= solver.iteration >= most
        stop |= limits.exploitability is not None and curve[-1].exploitability <= limits.exploitability
        if stopped_now() or stop:
            return curve
        pause_if_due()


def next_check(curve: Sequence[CurvePoint], goal: float | None, first: int) -> int:
    """Returns the iteration at which to look at the exploitability next.

    On the way to a goal that is near the forecast, within 5 % to 50 % more iterations; else after 30 % more.
    """
    if not curve:
        return first
    done, step = curve[-1].iteration, max(1, first // 2)
    needed = math.nan if goal is None else iterations_to(goal, curve)
    wanted = done * GROWTH if math.isnan(needed) else needed
    return math.ceil(max(min(max(wanted, done * 1.05), done * 1.5), done + step))


def iterations_to(goal: float, curve: Sequence[CurvePoint]) -> float:
    """Returns the iterations to an exploitability if it goes on to fall as between the last checks.

    NaN if there are not two checks yet, infinite if it does not fall.
    """
    if len(curve) < 2:
        return math.nan
    earlier, last = curve[max(len(curve) - 4, 0)], curve[-1]
    if not 0 < last.exploitability < earlier.exploitability:
        return math.inf if last.exploitability > goal else float(last.iteration)
    slope = math.log(earlier.exploitability / last.exploitability) / math.log(last.iteration / earlier.iteration)
    further = max(math.log(last.exploitability / goal), 0.0) / max(slope, 0.2)
    return last.iteration * math.exp(min(further, 50.0))


def _seconds_left(curve: Sequence[CurvePoint], limits: Limits, iteration: int, seconds: float, rate: float) -> float:
    """Returns a forecast of the seconds to the nearest limit; NaN while there is none."""
    needed = math.inf if limits.exploitability is None else iterations_to(limits.exploitability, curve)
    if math.isnan(needed) or rate == 0.0:  # a solver that begins with iterations has no pace yet
        return math.nan
    left = (min(needed, limits.iterations or math.inf) - iteration) / rate
    if limits.seconds is not None:
        left = min(left, limits.seconds - seconds)
    return max(left, 0.0) if math.isfinite(left) else math.nan
