"""Hold'em from the blinds on as its engine takes it: `solve` treats it like any other game."""

from __future__ import annotations

from collections.abc import Sequence

from aleator.errors import SolutionError
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.spot import DEFAULT_RULE
from aleator.solvers.holdem.problem import BoardProblem
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.limits import CurvePoint, Limits
from aleator.solvers.solution import Solution

ITERATIONS = 100


class WholeProblem(BoardProblem):
    """A game from the blinds on, solved by `HoldemSolver`; see `solvers.solve.Problem`."""

    def __init__(self, game: WholeHoldemGame) -> None:
        super().__init__(game.whole, game.name, DEFAULT_RULE, Limits(iterations=ITERATIONS))
        self.whole = game.whole

    def _check_same(self, resume: Solution) -> None:
        if not isinstance(resume, WholeSolution) or resume.whole != self.whole:
            raise SolutionError(f"the solution to resume is of {resume.summary.game}, not of {self.name}")

    def solution(
        self, solver: SpotSolver, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None = None
    ) -> WholeSolution:
        """Returns what a solver has found."""
        return WholeSolution.of_solver(solver, algorithm, curve, keep_state=bool(keep_state))
