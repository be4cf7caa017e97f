"""Solving a game from start to stop: pick the algorithm, iterate, watch the exploitability, return a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import SolutionError, SolveError, TooBigError, did_you_mean
from aleator.games.base import Game
from aleator.games.registry import load_game
from aleator.memory import available_memory
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.egt import EGT, EGT_NAME, EGT_USAGE, parse_egt
from aleator.solvers.fictitious_play import FICTITIOUS_RULES, FictitiousPlay
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.pruned_cfr import PrunedCFR
from aleator.solvers.pruning_rule import PRUNING_USAGE, is_pruning_rule, parse_pruning_rule
from aleator.solvers.regret_rule import NAMED_RULES, parse_rule
from aleator.solvers.sampling_rule import SAMPLING_USAGE, is_sampling_rule, parse_sampling_rule
from aleator.solvers.solution import CurvePoint, Solution, Summary
from aleator.solvers.state import Iterating, Solver
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree

LINEAR_PROGRAM = "lp"
ALGORITHMS = (*NAMED_RULES, *FICTITIOUS_RULES, EGT_NAME, LINEAR_PROGRAM)
_DEFAULT_ITERATIONS = 1000


class Progress(NamedTuple):
    """Where a solve is: iterations done, seconds spent, and the NashConv of the average policy."""

    iteration: int
    seconds: float
    nash_conv: float


OnProgress = Callable[[Progress], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a solve ends: at whichever comes first; after 1,000 iterations if nothing is given.

    Attributes:
        iterations: each updates both players.
        target: an exploitability (NashConv / 2).
        seconds: of solving, without compiling and building the tree.
    """

    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None and self.iterations < 1:
            raise SolveError(f"iterations must be at least 1, not {self.iterations}")
        if self.target is not None and not self.target > 0:
            raise SolveError(f"the target must be a positive exploitability, not {self.target}")
        if self.seconds is not None and not self.seconds > 0:
            raise SolveError(f"seconds must be positive, not {self.seconds}")
        if self.iterations is None and self.target is None and self.seconds is None:
            object.__setattr__(self, "iterations", _DEFAULT_ITERATIONS)


def make_solver(
    tree: PublicTree, algorithm: str = "dcfr", *, dtype: str = "float64", threads: int = 1, seed: int = 0
) -> Solver:
    """Returns a solver by the name of its algorithm; the seed matters to those that sample.

    Raises:
        SolveError: no such algorithm or precision; the message lists them.
    """
    if dtype not in ("float64", "float32"):
        raise SolveError(f"unknown precision {dtype!r}; allowed: float64, float32")
    if threads < 1:
        raise SolveError(f"threads must be at least 1, not {threads}")
    name, _, suffix = algorithm.partition("/")
    if name in FICTITIOUS_RULES:
        if suffix not in ("", "simultaneous", "alternating"):
            raise SolveError(f"{algorithm!r}: after / only 'simultaneous' or 'alternating' is allowed")
        rule = replace(FICTITIOUS_RULES[name], alternating=suffix != "simultaneous")
        return FictitiousPlay(tree, rule, dtype=dtype, threads=threads)
    if is_sampling_rule(name):
        return MCCFR(tree, parse_sampling_rule(algorithm), dtype=dtype, threads=threads, seed=seed)
    if counts_nodes(algorithm):
        if dtype != "float64":
            raise SolveError(f"{name.partition(':')[0]} computes in float64 only, not in {dtype}")
        if is_pruning_rule(name):
            return PrunedCFR(tree, parse_pruning_rule(algorithm))
        return EGT(tree, threshold=parse_egt(algorithm))
    if name.partition(":")[0] not in NAMED_RULES:
        hint = did_you_mean(name, ALGORITHMS)
        raise SolveError(
            f"unknown algorithm {algorithm!r}; {hint}allowed: {', '.join(ALGORITHMS)}, dcfr:ALPHA,BETA,GAMMA, "
            f"{SAMPLING_USAGE}, {PRUNING_USAGE}, {EGT_USAGE}"
        )
    return CFR(tree, parse_rule(algorithm), dtype=dtype, threads=threads)


def counts_nodes(algorithm: str) -> bool:
    """Returns whether the solver of an algorithm counts the nodes it touches; others touch all in every iteration."""
    name = algorithm.partition("/")[0]
    return is_sampling_rule(name) or is_pruning_rule(name) or name.partition(":")[0] == EGT_NAME


