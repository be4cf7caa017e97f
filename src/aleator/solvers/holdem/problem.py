"""A hold'em spot as its engine takes it: `solve` treats it like any other game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from aleator.caching import cache
from aleator.errors import SolutionError, SolveError
from aleator.games.holdem.board_game import BoardGame
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.algorithms import find_algorithm, parse_rule
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.estimate import HoldemEstimate, estimate_plan
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver, SpotSolver
from aleator.solvers.holdem.tree import is_spot
from aleator.solvers.limits import CurvePoint, Limits
from aleator.solvers.solution import Solution
from aleator.trees.public_tree import PublicTree

BITS = {"float32": 32, "float16": 16}

_SMALLEST = """
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


def runs_on_boards(algorithm: str | None) -> bool:
    """Returns whether the engine of hold'em has an algorithm; None is its own."""
    return algorithm is None or find_algorithm(algorithm).runs_on_boards


def spot_limits(spot: Spot) -> Limits:
    """Returns when a solve ends as the spot says."""
    return Limits(iterations=spot.solve.max_iterations, exploitability=pot_fraction(spot, spot.solve.target))


def pot_fraction(spot: Spot, target: float) -> float | None:
    """Returns an exploitability in chips, given as a fraction of the pot; None for 0, which never ends a solve.

    Raises:
        SolveError: it is negative, NaN or infinite.
    """
    if not 0 <= target < float("inf"):
        raise SolveError(f"the target must be a fraction of the pot from 0 up, not {target}")
    return target * spot.pot or None


@cache
def prepare_spots(algorithm: str = "dcfr", dtype: str = "float32", *, raked: bool = False) -> None:
    """Compiles what a solve needs, on the smallest spot; after the first run it comes from disk."""
    spot = parse_spot(_SMALLEST.format(rate=0.01 if raked else 0.0))
    solver = HoldemSolver(spot, parse_rule(algorithm), bits=_bits(dtype))
    solver.run(1)
    solver.quality()


def _bits(dtype: str) -> int:
    if dtype not in BITS:
        raise SolveError(f"hold'em is computed in float32, or in float16 for half the memory, not in {dtype}")
    return BITS[dtype]


class BoardProblem(ABC):
    """A game of boards, solved by `HoldemSolver`; see `solvers.solve.Problem`."""

    dtype = "float32"

    def __init__(self, board_game: BoardGame, name: str, algorithm: str, limits: Limits) -> None:
        self.board_game, self.name, self.algorithm, self.limits = board_game, name, algorithm, limits

    @cached_property
    def plan(self) -> BoardPlan:
        """The game laid out, without memory for a solve."""
        return BoardPlan(self.board_game)

    def estimate(
        self, algorithm: str | None = None, limits: Limits | None = None, *, dtype: str = "float32", threads: int = 1,
        measure: bool = True,
    ) -> HoldemEstimate:  # fmt: skip
        """Returns what a solve will take; its speed is measured for about a second, unless `measure` is false."""
        algorithm, limits = algorithm or self.algorithm, limits or self.limits
        if measure:
            self.prepare(algorithm, dtype)
        return estimate_plan(
            self.plan, parse_rule(algorithm), limits, threads=threads, bits=_bits(dtype), measure=measure
        )

    def prepare(self, algorithm: str, dtype: str) -> None:
        """Compiles what a solve needs; after the first run it comes from disk."""
        prepare_spots(algorithm, dtype, raked=self.board_game.rake.rate > 0)

    def check_fits(self, algorithm: str, dtype: str) -> None:
        """Raises TooBigError, with advice, if a solve does not fit the memory."""
        self.estimate(algorithm, dtype=dtype, measure=False).check()

    def check_resume(self, resume: Solution, algorithm: str, dtype: str) -> None:
        """Raises SolutionError if a solution is of another game, was made in another way, or has no state."""
        self._check_same(resume)
        if not resume.state:
            raise SolutionError(
                "this solution was saved without its state: solve with --resumable to be able to resume"
            )
        made = resume.summary
        if (made.algorithm, made.dtype) != (algorithm, dtype):
            raise SolutionError(
                f"the solution to resume was made by {made.algorithm} in {made.dtype}, not by {algorithm} in {dtype}"
            )

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> SpotSolver:
        """Returns a solver at its beginning; nothing is sampled, so the seed does not matter."""
        return HoldemSolver(self.plan, parse_rule(algorithm), threads=threads, bits=_bits(dtype))

    @abstractmethod
    def _check_same(self, resume: Solution) -> None:
        """Raises SolutionError if a solution is of another game."""

    @abstractmethod
    def solution(
        self, solver: SpotSolver, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None = None
    ) -> Solution:
        """Returns what a solver has found."""


class SpotProblem(BoardProblem):
    """A spot, solved by `HoldemSolver`."""

    def __init__(self, game: HoldemGame, tree: PublicTree | None = None) -> None:
        """Returns the problem of a spot; its public tree, if there is one already, is that of the solution's policy."""
        super().__init__(game.spot, game.name, game.spot.solve.rule, spot_limits(game.spot))
        self.spot, self._tree = game.spot, tree

    def _check_same(self, resume: Solution) -> None:
        if not isinstance(resume, HoldemSolution):
            raise SolutionError(f"the solution to resume is of {resume.summary.game}, not of {self.name}")
        if replace(resume.spot, solve=self.spot.solve) != self.spot:
            raise SolutionError("a solve can be resumed only on the spot it began with (but for [solve])")

    def solution(
        self, solver: SpotSolver, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None = None
    ) -> HoldemSolution:
        """Returns what a solver has found."""
        return HoldemSolution.of_solver(
            solver, algorithm, curve, name=self.name, keep_state=bool(keep_state), tree=self._tree
        )


def is_whole_spot(tree: PublicTree) -> bool:
    """Returns whether a tree is that of a hold'em spot from its beginning to the ends of the game."""
    return is_spot(tree) and bool(tree.states[0] == tree.game.root())
