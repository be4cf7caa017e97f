"""Solving a game from start to stop: pick the algorithm, iterate, watch the exploitability, return a solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from aleator.caching import cache
from aleator.errors import SolutionError, SolveError, TooBigError, shown
from aleator.games.base import Game
from aleator.games.contract import check_own_game
from aleator.games.holdem.spot import Spot
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.registry import is_multiplayer, load_multiplayer_game
from aleator.games.registry import load_game
from aleator.memory import available_memory
from aleator.solvers.algorithms import DEFAULT_ALGORITHM, find_algorithm
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.limits import SECONDS_BETWEEN_CHECKPOINTS, CurvePoint, Limits, OnProgress, Progress, run_until
from aleator.solvers.solution import Arrays, Solution, TreeSolution
from aleator.solvers.state import Solver, TreeSolver
from aleator.solvers.summary import Summary
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree

if TYPE_CHECKING:
    from aleator.solvers.holdem.problem import SpotProblem
    from aleator.solvers.holdem.solution import HoldemSolution


def make_solver(
    tree: PublicTree, algorithm: str = DEFAULT_ALGORITHM, *, dtype: str = "float64", threads: int = 1, seed: int = 0
) -> TreeSolver:
    """Returns a solver by the name of its algorithm; the seed matters to those that sample.

    Raises:
        SolveError: no such algorithm, setting or precision; the message says what is allowed.
    """
    return find_algorithm(algorithm).make_solver(tree, dtype=dtype, threads=threads, seed=seed)


class Problem(Protocol):
    """A game as an engine takes it, and how it is solved there unless told otherwise.

    Attributes:
        name: of the game.
        algorithm, dtype, limits: what is taken by default.
    """

    name: str
    algorithm: str
    dtype: str
    limits: Limits

    def prepare(self, algorithm: str, dtype: str) -> None:
        """Compiles what a solve needs; after the first run it comes from disk."""

    def check_fits(self, algorithm: str, dtype: str) -> None:
        """Raises TooBigError if a solve does not fit the memory."""

    def check_resume(self, resume: Solution, algorithm: str, dtype: str) -> None:
        """Raises SolutionError if a solution is of another game or was made in another way."""

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> Solver:
        """Returns a solver at its beginning."""

    def solution(
        self, solver: Any, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None
    ) -> Solution:
        """Returns what a solver of this problem has found."""


OnCheckpoint = Callable[[Solution], None]
Solvable = str | Game[Any] | PublicTree | Spot | MultiplayerGame[Any] | Problem


def find_problem(game: Solvable, algorithm: str | None = None) -> Problem:
    """Returns a game as the engine takes it that suits the game and the algorithm: hold'em has its own for CFR.

    Raises:
        GameError, TooBigError: there is no such game, its rules contradict themselves, or it does not fit.
        SolveError: this is not a game.
    """
    from aleator.games.holdem.game import HoldemGame, WholeHoldemGame
    from aleator.solvers.holdem.problem import SpotProblem, is_whole_spot, runs_on_boards
    from aleator.solvers.holdem.whole_problem import WholeProblem
    from aleator.solvers.multiplayer.problem import MultiplayerProblem

    if isinstance(game, str):
        game = load_multiplayer_game(game) if is_multiplayer(game) else load_game(game)
    if isinstance(game, MultiplayerGame):
        return MultiplayerProblem(game)
    if isinstance(game, Spot):
        return SpotProblem(HoldemGame(game))
    if isinstance(game, HoldemGame) and runs_on_boards(algorithm):
        return SpotProblem(game)
    if isinstance(game, WholeHoldemGame) and runs_on_boards(algorithm):
        return WholeProblem(game)
    if isinstance(game, PublicTree):
        rules = game.game
        check_own_game(rules)
        if isinstance(rules, HoldemGame) and runs_on_boards(algorithm) and is_whole_spot(game):
            return SpotProblem(rules, game)
        return TreeProblem(game)
    if isinstance(game, Game):
        check_own_game(game)
        return TreeProblem(build_tree(game))
    if not hasattr(game, "make_solver"):
        raise SolveError(f"a game is a name, a Game, a Spot or a PublicTree, not {game!r}")
    return game


@overload
def solve(
    game: Spot | SpotProblem, algorithm: str | None = ..., *, iterations: int | None = ...,
    exploitability: float | None = ..., seconds: float | None = ..., limits: Limits | None = ...,
    dtype: str | None = ..., threads: int = ..., seed: int = ..., resume: Solution | None = ...,
    keep_state: bool | None = ..., on_progress: OnProgress | None = ...,
    on_checkpoint: OnCheckpoint | None = ..., checkpoint_seconds: float = ...,
) -> HoldemSolution: ...  # fmt: skip
@overload
def solve(
    game: Solvable, algorithm: str | None = ..., *, iterations: int | None = ..., exploitability: float | None = ...,
    seconds: float | None = ..., limits: Limits | None = ..., dtype: str | None = ..., threads: int = ...,
    seed: int = ..., resume: Solution | None = ..., keep_state: bool | None = ..., on_progress: OnProgress | None = ...,
    on_checkpoint: OnCheckpoint | None = ..., checkpoint_seconds: float = ...,
) -> Solution: ...  # fmt: skip


def solve(
    game: Solvable,
    algorithm: str | None = None,
    *,
    iterations: int | None = None,
    exploitability: float | None = None,
    seconds: float | None = None,
    limits: Limits | None = None,
    dtype: str | None = None,
    threads: int = 1,
    seed: int = 0,
    resume: Solution | None = None,
    keep_state: bool | None = None,
    on_progress: OnProgress | None = None,
    on_checkpoint: OnCheckpoint | None = None,
    checkpoint_seconds: float = SECONDS_BETWEEN_CHECKPOINTS,
) -> Solution:
    """Returns an approximate equilibrium.

    Args:
        game: a name, a game, a hold'em spot, or a tree that is already built.
        algorithm: a name, as `aleator algorithms` lists them; `lp` solves a linear program and is exact. By default
            DCFR, in hold'em as the spot says.
        iterations, exploitability, seconds: when to stop, at whichever comes first, as in `Limits`; by default after
            1,000 iterations, in hold'em as the spot says.
        limits: the same as one value, in place of these three.
        dtype: float64 or float32, in hold'em float32 or float16; by default the first.
        threads: used if the game is big enough.
        seed: of algorithms that sample; a resumed solve keeps its own.
        resume: a solution of the same game by the same algorithm to go on from; iterations and seconds count from its
            start.
        keep_state: whether the solution can be resumed; by default that of a spot cannot, since that doubles it.
        on_progress: called a few times a second; a true answer ends the solve, and what has been found is returned.
        on_checkpoint: given what has been found so far, with the state, every few minutes, to save it: a solve that is
            killed goes on from there. If it is given, a solve that `on_progress` ends keeps its state, too.
        checkpoint_seconds: between two checkpoints; more if saving takes long.

    Raises:
        GameError, TooBigError: there is no such game, its rules contradict themselves, or it does not fit.
        SolveError: an unknown algorithm or an impossible setting.
        SolutionError: the solution to resume is of another game or algorithm.
    """
    if not isinstance(limits, Limits | None):
        raise SolveError(f"limits are Limits, as in Limits(iterations=1000), not {limits!r}")
    if not isinstance(resume, Solution | None):
        raise SolveError(f"what is resumed is a Solution, as open_solution reads it, not {shown(resume)}")
    if (iterations, exploitability, seconds) != (None, None, None):
        if limits is not None:
            raise SolveError(f"say when to stop once: by {limits!r}, or by iterations, exploitability and seconds")
        limits = Limits(iterations=iterations, exploitability=exploitability, seconds=seconds)
    if not checkpoint_seconds >= 0.0:
        raise SolveError(f"seconds between checkpoints must be at least 0, not {checkpoint_seconds}")
    problem = find_problem(game, algorithm)
    algorithm, limits = algorithm or problem.algorithm, limits or problem.limits
    dtype = dtype or (problem.dtype if resume is None else resume.summary.dtype)
    if resume is not None:
        problem.check_resume(resume, algorithm, dtype)
    if find_algorithm(algorithm).exact and isinstance(problem, TreeProblem):
        return _solve_exactly(problem, algorithm)
    problem.prepare(algorithm, dtype)
    problem.check_fits(algorithm, dtype)
    solver = problem.make_solver(algorithm, dtype=dtype, threads=threads, seed=seed)
    if resume is not None:
        try:
            solver.restore(resume.summary.iterations, resume.state)
        except ValueError as error:
            raise SolutionError(f"the solution cannot be resumed: {error}") from error
    earlier = resume.summary.curve if resume is not None else ()
    ended = False

    def on_pause(curve: Sequence[CurvePoint]) -> None:
        assert on_checkpoint is not None
        on_checkpoint(problem.solution(solver, algorithm, curve, keep_state=True))

    def watch(now: Progress) -> bool:
        nonlocal ended
        ended = on_progress is not None and bool(on_progress(now))
        return ended

    curve = run_until(
        solver, limits, on_progress=watch if on_progress else None, earlier=earlier,
        on_pause=on_pause if on_checkpoint else None, pause_seconds=checkpoint_seconds,
    )  # fmt: skip
    return problem.solution(solver, algorithm, curve, keep_state=True if ended and on_checkpoint else keep_state)


class TreeProblem:
    """A public tree, solved by the engines of `solvers.engines` that walk such trees."""

    algorithm, dtype, limits = DEFAULT_ALGORITHM, "float64", Limits()

    def __init__(self, tree: PublicTree) -> None:
        self.tree, self.name = tree, tree.game.name

    def prepare(self, algorithm: str, dtype: str) -> None:
        """Compiles what a solve needs; after the first run it comes from disk."""
        prepare(algorithm, dtype)

    def check_fits(self, algorithm: str, dtype: str) -> None:
        """Raises TooBigError if a solve does not fit the memory."""
        estimate, free = memory_estimate(self.tree, dtype), available_memory()
        if estimate > free:
            raise TooBigError(
                f"solving {self.name} would take about {estimate / 2**30:.1f} GiB; "
                f"{free / 2**30:.1f} GiB are free (float32 halves the need)"
            )

    def check_resume(self, resume: Solution, algorithm: str, dtype: str) -> None:
        """Raises SolutionError if a solution is of another game or was made in another way."""
        made = resume.summary
        if not isinstance(resume, TreeSolution) or not resume.belongs_to(self.tree):
            which = "another game of that name" if made.game == self.name else self.name
            raise SolutionError(f"the solution to resume is of {made.game}, not of {which}: the rules differ")
        if (made.algorithm, made.dtype) != (algorithm, dtype):
            raise SolutionError(
                f"the solution to resume was made by {made.algorithm} in {made.dtype}, not by {algorithm} in {dtype}"
            )

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> TreeSolver:
        """Returns a solver at its beginning."""
        return find_algorithm(algorithm).make_solver(self.tree, dtype=dtype, threads=threads, seed=seed)

    def solution(
        self, solver: TreeSolver, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None = None
    ) -> TreeSolution:
        """Returns what a solver has found."""
        return _tree_solution(
            solver.average_policy(), algorithm, solver.dtype.name, curve, {} if keep_state is False else solver.state()
        )


def _solve_exactly(problem: TreeProblem, algorithm: str) -> TreeSolution:
    """Returns the solution of a linear program."""
    from aleator.solvers.linear_program import solve_linear_program  # loads SciPy's optimisers

    started = perf_counter()
    _, policy = solve_linear_program(problem.tree)
    return _tree_solution(policy, algorithm, "float64", (), {}, perf_counter() - started)


def _tree_solution(
    policy: Policy, algorithm: str, dtype: str, curve: Sequence[CurvePoint], state: Arrays, seconds: float = 0.0
) -> TreeSolution:
    """Returns a solution; its quality is computed anew, in full precision."""
    tree, value, last = policy.tree, expected_value(policy), curve[-1] if curve else CurvePoint(0, seconds, 0.0)
    summary = Summary(
        game=tree.game.name,
        algorithm=algorithm,
        dtype=dtype,
        iterations=last.iteration,
        seconds=last.seconds,
        values=(value, -value),
        exploitability=nash_conv(policy) / 2,
        nodes=tree.num_nodes,
        infostates=tree.num_infostates,
        curve=tuple(curve),
        nodes_touched=last.nodes_touched,
    )
    return TreeSolution.of_policy(summary, policy, state)


@cache
def prepare(algorithm: str = DEFAULT_ALGORITHM, dtype: str = "float64") -> None:
    """Compiles what a solve by `algorithm` needs, on the smallest game; after the first run it comes from disk."""
    if not find_algorithm(algorithm).exact:
        solver = make_solver(build_tree(load_game("kuhn")), algorithm, dtype=dtype)
        solver.run(1)
        solver.nash_conv()
    expected_value(uniform_policy(build_tree(load_game("kuhn"))))


def memory_estimate(tree: PublicTree, dtype: str) -> int:
    """Returns about how many bytes a solve will take: four vectors per player and one row of values per node."""
    padding = 1.35  # rows are padded to the SIMD width
    numbers = 6 * sum(tree.policy_size) + 2 * int(tree.num_hands.sum())
    return int(padding * numbers * np.dtype(dtype).itemsize) + 200 * tree.num_nodes