def solve(
    game: str | Game[Any] | PublicTree,
    algorithm: str = "dcfr",
    *,
    limits: Limits | None = None,
    dtype: str = "float64",
    threads: int = 1,
    seed: int = 0,
    resume: Solution | None = None,
    on_progress: OnProgress | None = None,
) -> Solution:
    """Returns an approximate equilibrium.

    Args:
        game: a name, a game, or a tree that is already built.
        algorithm: see `ALGORITHMS`; `lp` solves a linear program and is exact.
        limits: when to stop; by default after 1,000 iterations.
        dtype: float64 or float32.
        threads: used if the tree is big enough.
        seed: of algorithms that sample; a resumed solve keeps its own.
        resume: a solution of the same game by the same algorithm to go on from; iterations and seconds count from its start.
        on_progress: called a few times a second; a true answer ends the solve, and what has been found is returned.

    Raises:
        GameError, TooBigError: there is no such game, or it does not fit.
        SolveError: an unknown algorithm or an impossible setting.
        SolutionError: the solution to resume is of another game or algorithm.
    """
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise SolveError(f"limits are Limits, as in Limits(iterations=1000), not {limits!r}")
    if isinstance(game, str):
        game = load_game(game)
    if not isinstance(game, Game | PublicTree):
        raise SolveError(f"a game is a name, a Game or a PublicTree, not {game!r}")
    if resume is not None:
        _check_resume(resume, game.game.name if isinstance(game, PublicTree) else game.name, algorithm, dtype)
        tree = resume.policy.tree
    else:
        tree = game if isinstance(game, PublicTree) else build_tree(game)
    if algorithm == LINEAR_PROGRAM:
        from aleator.solvers.linear_program import solve_linear_program  # loads SciPy's optimisers

        started = perf_counter()
        _, policy = solve_linear_program(tree)
        return _finish(tree, algorithm, "float64", 0, perf_counter() - started, policy, (), {})
    prepare(algorithm, dtype)
    _check_memory(tree, dtype)
    solver = make_solver(tree, algorithm, dtype=dtype, threads=threads, seed=seed)
    curve: list[CurvePoint] = []
    before = 0.0
    if resume is not None:
        try:
            solver.restore(resume.summary.iterations, resume.state)
        except ValueError as error:
            raise SolutionError(f"the solution cannot be resumed: {error}") from error
        curve, before = list(resume.summary.curve), resume.summary.seconds
    seconds = before + run_until(solver, limits, curve, before, on_progress)
    return _finish(
        tree, algorithm, dtype, solver.iteration, seconds, solver.average_policy(), tuple(curve), solver.state(),
        _touched(solver),
    )  # fmt: skip


def _check_resume(resume: Solution, game: str, algorithm: str, dtype: str) -> None:
    """Raises SolutionError if a solution is of another game or was made in another way."""
    made = resume.summary
    if made.game != game:
        raise SolutionError(f"the solution to resume is of {made.game}, not of {game}")
    if (made.algorithm, made.dtype) != (algorithm, dtype):
        raise SolutionError(
            f"the solution to resume was made by {made.algorithm} in {made.dtype}, not by {algorithm} in {dtype}"
        )


def _check_memory(tree: PublicTree, dtype: str) -> None:
    """Raises TooBigError if a solve does not fit the memory."""
    estimate, free = memory_estimate(tree, dtype), available_memory()
    if estimate > free:
        raise TooBigError(
            f"solving {tree.game.name} would take about {estimate / 2**30:.1f} GiB; "
            f"{free / 2**30:.1f} GiB are free (float32 halves the need)"
        )


def _touched(solver: Iterating) -> int | None:
    """Returns the nodes that a solver has touched, if it counts them."""
    touched: int | None = getattr(solver, "nodes_touched", None)
    return touched


def run_until(
    solver: Iterating, limits: Limits, curve: list[CurvePoint], before: float, on_progress: OnProgress | None
) -> float:
    """Iterates until a limit is reached or `on_progress` says stop; returns the seconds spent.

    The exploitability is looked at about every 10 % more iterations, so that it costs little and curves have
    equally many points per decade. In between, control returns every quarter of a second.
    """
    started = perf_counter()
    stop = False
    while not stop:
        goal = solver.iteration + max(1, solver.iteration // 10)
        if limits.iterations is not None:
            goal = max(solver.iteration, min(goal, limits.iterations))
        while solver.iteration < goal and not stop:
            chunk_started, chunk = perf_counter(), 1
            if solver.iteration:
                rate = max(solver.iteration, 1) / max(chunk_started - started + before, 1e-6)
                chunk = max(1, min(goal - solver.iteration, int(rate / 4)))
            solver.run(chunk)
            spent = perf_counter() - started
            stop = limits.seconds is not None and before + spent >= limits.seconds
            if on_progress and curve:
                stop |= bool(on_progress(Progress(solver.iteration, before + spent, curve[-1].nash_conv)))
        quality = solver.nash_conv()
        spent = perf_counter() - started
        curve.append(CurvePoint(solver.iteration, before + spent, quality, _touched(solver)))
        stop |= limits.iterations is not None and solver.iteration >= limits.iterations
        stop |= limits.target is not None and quality / 2 <= limits.target
        if on_progress:
            stop |= bool(on_progress(Progress(solver.iteration, before + spent, quality)))
    return spent


@cache
def prepare(algorithm: str = "dcfr", dtype: str = "float64") -> None:
    """Compiles what a solve by `algorithm` needs, on the smallest game; after the first run it comes from disk."""
    if algorithm != LINEAR_PROGRAM:
        solver = make_solver(build_tree(load_game("kuhn")), algorithm, dtype=dtype)
        solver.run(1)
        solver.nash_conv()
    expected_value(uniform_policy(build_tree(load_game("kuhn"))))


def _finish(
    tree: PublicTree,
    algorithm: str,
    dtype: str,
    iterations: int,
    seconds: float,
    policy: Policy,
    curve: tuple[CurvePoint, ...],
    state: dict[str, Any],
    touched: int | None = None,
) -> Solution:
    quality = nash_conv(policy)
    summary = Summary(
        game=tree.game.name,
        algorithm=algorithm,
        dtype=dtype,
        iterations=iterations,
        seconds=seconds,
        nash_conv=quality,
        exploitability=quality / 2,
        value=expected_value(policy),
        nodes=tree.num_nodes,
        infostates=tree.num_infostates,
        curve=curve,
        nodes_touched=touched,
    )
    return Solution(summary, policy, state)


def memory_estimate(tree: PublicTree, dtype: str) -> int:
    """Returns about how many bytes a solve will take: four vectors per player and one row of values per node."""
    padding = 1.35  # rows are padded to the SIMD width
    numbers = 6 * sum(tree.policy_size) + 2 * int(tree.num_hands.sum())
    return int(padding * numbers * np.dtype(dtype).itemsize) + 200 * tree.num_nodes
