"""Solving a hold'em spot from start to stop, and what it will take, known before memory is taken."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError, TooBigError
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.memory import available_memory
from aleator.solvers.engines.boards.engine import BoardEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solution import HoldemPoint, HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver, Quality
from aleator.solvers.regret_rule import DCFR, SHARP_MATCHING, RegretRule, parse_rule

FIRST_CHECK = 10
# measured by the experiment holdem-rules: to 0.3 % of the pot it takes about 27 (stack / pot)^0.75 iterations, and from there
# on exploitability falls about like iterations ** -1.5
TYPICAL_ITERATIONS, TYPICAL_DEPTH, TYPICAL_TARGET, TYPICAL_EXPONENT = 27, 0.75, 0.003, 1.5
CALIBRATION_NUMBERS = 8_000_000  # 64 MB: beyond the cache
CHECK_SHARE = 1.06  # looking at the exploitability costs about 6 % on top
_TABLE_BYTES = 26  # per hand and board: cards, order, groups, maps; measured

_SMALL = """
board = "As Kd 7h 4c 2s"
pot = 10
stack = 10
oop = "AA,KQs"
ip = "KK,QJs"
[river.oop]
bet = ["all-in"]
[rake]
rate = {rate}
"""


class HoldemProgress(NamedTuple):
    """Where a solve is.

    Attributes:
        iteration, seconds: how far.
        exploitability: of the last check, in chips; NaN before the first.
        seconds_left: a forecast from the last checks; NaN while it is unknown.
    """

    iteration: int
    seconds: float
    exploitability: float
    seconds_left: float


OnHoldemProgress = Callable[[HoldemProgress], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldemLimits:
    """When a solve ends, whichever comes first.

    Attributes:
        target: exploitability as a fraction of the pot; 0 never ends it.
        iterations: how many at most.
    """

    target: float = 0.0
    iterations: int = 2000

    def __post_init__(self) -> None:
        if not 0 <= self.target < math.inf:
            raise SolveError(f"the target must be a fraction of the pot from 0 up, not {self.target}")
        if self.iterations < 1:
            raise SolveError(f"iterations must be at least 1, not {self.iterations}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldemEstimate:
    """What solving a spot will take.

    Attributes:
        nodes: per street over all boards, isomorphic ones counted once.
        boards: per street, isomorphic ones counted once.
        hands: per player.
        numbers: regrets kept; as many sums of policies are kept.
        memory: bytes of both, and of the tables of the boards.
        seconds_per_iteration: measured on some of the spot's boards; NaN if not measured.
        iterations: about how many it takes to the target; a rule of thumb.
        seconds: both together, checks of the exploitability included.
    """

    nodes: tuple[int, ...]
    boards: tuple[int, ...]
    hands: tuple[int, int]
    numbers: int
    memory: int
    seconds_per_iteration: float
    iterations: int
    seconds: float

    def check(self) -> None:
        """Raises TooBigError, with advice, if the memory is not there."""
        free = available_memory()
        if self.memory > free:
            raise TooBigError(
                f"the spot would take about {self.memory / 2**30:.1f} GiB; {free / 2**30:.1f} GiB are free: "
                "use 16 bits, fewer bet sizes, a cap on raises (max_raises), a larger force_all_in_threshold or smaller ranges"
            )


def estimate_spot(
    spot: Spot, rule: str, limits: HoldemLimits, *, threads: int = 1, bits: int = 32, measure: bool = True
) -> HoldemEstimate:
    """Returns what solving will take. Speed is measured for about a second on as many boards as 64 MB hold.

    The number of iterations is a rule of thumb for the default rule; see `expected_iterations`.
    """
    plan, parsed = BoardPlan(spot), parse_rule(rule)
    numbers = _count_numbers(plan)
    rows = sum(len(boards) * sum(widths) for boards, widths in zip(plan.boards, plan.widths, strict=True))
    memory = numbers * (2 * bits // 8 + 4 * parsed.optimistic) + rows * _TABLE_BYTES
    iterations = min(max(expected_iterations(spot, limits.target), FIRST_CHECK), limits.iterations)
    speed = _measure(plan, parsed, threads, bits) if measure else math.nan
    return HoldemEstimate(
        nodes=tuple(plan.num_nodes()),
        boards=tuple(len(boards) for boards in plan.boards),
        hands=(len(plan.hands[0]), len(plan.hands[1])),
        numbers=numbers,
        memory=memory,
        seconds_per_iteration=speed,
        iterations=round(iterations),
        seconds=speed * iterations * CHECK_SHARE,
    )


def expected_iterations(spot: Spot, target: float) -> float:
    """Returns about how many iterations of the default rule lead to a target, by the depth of the stacks."""
    depth = math.pow(spot.stack / spot.pot, TYPICAL_DEPTH)
    return TYPICAL_ITERATIONS * depth * math.pow(TYPICAL_TARGET / max(target, 1e-9), 1 / TYPICAL_EXPONENT)


def _count_numbers(plan: BoardPlan) -> int:
    return sum(plan.storage_size(player, level) for player in (0, 1) for level in range(plan.num_streets))


def _measure(plan: BoardPlan, rule: RegretRule, threads: int, bits: int) -> float:
    """Returns the seconds of an iteration, scaled up from one on a part of the boards."""
    prepare_holdem(rule, raked=plan.spot.rake.rate > 0, bits=bits)
    part = copy.copy(plan)
    if plan.num_streets > 1:
        per_board = _count_numbers(plan) / len(plan.boards[1])
        kept = min(len(plan.boards[1]), max(threads, math.ceil(CALIBRATION_NUMBERS / per_board)))
        part.boards = [plan.boards[0], plan.boards[1][:kept]]
        if plan.num_streets > 2:
            part.boards.append([board for board in plan.boards[2] if board.parent < kept])
    engine = BoardEngine(
        part, threads=threads, predicts=rule.optimistic, sharp=rule.minimiser == SHARP_MATCHING, bits=bits
    )
    engine.iterate(rule.schedule(1, 2))
    started, done = perf_counter(), 0
    while perf_counter() - started < 1.0 and done < 200:
        engine.iterate(rule.schedule(3 + done, 1))
        done += 1
    return (perf_counter() - started) / done * _count_numbers(plan) / _count_numbers(part)


def prepare_holdem(rule: RegretRule = DCFR, *, raked: bool = False, bits: int = 32) -> None:
    """Compiles what a solve needs, on the smallest spot; after the first run it comes from disk."""
    solver = HoldemSolver(parse_spot(_SMALL.format(rate=0.01 if raked else 0.0)), rule, bits=bits)
    solver.run(1)
    solver.quality()


def solve_spot(
    spot: Spot,
    rule: str | None = None,
    limits: HoldemLimits | None = None,
    *,
    threads: int = 1,
    bits: int = 32,
    on_progress: OnHoldemProgress | None = None,
    resume: HoldemSolution | None = None,
    keep_state: bool = False,
) -> HoldemSolution:
    """Returns an approximate equilibrium of a spot; what is not given is taken from the spot's settings.

    Args:
        spot: what to solve.
        rule: name of the regret rule.
        limits: when to stop.
        threads: boards are shared among so many.
        bits: 32, or 16 for half the memory.
        on_progress: called a few times a second; a true answer ends the solve, and what has been found is returned.
        resume: a solution of the same spot with its state, to go on from; bits are then those of the state.
        keep_state: whether the solution holds the state, so that it can be resumed.

    Raises:
        SolveError: a solution without state, or one of another spot or rule, cannot be resumed.
        TooBigError: it does not fit the memory.
    """
    rule = spot.solve.rule if rule is None else rule
    if resume is not None:
        bits = _check_resume(spot, rule, resume)
    limits = limits or HoldemLimits(target=spot.solve.target, iterations=spot.solve.max_iterations)
    parsed = parse_rule(rule)
    estimate_spot(spot, rule, limits, threads=threads, bits=bits, measure=False).check()
    started = perf_counter()
    solver = HoldemSolver(spot, parsed, threads=threads, bits=bits)
    curve: list[HoldemPoint] = []
    if resume is not None:
        solver.restore(resume.summary.iterations, resume.state)
        curve += resume.summary.curve
        started -= resume.summary.seconds
    quality = _run_until(solver, limits, curve, started, on_progress)
    return HoldemSolution.of_solver(
        solver, rule=rule, seconds=curve[-1].seconds, quality=quality, curve=curve, keep_state=keep_state
    )


def _run_until(
    solver: HoldemSolver,
    limits: HoldemLimits,
    curve: list[HoldemPoint],
    started: float,
    on_progress: OnHoldemProgress | None,
) -> Quality:
    """Iterates until a limit is reached or `on_progress` says stop, and extends the curve; returns the quality at the end.

    Control returns every quarter of a second; the exploitability is looked at where `_next_check` says.
    """
    goal, rate = limits.target * solver.spot.pot, 1.0

    def told_to_stop(exploitability: float) -> bool:
        if on_progress is None:
            return False
        left = (_needed(curve, goal, limits.iterations) - solver.iteration) / rate
        seconds = perf_counter() - started
        return bool(on_progress(HoldemProgress(solver.iteration, seconds, exploitability, max(left, 0.0))))

    stop = False
    while True:
        check = min(_next_check(curve, goal), limits.iterations)
        while solver.iteration < check and not stop:
            before = perf_counter()
            chunk = max(1, min(check - solver.iteration, int(rate / 4)))
            solver.run(chunk)
            rate = chunk / max(perf_counter() - before, 1e-9)
            stop = told_to_stop(curve[-1].exploitability if curve else math.nan)
        exploitability, quality = solver.exploitability(), None
        if stop or solver.iteration >= limits.iterations or exploitability <= goal:
            quality = solver.quality()
            exploitability = quality.exploitability
        if curve and curve[-1].iteration == solver.iteration:
            curve.pop()
        curve.append(HoldemPoint(solver.iteration, perf_counter() - started, exploitability))
        stop |= told_to_stop(exploitability)
        if quality is not None:
            return quality


def _check_resume(spot: Spot, rule: str, resume: HoldemSolution) -> int:
    """Returns the bits of a solution's state.

    Raises:
        SolveError: it cannot be resumed.
    """
    if not resume.state:
        raise SolveError("this solution was saved without its state: solve with --resumable to be able to resume")
    if replace(resume.spot, solve=spot.solve) != spot:
        raise SolveError("a solve can be resumed only on the spot it began with (but for [solve])")
    if resume.summary.rule != rule:
        raise SolveError(f"a solve by {resume.summary.rule} cannot be resumed by {rule}")
    return 16 if resume.state["regret0"].dtype.itemsize == 2 else 32


def _needed(curve: Sequence[HoldemPoint], goal: float, most: int) -> float:
    """Returns the iterations to the goal if the exploitability goes on to fall as between the last checks; else NaN."""
    if len(curve) < 2 or goal <= 0:
        return math.nan if goal > 0 else float(most)
    earlier, last = curve[max(len(curve) - 4, 0)], curve[-1]
    if not 0 < last.exploitability < earlier.exploitability:
        return float(most)
    slope = math.log(earlier.exploitability / last.exploitability) / math.log(last.iteration / earlier.iteration)
    further = max(math.log(last.exploitability / goal), 0.0) / max(slope, 0.2)
    return float(min(last.iteration * np.exp(min(further, 50.0)), most))


def _next_check(curve: Sequence[HoldemPoint], goal: float) -> int:
    """Returns the iteration at which to look at the exploitability next: near the forecast, within 5 % to 50 % more."""
    if not curve:
        return FIRST_CHECK
    done = curve[-1].iteration
    needed = _needed(curve, goal, done * 2)
    wanted = done * 1.3 if math.isnan(needed) else needed
    return math.ceil(min(max(wanted, done * 1.05 + 1, done + 5), done * 1.5))
