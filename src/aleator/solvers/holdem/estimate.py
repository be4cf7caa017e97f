"""What solving a hold'em spot will take, known before memory is taken."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from time import perf_counter

from aleator.errors import TooBigError
from aleator.memory import available_memory
from aleator.solvers.engines.boards.engine import BoardEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.limits import Limits
from aleator.solvers.regret_rule import SHARP_MATCHING, RegretRule

# measured by the experiment holdem-rules: to 0.3 % of the pot it takes about 27 (stack / pot)^0.75 iterations, and from
# there on exploitability falls about like iterations ** -1.5
TYPICAL_ITERATIONS, TYPICAL_DEPTH, TYPICAL_TARGET, TYPICAL_EXPONENT = 27, 0.75, 0.003, 1.5
CALIBRATION_NUMBERS = 8_000_000  # 64 MB: beyond the cache
CHECK_SHARE = 1.06  # looking at the exploitability costs about 6 % on top
_TABLE_BYTES = 26  # per hand and board: cards, order, groups, maps; measured


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
                f"solving this would take about {self.memory / 2**30:.1f} GiB; {free / 2**30:.1f} GiB are free: "
                "use 16 bits, fewer bet sizes, a cap on raises (max_raises), a larger force_all_in_threshold or "
                "smaller ranges"
            )


def estimate_plan(
    plan: BoardPlan, rule: RegretRule, limits: Limits, *, threads: int = 1, bits: int = 32, measure: bool = True
) -> HoldemEstimate:
    """Returns what solving a spot will take. Speed is measured for about a second on as many boards as 64 MB hold.

    The number of iterations is a rule of thumb for the default rule; see `expected_iterations`. Kernels must be
    compiled.
    """
    numbers = _count_numbers(plan)
    rows = sum(len(boards) * sum(widths) for boards, widths in zip(plan.boards, plan.widths, strict=True))
    memory = numbers * (2 * bits // 8 + 4 * rule.optimistic) + rows * _TABLE_BYTES
    iterations = max(expected_iterations(plan, limits.exploitability or 0.0), HoldemSolver.first_check)
    iterations = min(iterations, limits.iterations or math.inf)
    speed = _measure(plan, rule, threads, bits) if measure else math.nan
    return HoldemEstimate(
        nodes=tuple(plan.num_nodes()),
        boards=tuple(len(boards) for boards in plan.boards),
        hands=(len(plan.hands[0]), len(plan.hands[1])),
        numbers=numbers,
        memory=memory,
        seconds_per_iteration=speed,
        iterations=round(iterations),
        seconds=min(speed * iterations * CHECK_SHARE, limits.seconds or math.inf),
    )


def expected_iterations(plan: BoardPlan, exploitability: float) -> float:
    """Returns about how many iterations of the default rule lead to an exploitability, by the depth of the stacks."""
    pot = plan.spot.pot + sum(plan.betting.chips)
    behind = min(plan.spot.stack, int(plan.betting.tree.chips.max()))  # limit has stacks that never get in
    depth = math.pow(max(behind, 1) / pot, TYPICAL_DEPTH)
    target = max(exploitability / pot, 1e-9)
    return TYPICAL_ITERATIONS * depth * math.pow(TYPICAL_TARGET / target, 1 / TYPICAL_EXPONENT)


def _count_numbers(plan: BoardPlan) -> int:
    return sum(plan.storage_size(player, level) for player in (0, 1) for level in range(plan.num_streets))


def _measure(plan: BoardPlan, rule: RegretRule, threads: int, bits: int) -> float:
    """Returns the seconds of an iteration, scaled up from one on a part of the boards."""
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
